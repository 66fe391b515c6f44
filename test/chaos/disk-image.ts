import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mountAt } from "./scratch.ts";
import { has, isRoot } from "./strace.ts";

export type FileSystem = "ext4" | "xfs" | "btrfs";

/** The least each of them accepts, in megabytes; sparse, so only what is written takes space. */
const MEGABYTES: Readonly<Record<FileSystem, number>> = { ext4: 96, xfs: 320, btrfs: 128 };
const MAKE: Readonly<Record<FileSystem, readonly string[]>> = {
  ext4: ["mkfs.ext4", "-q", "-F"],
  xfs: ["mkfs.xfs", "-q", "-f"],
  btrfs: ["mkfs.btrfs", "-q", "-f"],
};

export function isFileSystem(text: string): text is FileSystem {
  return Object.hasOwn(MEGABYTES, text);
}

/** Why a disk of our own cannot be made here, if it cannot. */
export function imagesMissing(fs: FileSystem): string | undefined {
  if (process.platform !== "linux") return "loop mounts need Linux";
  if (!isRoot()) return "loop mounts need root";
  if (!has(`mkfs.${fs}`)) return `mkfs.${fs} is not installed`;
  try {
    execFileSync("losetup", ["-f"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no loop device";
  }
}

/** A disk in a file. What is in the file is what has reached the disk; what only the kernel knows is not. */
export class DiskImage {
  readonly #file: string;
  readonly #folder: string;

  private constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#file = join(folder, `${name}.img`);
  }

  static make(folder: string, name: string, fs: FileSystem, megabytes: number = MEGABYTES[fs]): DiskImage {
    const image = new DiskImage(folder, name);
    writeFileSync(image.#file, "");
    truncateSync(image.#file, megabytes * 1024 * 1024);
    const [command = "", ...args] = MAKE[fs];
    execFileSync(command, [...args, image.#file], { stdio: ["ignore", "ignore", "pipe"] });
    return image;
  }

  /** The disk as it is at this moment, as if the power had gone. */
  copy(name: string): DiskImage {
    const copy = new DiskImage(this.#folder, name);
    execFileSync("cp", ["--sparse=always", this.#file, copy.#file]);
    return copy;
  }

  /** Mounting replays the file system's own journal. */
  mount(): { readonly at: string; readonly unmount: () => void } {
    const at = `${this.#file}.mount`;
    mkdirSync(at, { recursive: true });
    return { at, unmount: mountAt(at, ["-o", "loop", this.#file]) };
  }

  remove(): void {
    rmSync(this.#file, { force: true });
  }
}
