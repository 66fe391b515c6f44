import { HoldfastError } from "../base/errors.ts";
import type { FileEntry } from "../contracts/filesystem.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { BlobName } from "../records/ids.ts";
import { NEW_FILE_MODE } from "./layer.ts";
import { circles, LINKS_ON_A_PATH, namesOfTarget } from "./links.ts";
import { entriesOf, lookUp, type SortedMap, withKey, withoutKey } from "./sorted-map.ts";

export interface TreeFile {
  readonly kind: "file";
  readonly digest: BlobName;
  readonly size: number;
  readonly mode: number;
  /**
   * The content. Absent only while a tree is being read back. Never given to callers: changing it would change history.
   */
  readonly bytes?: Uint8Array;
}

export interface TreeFolder {
  readonly kind: "folder";
  readonly children: SortedMap<TreeNode>;
}

interface TreeLink {
  readonly kind: "link";
  readonly target: string;
}

export type TreeNode = TreeFile | TreeFolder | TreeLink;

export const EMPTY_FOLDER: TreeFolder = { kind: "folder", children: undefined };

export function fileOf(bytes: Uint8Array, mode: number = NEW_FILE_MODE): TreeFile {
  return { kind: "file", digest: nameOfBytes(bytes), size: bytes.length, mode, bytes };
}

export function nodeAt(tree: TreeFolder, names: readonly string[]): TreeNode | undefined {
  let node: TreeNode | undefined = tree;
  for (const name of names) node = node?.kind === "folder" ? lookUp(node.children, name) : undefined;
  return node;
}

/** Where a path leads when links are followed, and what is there. */
export function locate(
  tree: TreeFolder,
  path: readonly string[],
  follow: boolean,
): { readonly names: readonly string[]; readonly node: TreeNode | undefined } {
  let rest = [...path];
  let names: readonly string[] = [];
  for (let links = 0; rest.length > 0; ) {
    const [name = "", ...below] = rest;
    const node = nodeAt(tree, [...names, name]);
    if (node?.kind !== "link" || (below.length === 0 && !follow)) {
      names = [...names, name];
      rest = below;
      continue;
    }
    links += 1;
    if (links > LINKS_ON_A_PATH) throw circles(path.join("/"));
    rest = [...namesOfTarget(names, node.target, path.join("/")), ...below];
    names = [];
  }
  return { names, node: nodeAt(tree, names) };
}

/** The tree with a node at a path. Folders on the way are made; a file on the way is refused. */
export function withNode(tree: TreeFolder, names: readonly string[], node: TreeNode): TreeFolder {
  return placed(tree, names, 0, node) as TreeFolder;
}

export function withoutNode(tree: TreeFolder, names: readonly string[]): TreeFolder {
  return removed(tree, names, 0) as TreeFolder;
}

export function listOf(folder: TreeFolder): readonly FileEntry[] {
  return [...entriesOf(folder.children)].map(([name, { kind }]) => ({ name, kind }));
}

export function* filesIn(node: TreeNode): Iterable<TreeFile> {
  if (node.kind === "file") yield node;
  else if (node.kind === "folder") for (const [, child] of entriesOf(node.children)) yield* filesIn(child);
}

function placed(node: TreeNode | undefined, names: readonly string[], depth: number, leaf: TreeNode): TreeNode {
  const name = names[depth];
  if (name === undefined) return leaf;
  if (node !== undefined && node.kind !== "folder")
    throw new HoldfastError("FILE_NOT_FOLDER", { path: names.slice(0, depth).join("/") });
  const children = node?.children;
  const before = lookUp(children, name);
  const after = placed(before, names, depth + 1, leaf);
  return after === before && node !== undefined ? node : { kind: "folder", children: withKey(children, name, after) };
}

function removed(node: TreeNode, names: readonly string[], depth: number): TreeNode {
  const name = names[depth];
  if (name === undefined || node.kind !== "folder") return node;
  const before = lookUp(node.children, name);
  if (before === undefined) return node;
  if (depth === names.length - 1) return { kind: "folder", children: withoutKey(node.children, name) };
  const after = removed(before, names, depth + 1);
  return after === before ? node : { kind: "folder", children: withKey(node.children, name, after) };
}
