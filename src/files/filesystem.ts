import { HoldfastError } from "../base/errors.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { FileEntry, FileStat, Filesystem, ListOptions } from "../contracts/filesystem.ts";
import { edited } from "./edit.ts";
import type { FileLayer, LayerNode, Located } from "./layer.ts";
import { namesOfTarget } from "./links.ts";
import { isPath, namesIn } from "./path.ts";
import { grepIn, listing, walk } from "./search.ts";

const ANY_MODE = 0o777;

/** Files over a layer: what every place has in common, refusals above all. */
export function filesystemOver(layer: FileLayer): Filesystem {
  const see = (path: string, follow = true) => layer.at(namesIn(path), follow);
  const file = async (path: string): Promise<Located> => {
    const found = await see(path);
    mustBeFile(found.node, path);
    return found;
  };
  /** Where a write goes. What stands in the way is refused now, and again at the commit. */
  const target = async (path: string): Promise<readonly string[]> => {
    const { names, node } = await layer.place(namesIn(path));
    if (names.length === 0 || node?.kind === "folder") throw new HoldfastError("FILE_IS_FOLDER", { path });
    if (node?.kind === "other") throw new HoldfastError("FILE_SPECIAL", { path });
    return names;
  };
  const write = async (path: string, bytes: Bytes): Promise<void> => {
    refuseLarge(layer, path, bytes.length);
    await layer.write(await target(path), Uint8Array.from(bytes));
  };
  const readText = async (path: string) => textOf(await layer.read((await file(path)).names), path);
  return {
    limits: layer.limits,
    read: async (path) => Uint8Array.from(await layer.read((await file(path)).names)),
    readText,
    readStream: async function* (path, range) {
      yield* layer.stream((await file(path)).names, range);
    },
    write,
    writeText: async (path, text) => write(path, bytesOf(text, path)),
    writeStream: async (path, source) => {
      await layer.writeStream(await target(path), source);
    },
    edit: async (path, edits) => {
      const before = await readText(path);
      const { text, places } = edited(before, Array.isArray(edits) ? edits : [edits], path);
      if (text !== before) await write(path, bytesOf(text, path));
      return places;
    },
    delete: async (path, options = {}) => {
      const { names, node } = await see(path, false);
      if (node === undefined || names.length === 0) throw new HoldfastError("FILE_NOT_FOUND", { path });
      if (node.kind === "folder" && options.recursive !== true && (await layer.list(names)).length > 0)
        throw new HoldfastError("FILE_IS_FOLDER", { path });
      await layer.remove(names);
    },
    move: async (from, to) => {
      const source = await see(from, false);
      if (source.node === undefined || source.names.length === 0)
        throw new HoldfastError("FILE_NOT_FOUND", { path: from });
      const { names, node } = await see(to, false);
      if (node !== undefined) throw new HoldfastError("FILE_EXISTS", { path: to });
      if (`${names.join("/")}/`.startsWith(`${source.names.join("/")}/`))
        throw new HoldfastError("FILE_BAD_PATH", { path: to, fault: "lies inside what is moved" });
      await layer.move(source.names, names);
    },
    list: async (path = "", options = {}) => listed(layer, await see(path), path, options),
    glob: async (pattern, options = {}) => {
      const found: string[] = [];
      for await (const path of walk(layer, await see(options.path ?? ""), pattern, options)) found.push(path);
      return found;
    },
    grep: async function* (find, options = {}) {
      yield* grepIn(layer, await see(options.path ?? ""), find, options);
    },
    exists: async (path) => {
      if (!isPath(path)) return false;
      try {
        return (await see(path)).node !== undefined;
      } catch (error) {
        if (HoldfastError.is(error, "FILE_BAD_PATH")) return false; // a link that leads out leads nowhere
        throw error;
      }
    },
    stat: async (path) => statOf(layer, await see(path, false), path),
    mkdir: async (path) => {
      const { names, node } = await layer.place(namesIn(path));
      if (node !== undefined && node.kind !== "folder") throw new HoldfastError("FILE_NOT_FOLDER", { path });
      if (names.length > 0) await layer.mkdir(names); // also where it is: another call may be about to remove it
    },
    chmod: async (path, mode) => {
      const { names } = await file(path);
      if (!(Number.isInteger(mode) && mode >= 0 && mode <= ANY_MODE))
        throw new HoldfastError("BAD_OPTION", { option: "mode", value: String(mode) });
      await layer.chmod(names, mode);
    },
    link: async (path, target) => {
      const { names, node } = await see(path, false);
      if (node !== undefined || names.length === 0) throw new HoldfastError("FILE_EXISTS", { path });
      namesIn(namesOfTarget(names.slice(0, -1), target, path).join("/"));
      await layer.link(names, target);
    },
  };
}

export function refuseLarge({ limits }: Pick<FileLayer, "limits">, path: string, size: number): void {
  if (size > limits.file) throw new HoldfastError("FILE_TOO_LARGE", { path, size, largest: limits.file });
}

function mustBeFile(node: LayerNode | undefined, path: string): void {
  if (node === undefined || node.kind === "link") throw new HoldfastError("FILE_NOT_FOUND", { path });
  if (node.kind === "folder") throw new HoldfastError("FILE_IS_FOLDER", { path });
  if (node.kind === "other") throw new HoldfastError("FILE_SPECIAL", { path });
}

async function listed(
  layer: FileLayer,
  { names, node }: Located,
  path: string,
  { passedOver }: ListOptions,
): Promise<readonly FileEntry[]> {
  if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
  if (node.kind !== "folder") throw new HoldfastError("FILE_NOT_FOLDER", { path });
  return listing(layer, names, passedOver);
}

async function statOf(layer: FileLayer, { names, node }: Located, path: string): Promise<FileStat> {
  if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
  if (node.kind !== "file") return node;
  return { kind: "file", size: node.size, mode: node.mode, digest: await layer.digest(names) };
}

/** Half of a character would be written as U+FFFD, and the file would not hold what its writer believes. */
function bytesOf(text: string, path: string): Bytes {
  if (!text.isWellFormed()) throw new HoldfastError("FILE_TEXT_BROKEN", { path, at: text.search(/\p{Surrogate}/u) });
  return Buffer.from(text);
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError("FILE_NOT_TEXT", { path }, { cause });
  }
}
