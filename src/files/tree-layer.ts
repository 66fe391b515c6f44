import { HoldfastError } from "../base/errors.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { FileLimits } from "../contracts/filesystem.ts";
import type { FileLayer, LayerNode, Located } from "./layer.ts";
import { refuseLarge } from "./filesystem.ts";
import {
  EMPTY_FOLDER,
  fileOf,
  listOf,
  locate,
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
  /** The tree, without remembering that it was looked at. */
  peek(): TreeFolder;
  /** Done now, and again at the commit if others have changed the tree meanwhile. */
  change(redo: (tree: TreeFolder) => TreeFolder): Promise<void> | void;
}

/** A path in a tree, after links were followed. */
type Found = ReturnType<typeof locate>;

/** The largest file that a filesystem in memory takes: 64 MB. */
export const LARGEST_FILE: number = 64 * 1024 * 1024;
const LIMITS: FileLimits = { file: LARGEST_FILE };

/**
 * Files in a tree. Every question is remembered as narrowly as it was asked: two calls that touch different files never
 * meet, and one that saw a file missing meets whoever makes it.
 */
export function treeLayer(access: TreeAccess): FileLayer {
  const look = (path: readonly string[], follow: boolean) =>
    access.look(`file ${path.join("/")}`, (now) => sightOf(now, path, follow, markOf)).tree;
  const seen = (tree: TreeFolder, path: readonly string[], follow: boolean): Located => {
    const { names, node } = locate(tree, path, follow);
    return { names, node: node === undefined ? undefined : layerNode(node) };
  };
  const file = (names: readonly string[]): TreeFile & { readonly bytes: Uint8Array } => {
    const node = nodeAt(look(names, true), names);
    const path = names.join("/");
    if (node?.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path });
    if (node.bytes === undefined) throw new HoldfastError("BLOB_MISSING", { path, name: node.digest });
    return { ...node, bytes: node.bytes };
  };
  const write = async (names: readonly string[], bytes: Bytes): Promise<void> => {
    const made = fileOf(bytes);
    await access.change((tree) => {
      const there = nodeAt(tree, names);
      if (there?.kind === "folder") throw new HoldfastError("FILE_IS_FOLDER", { path: names.join("/") });
      if (there?.kind !== "file") return withNode(tree, names, made);
      return there.digest === made.digest ? tree : withNode(tree, names, { ...made, mode: there.mode });
    });
  };
  return {
    limits: LIMITS,
    at: async (path, follow) => seen(look(path, follow), path, follow),
    place: async (path) => {
      const leads = (now: TreeFolder) => sightOf(now, path, true, ({ names }) => names.join("/"));
      return seen(access.look(`place ${path.join("/")}`, leads).tree, path, true);
    },
    list: async (names) => {
      const see = (now: TreeFolder) => {
        const node = nodeAt(now, names);
        return node?.kind === "folder" ? JSON.stringify(listOf(node)) : node?.kind;
      };
      const node = nodeAt(access.look(`list ${names.join("/")}`, see).tree, names);
      return node?.kind === "folder" ? listOf(node) : [];
    },
    read: async (names) => file(names).bytes,
    stream: async function* (names, range) {
      const { bytes } = file(names);
      const { from, to } = range ?? { from: 0, to: bytes.length };
      const piece = Uint8Array.from(bytes.subarray(Math.max(0, from), Math.max(0, to)));
      if (piece.length > 0) yield piece;
    },
    digest: async (names) => file(names).digest,
    write,
    writeStream: async (names, source) => {
      const pieces: Bytes[] = [];
      let size = 0;
      for await (const piece of source instanceof Uint8Array ? [source] : source) {
        size += piece.length;
        refuseLarge({ limits: LIMITS }, names.join("/"), size);
        pieces.push(Uint8Array.from(piece)); // a source may reuse its buffer
      }
      await write(names, Uint8Array.from(Buffer.concat(pieces)));
    },
    chmod: async (names, mode) => {
      await access.change((tree) => {
        const there = nodeAt(tree, names);
        if (there?.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path: names.join("/") });
        return there.mode === mode ? tree : withNode(tree, names, { ...there, mode });
      });
    },
    link: async (names, target) => {
      await access.change((tree) => withNode(tree, names, { kind: "link", target }));
    },
    mkdir: async (names) => {
      await access.change((tree) => {
        const there = nodeAt(tree, names);
        if (there !== undefined && there.kind !== "folder")
          throw new HoldfastError("FILE_NOT_FOLDER", { path: names.join("/") });
        return there === undefined ? withNode(tree, names, EMPTY_FOLDER) : tree;
      });
    },
    remove: async (names) => {
      await access.change((tree) => withoutNode(tree, names));
    },
    move: async (from, to) => {
      const node = nodeAt(look(from, false), from);
      if (node === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path: from.join("/") });
      // A folder moves as it is by then, with what others have put into it.
      await access.change((tree) => withNode(withoutNode(tree, from), to, nodeAt(tree, from) ?? node));
    },
  };
}

/**
 * What is remembered of a path. Asked again at the commit, where a link that another call made may lead in a circle: that
 * is something else than was seen, and no reason for the commit to break.
 */
function sightOf<R>(tree: TreeFolder, path: readonly string[], follow: boolean, mark: (found: Found) => R) {
  try {
    return mark(locate(tree, path, follow));
  } catch (error) {
    if (HoldfastError.is(error, "FILE_BAD_PATH")) return "nowhere";
    throw error;
  }
}

/** What a look at one path remembers: where it led, and the content of a file, a link, that there is a folder, or nothing. */
function markOf({ names, node }: Found): string | undefined {
  if (node === undefined) return undefined;
  const what = node.kind === "file" ? `${node.digest} ${node.mode}` : node.kind === "link" ? node.target : "";
  return `${node.kind} ${what} ${names.join("/")}`;
}

function layerNode(node: TreeNode): LayerNode {
  if (node.kind === "file") return { kind: "file", size: node.size, mode: node.mode };
  return node.kind === "link" ? { kind: "link", target: node.target } : { kind: "folder" };
}
