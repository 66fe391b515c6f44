import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import { branded, count, fields, list, oneOf, optional, string } from "../records/shape.ts";
import type { Content, Part, PartContents } from "../state/part.ts";
import { NEW_FILE_MODE } from "./layer.ts";
import { liesBelow, namesIn } from "./path.ts";
import { differences, entriesOf } from "./sorted-map.ts";
import { EMPTY_FOLDER, filesIn, nodeAt, type TreeFolder, type TreeNode, withNode, withoutNode } from "./tree.ts";

/** A path and what is there, as data: a file by the name of its content, or a folder. */
const placeShape = fields({
  path: string,
  kind: oneOf("file", "folder", "link"),
  digest: optional(branded<BlobName>()),
  size: optional(count),
  mode: optional(count),
  target: optional(string),
});
type Place = {
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  readonly digest?: BlobName;
  readonly size?: number;
  /** Left out when it is that of any new file. */
  readonly mode?: number;
  readonly target?: string;
};

/** First everything in `gone` goes, with what lies below it; then everything in `put` comes. */
const deltaShape = fields({ gone: list(string), put: list(placeShape) });

const contents: PartContents<TreeFolder> = {
  of: (tree) =>
    [...filesIn(tree)].flatMap(({ digest, bytes }): Content[] =>
      bytes === undefined ? [] : [{ name: digest, bytes }],
    ),
  missing: (tree) => [...filesIn(tree)].filter(({ bytes }) => bytes === undefined).map(({ digest }) => digest),
  fill: (tree, bytesOf) => filled(tree, bytesOf) as TreeFolder,
};

/** The files as a part of the root: one value, shared between versions, with file content kept by digest. */
export const filesPart: Part<TreeFolder> = {
  name: "files",
  policy: "state",
  reserved: true,
  initial: EMPTY_FOLDER,
  exact: true,
  contents,
  encode: (tree) => placesIn(tree, "") as unknown as Json,
  decode: (data) => placesOf(data).reduce(put, EMPTY_FOLDER),
  change: (before, after) => {
    const delta = deltaBetween(before, after);
    if (delta.gone.length === 0 && delta.put.length === 0) return undefined;
    const held = new Set<BlobName>();
    const fresh = delta.put.flatMap(({ path, digest }): Content[] => {
      if (digest === undefined || held.has(digest)) return [];
      held.add(digest);
      const node = nodeAt(after, namesIn(path));
      return node?.kind === "file" && node.bytes !== undefined ? [{ name: digest, bytes: node.bytes }] : [];
    });
    return { delta: delta as unknown as Json, contents: fresh };
  },
  apply: (tree, delta) => {
    const fault = deltaShape.fault(delta, "files");
    if (fault !== undefined) throw new HoldfastError("SNAPSHOT_CORRUPT", { entry: "files", detail: fault });
    const { gone, put: places } = delta as unknown as {
      readonly gone: readonly string[];
      readonly put: readonly Place[];
    };
    return places.reduce(
      put,
      gone.reduce((now, path) => withoutNode(now, namesIn(path)), tree),
    );
  },
  pick: (now, then, paths) => {
    for (const path of paths) namesIn(path);
    const cleared = paths.reduce(
      (tree, path) => (namesIn(path).length === 0 ? EMPTY_FOLDER : withoutNode(tree, namesIn(path))),
      now,
    );
    return placesIn(then, "")
      .filter(({ path }) => paths.some((wanted) => liesBelow(path, wanted)))
      .reduce((tree, { path }) => withNode(tree, namesIn(path), shallow(nodeAt(then, namesIn(path)))), cleared);
  },
};

/** A folder's children are listed after it, so it is placed empty and they follow. */
function shallow(node: TreeNode | undefined): TreeNode {
  return node === undefined || node.kind === "folder" ? EMPTY_FOLDER : node;
}

function placesIn(folder: TreeFolder, above: string): readonly Place[] {
  return [...entriesOf(folder.children)].flatMap(([name, node]) => placesAt(`${above}${name}`, node));
}

function placesAt(path: string, node: TreeNode): readonly Place[] {
  if (node.kind === "link") return [{ path, kind: "link", target: node.target }];
  if (node.kind === "file") {
    const { digest, size, mode } = node;
    return [{ path, kind: "file", digest, size, ...(mode === NEW_FILE_MODE ? {} : { mode }) }];
  }
  return [{ path, kind: "folder" }, ...placesIn(node, `${path}/`)];
}

function placesOf(data: Json): readonly Place[] {
  const fault = list(placeShape).fault(data, "files");
  if (fault !== undefined) throw new HoldfastError("SNAPSHOT_CORRUPT", { entry: "files", detail: fault });
  return data as unknown as readonly Place[];
}

function put(tree: TreeFolder, place: Place): TreeFolder {
  const names = namesIn(place.path);
  if (names.length === 0) throw new HoldfastError("FILE_BAD_PATH", { path: place.path, fault: "names the root" });
  if (place.kind === "file") {
    const { digest = "", size = 0, mode = NEW_FILE_MODE } = place;
    return withNode(tree, names, { kind: "file", digest: toBlobName(digest), size, mode });
  }
  if (place.kind === "link") return withNode(tree, names, { kind: "link", target: place.target ?? "" });
  return nodeAt(tree, names)?.kind === "folder" ? tree : withNode(tree, names, EMPTY_FOLDER);
}

function deltaBetween(before: TreeFolder, after: TreeFolder): { readonly gone: string[]; readonly put: Place[] } {
  const delta: { gone: string[]; put: Place[] } = { gone: [], put: [] };
  const walk = (a: TreeFolder, b: TreeFolder, above: string) => {
    for (const { key, before: was, after: is } of differences(a.children, b.children)) {
      const path = `${above}${key}`;
      if (was?.kind === "folder" && is?.kind === "folder") walk(was, is, `${path}/`);
      else {
        if (was !== undefined && (is === undefined || was.kind !== is.kind)) delta.gone.push(path);
        if (is !== undefined && !sameFile(was, is)) for (const place of placesAt(path, is)) delta.put.push(place);
      }
    }
  };
  walk(before, after, "");
  return delta;
}

function sameFile(was: TreeNode | undefined, is: TreeNode): boolean {
  return was?.kind === "file" && is.kind === "file" && was.digest === is.digest && was.mode === is.mode;
}

function filled(node: TreeNode, bytesOf: (name: BlobName) => Uint8Array | undefined): TreeNode {
  if (node.kind === "file") {
    const bytes = node.bytes ?? bytesOf(node.digest);
    return bytes === undefined ? node : { ...node, bytes };
  }
  if (node.kind === "link") return node;
  return [...entriesOf(node.children)].reduce<TreeFolder>((folder, [name, child]) => {
    const whole = filled(child, bytesOf);
    return whole === child ? folder : withNode(folder, [name], whole);
  }, node);
}
