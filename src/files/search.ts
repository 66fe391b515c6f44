import type { GlobOptions, GrepMatch, GrepOptions } from "../contracts/filesystem.ts";
import { globOf } from "./glob.ts";
import type { FileLayer, Located } from "./layer.ts";

/** Paths below a folder that match, depth first and in the order of names. Links are told and not walked into. */
export async function* walk(
  layer: FileLayer,
  { names: start, node }: Located,
  pattern: string,
  { exclude = [] }: GlobOptions,
): AsyncIterable<string> {
  if (node?.kind !== "folder") return;
  const wanted = globOf(pattern);
  const unwanted = exclude.map(globOf);
  const folders: (readonly string[])[] = [[]];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const below: (readonly string[])[] = [];
    for (const { name, kind } of await layer.list([...start, ...folder])) {
      const place = [...folder, name];
      if (unwanted.some((glob) => glob.matches(place) || glob.matches([name]))) continue;
      if (kind === "folder" && wanted.reaches(place)) below.push(place);
      if (kind !== "folder" && wanted.matches(place)) yield [...start, ...place].join("/");
    }
    for (const place of below.reverse()) folders.push(place);
  }
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
    const lines = linesOf(await layer.read(names));
    for (const [index, text] of (lines ?? []).entries()) {
      if (left <= 0) return;
      if (!fits(text)) continue;
      left -= 1;
      yield { path, line: index + 1, text };
    }
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
