import { HoldfastError } from "../base/errors.ts";
import type { FileEntry, GlobOptions, GrepMatch, GrepOptions, ListOptions } from "../contracts/filesystem.ts";
import { globOf } from "./glob.ts";
import type { FileLayer, Located } from "./layer.ts";

/** Paths below a folder that match, depth first and in the order of names. Links are told and not walked into. */
export async function* walk(
  layer: FileLayer,
  { names: start, node }: Located,
  pattern: string,
  { exclude = [], passedOver = () => {} }: GlobOptions,
): AsyncIterable<string> {
  if (node?.kind !== "folder") return;
  const wanted = globOf(pattern);
  const unwanted = exclude.map(globOf);
  const folders: (readonly string[])[] = [[]];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const below: (readonly string[])[] = [];
    const names = [...start, ...folder];
    const listed = listing(layer, names, passedOver);
    const entries = folder.length === 0 ? await listed : await unlessClosed(listed, names, passedOver);
    for (const { name, kind } of entries ?? []) {
      const place = [...folder, name];
      if (unwanted.some((glob) => glob.matches(place) || glob.matches([name]))) continue;
      if (kind === "folder" && wanted.reaches(place)) below.push(place);
      if (kind !== "folder" && wanted.matches(place)) yield [...start, ...place].join("/");
    }
    for (const place of below.reverse()) folders.push(place);
  }
}

/** What a folder holds; of names that are no text it is told that they are there. */
export function listing(
  layer: FileLayer,
  names: readonly string[],
  passedOver: ListOptions["passedOver"],
): Promise<readonly FileEntry[]> {
  if (passedOver === undefined) return layer.list(names);
  const path = names.join("/");
  return layer.list(names, (count) =>
    passedOver(path, new HoldfastError("FILE_NAME_NOT_TEXT", { path, names: count })),
  );
}

export async function* grepIn(
  layer: FileLayer,
  start: Located,
  find: string | RegExp,
  { glob = "**", limit = Number.POSITIVE_INFINITY, ...options }: GrepOptions,
): AsyncIterable<GrepMatch> {
  const fits = typeof find === "string" ? (line: string) => line.includes(find) : tester(find);
  let left = limit;
  for await (const path of walk(layer, start, glob, options)) {
    const { names, node } = await layer.at(path.split("/"), false);
    if (node?.kind !== "file") continue;
    const bytes = await unlessClosed(layer.read(names), names, options.passedOver);
    const lines = bytes === undefined ? [] : (linesOf(bytes) ?? []);
    for (const [index, text] of lines.entries()) {
      if (left <= 0) return;
      if (!fits(text)) continue;
      left -= 1;
      yield { path, line: index + 1, text };
    }
  }
}

const CLOSED = ["FILE_NOT_READABLE", "FILE_TOO_LARGE"] as const;

/** What a search finds at a place that may not be looked into: nothing, and one such place does not end it. */
async function unlessClosed<T>(
  look: Promise<T>,
  names: readonly string[],
  passedOver: GlobOptions["passedOver"] = () => {},
): Promise<T | undefined> {
  try {
    return await look;
  } catch (error) {
    if (!HoldfastError.is(error) || !CLOSED.some((code) => code === error.code)) throw error;
    passedOver(names.join("/"), error);
    return undefined;
  }
}

/** Without the flags that make a pattern remember where it was: every line is asked for itself. */
function tester(find: RegExp): (line: string) => boolean {
  const pattern = new RegExp(find.source, find.flags.replaceAll(/[gy]/g, ""));
  return (line) => pattern.test(line);
}

function linesOf(bytes: Uint8Array): readonly string[] | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).split(/\r?\n/);
  } catch {
    return undefined; // not text: passed over, as the contract says
  }
}
