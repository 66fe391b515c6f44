import { HoldfastError } from "../base/errors.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { FileEntry, FileStat, Filesystem } from "../contracts/filesystem.ts";
import { isPath, namesIn } from "./path.ts";
import {
  EMPTY_FOLDER,
  fileOf,
  listOf,
  nodeAt,
  type TreeFile,
  type TreeFolder,
  type TreeNode,
  withNode,
  withoutNode,
} from "./tree.ts";

/** How the files of a call, of a state and of nobody else are looked at and changed. */
export interface TreeAccess {
  /** `what` names the sight: a path's content, its absence, a listing. What was seen there is compared at the commit. */
  look<R extends string | undefined>(
    what: string,
    see: (tree: TreeFolder) => R,
  ): { readonly saw: R; readonly tree: TreeFolder };
  /** Done now, and again at the commit if others have changed the tree meanwhile. */
  change(redo: (tree: TreeFolder) => TreeFolder): Promise<void> | void;
}

export const LARGEST_FILE: number = 64 * 1024 * 1024;

/**
 * Files over a tree. Every question is remembered as narrowly as it was asked: two calls that touch different files never
 * meet, and one that saw a file missing meets whoever makes it.
 */
export function filesystemOver(access: TreeAccess): Filesystem {
  const see = (path: string): TreeNode | undefined => {
    const names = namesIn(path);
    return nodeAt(access.look(`file ${names.join("/")}`, (tree) => markOf(nodeAt(tree, names))).tree, names);
  };
  const file = (path: string): TreeFile => {
    const node = see(path);
    if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
    if (node.kind === "folder") throw new HoldfastError("FILE_IS_FOLDER", { path });
    return node;
  };
  const writing = async (path: string, bytes: Bytes): Promise<void> => {
    const names = namesIn(path);
    if (bytes.length > LARGEST_FILE)
      throw new HoldfastError("FILE_TOO_LARGE", { path, size: bytes.length, largest: LARGEST_FILE });
    const made = fileOf(Uint8Array.from(bytes));
    await access.change((tree) => {
      const there = nodeAt(tree, names);
      if (names.length === 0 || there?.kind === "folder") throw new HoldfastError("FILE_IS_FOLDER", { path });
      return there?.digest === made.digest ? tree : withNode(tree, names, made);
    });
  };
  return {
    read: async (path) => Uint8Array.from(bytesOf(file(path), path)),
    readText: async (path) => textOf(bytesOf(file(path), path), path),
    write: writing,
    writeText: async (path, text) => writing(path, Buffer.from(text)),
    delete: async (path, options = {}) => {
      const names = namesIn(path);
      const node = see(path);
      if (node === undefined || names.length === 0) throw new HoldfastError("FILE_NOT_FOUND", { path });
      if (node.kind === "folder" && options.recursive !== true && list(access, path).length > 0)
        throw new HoldfastError("FILE_IS_FOLDER", { path });
      await access.change((tree) => withoutNode(tree, names));
    },
    move: async (from, to) => {
      const [source, target] = [namesIn(from), namesIn(to)];
      const node = see(from);
      if (node === undefined || source.length === 0) throw new HoldfastError("FILE_NOT_FOUND", { path: from });
      if (see(to) !== undefined) throw new HoldfastError("FILE_EXISTS", { path: to });
      if (`${target.join("/")}/`.startsWith(`${source.join("/")}/`))
        throw new HoldfastError("FILE_BAD_PATH", { path: to, fault: "lies inside what is moved" });
      // A folder moves as it is by then, with what others have put into it.
      await access.change((tree) => withNode(withoutNode(tree, source), target, nodeAt(tree, source) ?? node));
    },
    list: async (path = "") => list(access, path),
    exists: async (path) => isPath(path) && see(path) !== undefined,
    stat: async (path) => {
      const node = see(path);
      if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
      return statOf(node);
    },
    mkdir: async (path) => {
      const names = namesIn(path);
      await access.change((tree) => {
        const there = nodeAt(tree, names);
        if (there?.kind === "file") throw new HoldfastError("FILE_NOT_FOLDER", { path });
        return there === undefined ? withNode(tree, names, EMPTY_FOLDER) : tree;
      });
    },
  };
}

function list(access: TreeAccess, path: string): readonly FileEntry[] {
  const names = namesIn(path);
  const { tree } = access.look(`list ${names.join("/")}`, (now) => {
    const node = nodeAt(now, names);
    return node?.kind === "folder" ? JSON.stringify(listOf(node)) : markOf(node);
  });
  const node = nodeAt(tree, names);
  if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
  if (node.kind === "file") throw new HoldfastError("FILE_NOT_FOLDER", { path });
  return listOf(node);
}

/** What a look at one path remembers: the content of a file, that there is a folder, or that there is nothing. */
function markOf(node: TreeNode | undefined): string | undefined {
  return node?.kind === "file" ? node.digest : node?.kind;
}

function statOf(node: TreeNode): FileStat {
  return node.kind === "file" ? { kind: "file", size: node.size, digest: node.digest } : { kind: "folder" };
}

function bytesOf(file: TreeFile, path: string): Uint8Array {
  if (file.bytes === undefined) throw new HoldfastError("BLOB_MISSING", { path, name: file.digest });
  return file.bytes;
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new HoldfastError("FILE_NOT_TEXT", { path }, { cause });
  }
}
