import { canonicalHash } from "../base/hash.ts";
import type { FileEntry, Filesystem } from "../contracts/filesystem.ts";
import { WorkspaceDigest } from "../state/default-slices.ts";
import type { SliceEvent } from "../state/slice.ts";

/** Options of `digestOfFiles`. */
export interface DigestOptions {
  /** The section of the prompt that it is for. Default `workspace`. */
  readonly section?: string;
  /** Levels of folders that are opened, from those in the root on. Deeper ones are listed but not opened. Default 2. */
  readonly depth?: number;
  /** The most names that are listed; the rest are counted. Default 200. */
  readonly names?: number;
  /**
   * Folders that are listed but not opened. Default: `.git`, `node_modules`, `dist`, `build`, `target`, `__pycache__`
   * and `.venv`.
   */
  readonly closed?: readonly string[];
}

const CLOSED = [".git", "node_modules", "dist", "build", "target", "__pycache__", ".venv"];

/**
 * Describes the workspace in a few lines, from its listing alone; no file is read. The same files give the same text,
 * with its hash in the first line. It is a cache: `session.dispatch` it when you make the prompt; any restore empties
 * it.
 */
export async function digestOfFiles(files: Filesystem, options: DigestOptions = {}): Promise<SliceEvent> {
  const { section = "workspace", depth = 2, names = 200, closed = CLOSED } = options;
  const lines: string[] = [];
  let left = names;
  const walk = async (folder: string, level: number): Promise<void> => {
    const entries = await files.list(folder);
    const shown = entries.slice(0, Math.max(0, left));
    left -= shown.length;
    for (const entry of shown) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const opens = entry.kind === "folder" && level < depth && !closed.includes(entry.name);
      lines.push(`${"  ".repeat(level)}${lineOf(entry)}`);
      if (opens) await walk(path, level + 1);
    }
    if (shown.length < entries.length) lines.push(`${"  ".repeat(level)}… ${entries.length - shown.length} more`);
  };
  await walk("", 0);
  const text = lines.join("\n");
  return WorkspaceDigest.set({ section, digest: `${canonicalHash(text).slice(0, 12)}\n${text}` });
}

function lineOf({ name, kind }: FileEntry): string {
  const mark = { file: "", folder: "/", link: "@", other: "?" } as const;
  return `${JSON.stringify(name).slice(1, -1)}${mark[kind]}`;
}
