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

/**
 * What the system says about one name. Times are in nanoseconds, because two writes within a millisecond must differ.
 */
export interface HostStat {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: number;
  /** The permission bits, including setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** How many names (hard links) the file has, in the workspace or elsewhere. */
  readonly links: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * The system functions through which every access to the workspace goes, so that a test can make any of them fail or
 * imitate another system. Looking and renaming are synchronous, so that nothing of ours happens in between; only
 * waiting for the disk is asynchronous.
 */
export interface HostPort {
  readonly platform: "linux" | "darwin" | "win32" | "other";
  /** The user's home folder; it is never taken as a workspace by accident. */
  readonly home: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /**
   * Which run of the system this is, if it can be told. What was written in this run is on the disk or in memory; what
   * was written in an earlier one may be lost. Undefined is always safe.
   */
  readonly boot?: string | undefined;
  /** A name by which this process can reach an open folder; undefined where the system has none. */
  folderName(handle: number): string | undefined;
  openFolder(path: string): number;
  openFile(path: string, how: "read" | "create" | "update"): number;
  close(handle: number): void;
  read(handle: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  write(handle: number, bytes: Uint8Array, offset: number, length: number, position: number): number;
  sync(handle: number): Promise<void>;
  stat(path: string): HostStat | undefined;
  statOpen(handle: number): HostStat;
  /** Names in a folder, as bytes, because a name need not be text. */
  names(path: string): readonly Uint8Array[];
  /**
   * Names in a folder, as text, which is twice as fast. A name that is not text contains U+FFFD; ask for it as bytes.
   */
  textNames(path: string): readonly string[];
  /** The target of a link, as text. A target that is not text contains U+FFFD; ask for it as bytes. */
  readLink(path: string): string;
  linkBytes(path: string): Uint8Array;
  makeFolder(path: string, mode: number): void;
  removeFolder(path: string): void;
  rename(from: string, to: string): void;
  /** Renames from a name that is not text. */
  renameBytes(from: Uint8Array, to: string): void;
  /** Gives a file or a link a second name. Fails if that name is taken. */
  linkAs(from: string, to: string): void;
  makeLink(target: string, path: string): void;
  unlink(path: string): void;
  /** Removes a folder with everything in it; only for what is ours. */
  removeTree(path: string): void;
  /** Changes the owner of an open file. By name, a link put there a moment ago would be followed. */
  owner(handle: number, uid: number, gid: number): void;
  mode(handle: number, mode: number): void;
  /**
   * Changes the mode by name, for folders that may not be read and so cannot be opened. Use it only where nobody else
   * can put a link.
   */
  modeAt(path: string, mode: number): void;
  /** Sets when the file was last written, to the microsecond: the system accepts nothing finer here. */
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
