import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  ftruncateSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { homedir, platform, userInfo } from "node:os";
import { promisify } from "node:util";
import { removeTree } from "./remove-tree.ts";

/** What a look at the system tells of one name. Times in nanoseconds: two writes within a millisecond must differ. */
export interface HostStat {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: number;
  /** Permission bits with the three above them. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** How many names it has, here or elsewhere. */
  readonly links: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * Every touch of the workspace passes here, so that a rig can fail any of them and a test can be another system. Names are
 * short and waits are not: what only looks or renames is synchronous, so that nothing of ours slips in between, and what
 * waits for the disk is not.
 */
export interface HostPort {
  readonly platform: "linux" | "darwin" | "win32" | "other";
  /** The folder every user has; it is never a workspace by accident. */
  readonly home: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /**
   * Which run of the system this is, where it can tell: what was written in this one is on the disk or in its memory, and
   * what was written in another may be lost. Undefined is always right.
   */
  readonly boot?: string | undefined;
  /** Names that this process can use for an open folder, or undefined where the system has none. */
  folderName(handle: number): string | undefined;
  openFolder(path: string): number;
  openFile(path: string, how: "read" | "create" | "update"): number;
  close(handle: number): void;
  read(handle: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  write(handle: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  sync(handle: number): Promise<void>;
  stat(path: string): HostStat | undefined;
  statOpen(handle: number): HostStat;
  /** As bytes: a name need not be text. */
  names(path: string): readonly Uint8Array[];
  /** As text, which is quicker by half. What is no text has U+FFFD in its name, and is to be asked for as bytes. */
  textNames(path: string): readonly string[];
  /** As text. What is no text has U+FFFD in it, and is to be asked for as bytes. */
  readLink(path: string): string;
  linkBytes(path: string): Uint8Array;
  makeFolder(path: string, mode: number): void;
  removeFolder(path: string): void;
  rename(from: string, to: string): void;
  /** From a name that is no text. */
  renameBytes(from: Uint8Array, to: string): void;
  /** A second name for a file or a link. Fails on a name that is taken. */
  linkAs(from: string, to: string): void;
  makeLink(target: string, path: string): void;
  unlink(path: string): void;
  /** With everything in it: only for what is ours. */
  removeTree(path: string): void;
  /** Of what is open: by its name, a link put there a moment ago would be followed. */
  owner(handle: number, uid: number, gid: number): void;
  mode(handle: number, mode: number): void;
  /** By its name: only where nobody else can put a link. A folder that may not be read cannot be opened. */
  modeAt(path: string, mode: number): void;
  /** When it was last written, to the microsecond: the system takes no finer time from here. */
  written(handle: number, mtimeNs: bigint): void;
  truncate(handle: number, size: number): void;
}

const FLAGS = {
  // A pipe must not be waited for, and a link put there a moment ago must not be followed.
  read: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
  update: constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
} as const;

const fsyncAsync = promisify(fsync);
const onLinux = platform() === "linux";

let bootRead: { readonly id: string | undefined } | undefined;

function readBoot(): string | undefined {
  try {
    return onLinux ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : undefined;
  } catch {
    return undefined; // a system that does not tell
  }
}

export const realHost: HostPort = {
  platform: asPlatform(platform()),
  get home() {
    return homedir();
  },
  user: currentUser(),
  get boot() {
    bootRead ??= { id: readBoot() };
    return bootRead.id;
  },
  // The one door to openat(2) that Node leaves open: a path through the handle cannot be redirected by swapping a parent.
  folderName: (handle) => (onLinux ? `/proc/self/fd/${handle}` : undefined),
  openFolder: (path) => openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW),
  openFile: openingFiles((constants.O_NOFOLLOW as number | undefined) === undefined),
  close: closeSync,
  read: readSync,
  write: writeSync,
  sync: fsyncAsync,
  stat: (path) => {
    const found = statIfThere(path);
    return found === undefined ? undefined : told(found);
  },
  statOpen: (handle) => told(fstatSync(handle, { bigint: true })),
  names: (path) => readdirSync(path, { encoding: "buffer" }),
  textNames: (path) => readdirSync(path),
  readLink: readlinkSync,
  linkBytes: (path) => readlinkSync(path, { encoding: "buffer" }),
  makeFolder: (path, mode) => {
    mkdirSync(path, { mode });
  },
  removeFolder: rmdirSync,
  rename: renameSync,
  renameBytes: (from, to) => renameSync(Buffer.from(from), to),
  removeTree: (path) => removeTree(Buffer.from(path)),
  linkAs: linkSync,
  makeLink: (target, path) => symlinkSync(target, path),
  unlink: unlinkSync,
  owner: fchownSync,
  mode: fchmodSync,
  modeAt: chmodSync,
  written: (handle, mtimeNs) => {
    const seconds = (Number(mtimeNs / 1000n) + 0.5) / 1e6; // what is cut off is less than a microsecond
    futimesSync(handle, seconds, seconds);
  },
  truncate: ftruncateSync,
};

/** `follows`: the system knows no way to open a file and not the one that a link leads to, so links are looked for. */
export function openingFiles(follows: boolean): HostPort["openFile"] {
  return (path, how) => {
    if (follows && statIfThere(path)?.isSymbolicLink() === true)
      throw Object.assign(new Error(`ELOOP: a link is not followed, open '${path}'`), { code: "ELOOP" });
    return openSync(path, FLAGS[how], 0o600);
  };
}

const EXACT = { bigint: true, throwIfNoEntry: false } as const;

function statIfThere(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, EXACT);
  } catch (error) {
    // The name cannot be there, because what should be its folder is none, or it is longer than a name can be.
    if (isSystem(error, "ENOTDIR", "ENAMETOOLONG")) return undefined;
    throw error;
  }
}

/** By the mode, as a number: a walk looks at tens of thousands, and asking each of them three questions takes its time. */
function told(stat: BigIntStats): HostStat {
  const { dev, ino, size, uid, gid, nlink, mtimeNs, ctimeNs } = stat;
  const mode = Number(stat.mode);
  return {
    kind: KINDS.get(mode & constants.S_IFMT) ?? "other",
    dev,
    ino,
    size: Number(size),
    mode: mode & 0o7777,
    uid: Number(uid),
    gid: Number(gid),
    links: Number(nlink),
    mtimeNs,
    ctimeNs,
  };
}

const KINDS: ReadonlyMap<number, HostStat["kind"]> = new Map([
  [constants.S_IFREG, "file"],
  [constants.S_IFDIR, "folder"],
  [constants.S_IFLNK, "link"],
]);

function currentUser(): HostPort["user"] {
  const { uid, gid } = userInfo();
  return { uid, gid };
}

function asPlatform(name: string): HostPort["platform"] {
  return name === "linux" || name === "darwin" || name === "win32" ? name : "other";
}

export function isSystem(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as { readonly code?: unknown } | null)?.code));
}

/** A name that is text, as text. */
export function nameText(name: Uint8Array): string {
  return Buffer.from(name.buffer, name.byteOffset, name.length).toString("utf8");
}

/** What a link names, or undefined when it is no text: made anew, the link would name something else. */
export function linkTarget(port: HostPort, path: string): string | undefined {
  const target = port.readLink(path);
  return target.includes("\uFFFD") && !isText(port.linkBytes(path), target) ? undefined : target;
}

/** Whether a name comes back as it was from its text. */
export function isText(name: Uint8Array, text: string = nameText(name)): boolean {
  return !text.includes("\uFFFD") || Buffer.from(text, "utf8").equals(name);
}
