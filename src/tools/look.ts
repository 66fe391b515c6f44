import { shownName } from "../base/shown-name.ts";
import { type Call, type Failure, type GlobOptions, HoldfastError } from "../index.ts";

/** What every file tool says when a path leads nowhere or to the wrong thing: what is there instead. */

/** Folders that are large, made by machines, and hardly ever meant. Named in a path or a pattern they are looked into. */
const PASSED_OVER: readonly string[] = [".git", "node_modules"];

export function passedOver(...named: readonly (string | undefined)[]): readonly string[] {
  const words = named.flatMap((one) => (one ?? "").split("/"));
  return PASSED_OVER.filter((folder) => !words.includes(folder));
}

/** Paths as models write them: `./src`, `/src` and `src/` mean `src`; `.` is the workspace. A blank is a part of a name. */
export function plainPath(path: string): string {
  return path
    .replace(/^(\.?\/)+/, "")
    .replace(/\/+$/, "")
    .replace(/^\.$/, "");
}

/** Paths that match, or else those that are called so: `[id]` is a set of letters, and the name of many a folder. */
export async function globbed({ files }: Call, pattern: string, options: GlobOptions): Promise<readonly string[]> {
  const found = await files.glob(pattern, options);
  if (found.length > 0 || !pattern.includes("[")) return found;
  const { passedOver: _told, ...quietly } = options;
  return files.glob(pattern.replaceAll(/[[\]]/g, "\\$&"), quietly);
}

/**
 * What is wrong with the place of a new file. A model that has seen a path of the whole disk, say in what a command put out,
 * names it so: taken for one of the workspace, the file would be made where nobody looks for it.
 */
export async function misplaced({ files }: Call, given: string): Promise<string | undefined> {
  const path = plainPath(given);
  const [folder = "", ...below] = path.split("/");
  if (!given.startsWith("/") || below.length === 0 || (await files.exists(folder))) return undefined;
  return `Paths are relative to the workspace, and there is no ${shownName(folder)} in it. If you mean a new folder, say ${shownName(path)}.`;
}

const WHY: Readonly<Record<string, (why: HoldfastError) => string>> = {
  FILE_TOO_LARGE: () => "too large",
  FILE_NAME_NOT_TEXT: ({ details: { names } }) =>
    names === 1 ? "a name that is not UTF-8" : `${Number(names)} names that are not UTF-8`,
};

/** What a list or a search passed over because it may not or cannot be read, or named, or is too large to be: said at its end. */
export class Unreadable {
  readonly #places: string[] = [];

  readonly add = (path: string, why: HoldfastError): void => {
    this.#places.push(`${path === "" ? "the workspace" : shownName(path)} (${WHY[why.code]?.(why) ?? "not readable"})`);
  };

  /** What may be text to people, in an encoding that is not looked into. */
  readonly addForeign = (path: string): void => {
    this.#places.push(`${shownName(path)} (not UTF-8 text)`);
  };

  /** Nothing, or one line more. */
  get words(): readonly string[] {
    return this.#places.length === 0 ? [] : [`[skipped: ${shown(this.#places)}]`];
  }
}

/** A refusal of the files, in words for the model, with what is there instead. */
export async function fileFailure(call: Call, path: string, error: unknown, besides = ""): Promise<Failure> {
  if (!HoldfastError.is(error)) throw error;
  if (error.code === "FILE_NOT_FOUND")
    return call.fail(error.code, `There is no ${shownName(path)}.${besides}${await nearby(call, path)}`);
  if (error.code === "FILE_IS_FOLDER")
    return call.fail(
      error.code,
      `${path === "" ? "The workspace" : shownName(path)} is a folder. list_files shows what is in it.`,
    );
  return call.fail(error.code, `${error.message} ${error.tryThis}`);
}

const MOST_NEAR = 5;

/** Files of the same name elsewhere, else what its folder holds: mostly one of them was meant. Where nobody may look, none. */
async function nearby(call: Call, path: string): Promise<string> {
  const name = path.split("/").at(-1) ?? "";
  const same = /[[\]{}*?\\]/.test(name)
    ? []
    : await call.files.glob(`**/${name}`, { exclude: passedOver(path) }).catch(() => []);
  if (same.length > 0) return ` There is: ${shown(same.map(shownName))}.`;
  const folder = path.split("/").slice(0, -1).join("/");
  const there = await call.files.list(folder).catch(() => []);
  const names = there.map(({ name: one, kind }) => (kind === "folder" ? `${one}/` : one));
  const like = names.filter((one) => isLike(one, name));
  const told = like.length > 0 ? like : names;
  return told.length === 0
    ? ""
    : ` ${folder === "" ? "The workspace" : shownName(folder)} has: ${shown(told.map(shownName))}.`;
}

function shown(names: readonly string[]): string {
  const more = names.length - MOST_NEAR;
  return `${names.slice(0, MOST_NEAR).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Equal but for case, ending or a few letters. */
function isLike(one: string, name: string): boolean {
  const [a, b] = [stem(one), stem(name)];
  return a !== "" && b !== "" && (a.startsWith(b) || b.startsWith(a));
}

/** Letters of any script, however their accents are written. */
function stem(name: string): string {
  return name
    .normalize("NFC")
    .toLowerCase()
    .replace(/\.[^.]*$/, "")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .slice(0, 6);
}
