import { existsSync, lstatSync, unlinkSync } from "node:fs";
import { mkdir, open, readdir, rename, stat, unlink, utimes } from "node:fs/promises";

/** The file operations of this blob store. All of them pass through here, so that a test can make any of them fail. */
export interface FilePort {
  open(path: string, flags: "r" | "wx", mode?: number): Promise<PortHandle>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string, options: { readonly mode: number }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  stat(path: string): Promise<PortStat>;
  utimes(path: string, atime: number, mtime: number): Promise<void>;
  existsSync(path: string): boolean;
  /** Undefined when nothing is there. */
  statSync(path: string): PortStat | undefined;
  unlinkSync(path: string): void;
}

export interface PortStat {
  readonly size: number;
  readonly mtimeMs: number;
}

export interface PortHandle {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  stat(): Promise<{ readonly size: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export const realFiles: FilePort = {
  open,
  rename,
  unlink,
  mkdir,
  readdir,
  stat,
  utimes,
  existsSync,
  statSync: (path) => lstatSync(path, { throwIfNoEntry: false }),
  unlinkSync,
};

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(String((error as { readonly code?: unknown } | null)?.code));
}
