import { sha256 } from "../../base/hash.ts";
import { type BlobName, toBlobName } from "../../records/ids.ts";
import { ABSENT, type HostEntry, ownerIn } from "./entry.ts";
import type { Images } from "./images.ts";
import { type HostPort, type HostStat, isSystem, linkTarget } from "./port.ts";
import { type Uncovered, type WalkGround, walkTree } from "./walk.ts";

/** One path as a manifest knows it: what the system said, and what a file holds or a link names. */
export interface Known {
  readonly stat: HostStat;
  readonly digest?: BlobName;
  readonly target?: string;
}

/** A whole tree at one moment. */
export interface Manifest {
  /** The file system's own time when the walk began. */
  readonly at: bigint;
  /** The folder itself: its mode is the user's, and no commit can change it. */
  readonly root: Known | undefined;
  readonly entries: ReadonlyMap<string, Known>;
  readonly uncovered: readonly Uncovered[];
}

/** A manifest as it is written down, and the sum that proves that it is this one. */
export interface KeptManifest {
  readonly manifest: Manifest;
  readonly sum: string;
  /** Bytes of the changes that are written after the whole. */
  readonly changes: number;
  readonly whole: number;
}

/** How much the portable driver protects. What exceeds it is reported as uncovered. */
export interface CoverLimits {
  /** Bytes that one file may have. Default 64 MB. */
  readonly file: number;
  /** Bytes that all files together may have. Default 4 GB. */
  readonly tree: number;
}

/**
 * Two writes within one tick of the file system's clock leave the same times. What was looked at so soon after it was
 * written is looked at again, and not believed.
 */
const TICK = 20_000_000n;

/** Walks the tree and keeps the content of every file. What an earlier manifest knows for certain is not read again. */
export function takeManifest(
  ground: WalkGround,
  images: Images,
  at: bigint,
  limits: CoverLimits,
  earlier?: Manifest,
): Manifest {
  const { port, base } = ground;
  const walked = walkTree(ground);
  const uncovered = [...walked.uncovered];
  const entries = new Map<string, Known>();
  let bytes = 0;
  for (const [path, stat] of inOrder(walked.entries, limits)) {
    const at = `${base}/${path}`;
    bytes += stat.kind === "file" ? stat.size : 0;
    if (stat.kind === "link") {
      const target = linkAt(port, at);
      if (target === undefined) uncovered.push({ path, why: "not-text" });
      entries.set(path, target === undefined ? { stat } : { stat, target });
    } else if (stat.kind !== "file") entries.set(path, { stat });
    else if (stat.size > limits.file || bytes > limits.tree) {
      uncovered.push({ path, why: "too-large" });
      entries.set(path, { stat });
    } else {
      const known = earlier?.entries.get(path);
      const isKnown = known !== undefined && isSure(earlier, known, stat);
      const digest = isKnown ? known.digest : keptBy(images, at, path, uncovered);
      // The same object again: what is written down of it need not be compared.
      if (isKnown && sameOwned(known.stat, stat)) entries.set(path, known);
      else entries.set(path, digest === undefined ? { stat } : { stat, digest });
    }
  }
  const root = walked.root === undefined ? undefined : { stat: walked.root };
  return { at, root, entries, uncovered };
}

/** Where not all can be kept, the same are kept each time, whoever found them first. */
function inOrder(entries: ReadonlyMap<string, HostStat>, { tree }: CoverLimits): Iterable<readonly [string, HostStat]> {
  let bytes = 0;
  for (const { kind, size } of entries.values()) bytes += kind === "file" ? size : 0;
  return bytes <= tree ? entries : [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** True when a file is certainly what the manifest says, without reading it. */
export function isSure(manifest: Manifest | undefined, known: Known | undefined, stat: HostStat): boolean {
  if (manifest === undefined || known?.digest === undefined) return false;
  return sameFile(known.stat, stat) && stat.ctimeNs < manifest.at - TICK;
}

function sameFile(a: HostStat, b: HostStat): boolean {
  return (
    a.kind === b.kind &&
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}

/** A path as commits know it. Folders carry their mode: a command may have meant it. */
export function entryIn(known: Known | undefined, user: HostPort["user"]): HostEntry {
  if (known === undefined) return ABSENT;
  const { stat, digest, target = "" } = known;
  if (stat.kind === "folder") return { kind: "folder", mode: stat.mode, exact: true };
  if (stat.kind === "link") return { kind: "link", target };
  if (digest === undefined) return ABSENT;
  return { kind: "file", digest, size: stat.size, mode: stat.mode, ...ownerIn(stat, user) };
}

type Line = readonly [
  string,
  HostStat["kind"],
  number,
  number,
  number,
  number,
  number,
  string,
  string,
  string,
  string,
  string,
];

/** As text that proves itself: a torn manifest is none. The folder itself comes first, under no name. */
export function manifestText({ at, root, entries, uncovered }: Manifest): string {
  const lines = [JSON.stringify({ at: String(at), uncovered })];
  if (root !== undefined) lines.push(lineOf("", root));
  for (const [path, known] of entries) lines.push(lineOf(path, known));
  const body = lines.join("\n");
  return `${sha256(body)}\n${body}`;
}

/** Undefined for what is no whole manifest. */
export function readManifest(text: string): Manifest | undefined {
  const [sum, body] = [text.slice(0, 64), text.slice(65)];
  if (body === "" || sha256(body) !== sum) return undefined;
  const [head = "{}", ...lines] = body.split("\n");
  const { at, uncovered } = JSON.parse(head) as { readonly at: string; readonly uncovered: readonly Uncovered[] };
  const entries = new Map<string, Known>(lines.map((line) => knownIn(JSON.parse(line) as Line)));
  const root = entries.get("");
  entries.delete("");
  return { at: BigInt(at), root, entries, uncovered };
}

/** What became of a tree since another manifest of it: lines that are other or new, and paths that went. */
export interface ManifestChange {
  readonly at: string;
  readonly uncovered: readonly Uncovered[];
  readonly lines: readonly string[];
  readonly gone: readonly string[];
}

/** Undefined when nothing has moved: what is written down is as good. */
export function manifestChange(now: Manifest, earlier: Manifest): ManifestChange | undefined {
  const lines: string[] = [];
  const gone: string[] = [];
  let fresh = 0;
  if (now.root !== undefined && (earlier.root === undefined || !sameKnown(now.root, earlier.root)))
    lines.push(lineOf("", now.root));
  for (const [path, known] of now.entries) {
    const before = earlier.entries.get(path);
    if (before === undefined) fresh += 1;
    if (before === undefined || (before !== known && !sameKnown(before, known))) lines.push(lineOf(path, known));
  }
  if (now.entries.size < earlier.entries.size + fresh)
    for (const path of earlier.entries.keys()) if (!now.entries.has(path)) gone.push(path);
  const sameWords = JSON.stringify(now.uncovered) === JSON.stringify(earlier.uncovered);
  if (lines.length === 0 && gone.length === 0 && sameWords) return undefined;
  return { at: String(now.at), uncovered: now.uncovered, lines, gone };
}

/** A manifest and what became of it, in order. However many changes there are, the tree is held once. */
export function withChanges(earlier: Manifest, changes: readonly ManifestChange[]): Manifest {
  const entries = new Map(earlier.entries);
  let { at, root, uncovered } = earlier;
  for (const change of changes) {
    for (const path of change.gone) entries.delete(path);
    for (const line of change.lines) entries.set(...knownIn(JSON.parse(line) as Line));
    root = entries.get("") ?? root;
    entries.delete("");
    at = BigInt(change.at);
    uncovered = change.uncovered;
  }
  return { at, root, entries, uncovered };
}

function sameKnown(a: Known, b: Known): boolean {
  return a.digest === b.digest && a.target === b.target && sameOwned(a.stat, b.stat) && sameFile(a.stat, b.stat);
}

function sameOwned(a: HostStat, b: HostStat): boolean {
  return a.mode === b.mode && a.links === b.links && a.uid === b.uid && a.gid === b.gid;
}

function lineOf(path: string, { stat, digest, target }: Known): string {
  const { kind, size, mode, uid, gid, links, mtimeNs, ctimeNs, ino, dev } = stat;
  const times = [String(mtimeNs), String(ctimeNs), String(ino), String(dev)] as const;
  return JSON.stringify([path, kind, size, mode, uid, gid, links, ...times, digest ?? target ?? ""] satisfies Line);
}

function knownIn([path, kind, size, mode, uid, gid, links, mtime, ctime, ino, dev, holds]: Line): readonly [
  string,
  Known,
] {
  const times = { mtimeNs: BigInt(mtime), ctimeNs: BigInt(ctime), ino: BigInt(ino), dev: BigInt(dev) };
  const stat: HostStat = { kind, size, mode, uid, gid, links, ...times };
  if (kind === "link") return [path, { stat, target: holds }];
  return [path, kind === "file" && holds !== "" ? { stat, digest: toBlobName(holds) } : { stat }];
}

function keptBy(images: Images, at: string, path: string, uncovered: Uncovered[]): BlobName | undefined {
  try {
    return images.keep(at)?.digest;
  } catch (error) {
    if (!isSystem(error, "EACCES", "EPERM")) throw error;
    uncovered.push({ path, why: "unreadable" });
    return undefined;
  }
}

/** Undefined when it is no text. */
export function linkAt(port: HostPort, path: string): string | undefined {
  try {
    return linkTarget(port, path);
  } catch (error) {
    if (isSystem(error, "ENOENT", "EINVAL")) return ""; // gone, or something else by now
    throw error;
  }
}
