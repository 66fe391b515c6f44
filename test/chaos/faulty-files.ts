import { dirname } from "node:path";
import { type FilePort, type PortHandle, type PortStat, realFiles } from "../../src/blobs/files/port.ts";
import type { FaultPlan } from "./fault-plan.ts";

export const FILE_FAULTS = ["EIO", "ENOSPC", "EACCES", "EROFS", "EMFILE", "short"] as const;

/**
 * Stands between the blob files and the system. Fails what the plan names, and keeps book of what a power cut would take:
 * written and not synced, renamed and the folder not synced.
 */
export class FaultyFiles implements FilePort {
  readonly #plan: FaultPlan;
  /** Files with unsynced bytes, folders with unsynced names. */
  readonly #unsynced = new Set<string>();

  constructor(plan: FaultPlan) {
    this.#plan = plan;
  }

  /** What of this file a power cut would take now. */
  wouldLose(path: string): readonly string[] {
    const lost: string[] = [];
    for (let at = path; at !== dirname(at); at = dirname(at)) if (this.#unsynced.has(at)) lost.push(at);
    return lost;
  }

  async open(path: string, flags: "r" | "wx", mode?: number): Promise<PortHandle> {
    this.#guard(`open ${flags}`);
    const handle = await realFiles.open(path, flags, mode);
    if (flags === "wx") this.#unsynced.add(path);
    return {
      write: async (bytes, offset, length) => {
        const fault = this.#plan.next("files", "write");
        if (fault !== undefined && fault.error !== "short") throw systemError(fault.error);
        this.#unsynced.add(path);
        return handle.write(bytes, offset, fault === undefined ? length : Math.ceil(length / 2));
      },
      read: async (bytes, offset, length, position) => {
        this.#guard("read");
        return handle.read(bytes, offset, length, position);
      },
      stat: async () => {
        this.#guard("fstat");
        return handle.stat();
      },
      sync: async () => {
        this.#guard("sync");
        await handle.sync();
        this.#unsynced.delete(path);
      },
      close: async () => {
        await handle.close();
        this.#guard("close");
      },
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#guard("rename");
    await realFiles.rename(from, to);
    if (this.#unsynced.delete(from)) this.#unsynced.add(to);
    this.#unsynced.add(dirname(to));
  }

  async unlink(path: string): Promise<void> {
    this.#guard("unlink");
    await realFiles.unlink(path);
    this.#unsynced.delete(path);
  }

  async mkdir(path: string, options: { readonly mode: number }): Promise<unknown> {
    this.#guard("mkdir");
    this.#unsynced.add(dirname(path));
    return realFiles.mkdir(path, options);
  }

  async readdir(path: string): Promise<string[]> {
    this.#guard("readdir");
    return realFiles.readdir(path);
  }

  async stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }> {
    this.#guard("stat");
    return realFiles.stat(path);
  }

  async utimes(path: string, atime: number, mtime: number): Promise<void> {
    this.#guard("utimes");
    return realFiles.utimes(path, atime, mtime);
  }

  existsSync(path: string): boolean {
    return realFiles.existsSync(path);
  }

  statSync(path: string): PortStat | undefined {
    this.#guard("lstat");
    return realFiles.statSync(path);
  }

  unlinkSync(path: string): void {
    this.#guard("unlink");
    realFiles.unlinkSync(path);
  }

  #guard(what: string): void {
    const fault = this.#plan.next("files", what);
    if (fault !== undefined && fault.error !== "short") throw systemError(fault.error);
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, syscall: "injected", errno: -1 });
}
