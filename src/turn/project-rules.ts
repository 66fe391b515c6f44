import { HoldfastError } from "../base/errors.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import { goalsOf, type Rule } from "../context/producers.ts";

/** Which files of a project contain rules for every session that works in it. */
export interface ProjectOptions {
  /** Files whose text is one rule each, word for word. Default `["AGENTS.md"]`. */
  readonly instructions?: readonly string[];
  /** JSON Lines files with goals. Default `[".tasks.jsonl"]`. */
  readonly goals?: readonly string[];
  /** A larger file is refused, not cut: half a rule is another rule. Default 65 536. */
  readonly mostBytes?: number;
}

/** Why a project file, or a line of it, is not taken as a rule. */
export type ProjectFaultKind =
  | "too-large"
  /** It is not UTF-8, or contains zero bytes. */
  | "not-text"
  /** Its path, or a link, leads out of the project. */
  | "leads-outside"
  /** It is a folder or a device, or the system refuses to read it. */
  | "unreadable"
  /** A line of a goals file that is no goal. */
  | "bad-line"
  /** Another rule already has this id: from a file read earlier, or from `context.rules`. */
  | "repeated-id";

/** Something in a project file that could not be taken as a rule. */
export interface ProjectFault {
  readonly kind: ProjectFaultKind;
  readonly path: string;
  /** The line, for a goals file. */
  readonly line?: number;
  readonly why: string;
}

/** The rules found in a project's files, and what could not be taken as one. */
export interface ProjectRules {
  readonly rules: readonly Rule[];
  readonly faults: readonly ProjectFault[];
}

const INSTRUCTIONS = ["AGENTS.md"];
const GOALS = [".tasks.jsonl"];
const MOST_BYTES = 64 * 1024;
export const NO_PROJECT: ProjectRules = { rules: [], faults: [] };

/**
 * Reads the rules in a project's own files. A missing file is no fault. A file that leads out of the project, is not
 * text or is too large is reported as a fault, and the other files are still read. Links inside the project are
 * followed. A second rule with the same id is a fault; the rules in `configured` come first.
 */
export async function readProjectRules(
  files: Filesystem,
  options: ProjectOptions = {},
  configured: readonly Rule[] = [],
): Promise<ProjectRules> {
  const { instructions = INSTRUCTIONS, goals = GOALS, mostBytes = MOST_BYTES } = options;
  const taken = new Set(configured.map(({ id }) => id));
  const rules: Rule[] = [];
  const faults: ProjectFault[] = [];
  const take = (path: string, rule: Rule) => {
    if (taken.has(rule.id)) faults.push({ kind: "repeated-id", path, why: `there is a rule ${rule.id} already` });
    else rules.push(rule);
    taken.add(rule.id);
  };
  const read = async (path: string): Promise<string> => {
    const found = await textIn(files, path, mostBytes);
    if (typeof found === "string") return found;
    faults.push({ path, ...found });
    return "";
  };
  for (const path of instructions) {
    const text = await read(path);
    if (text.trim() !== "") take(path, { id: path, text, scope: "project", source: path });
  }
  for (const path of goals) {
    const found = goalsOf(await read(path), path);
    faults.push(...found.faults.map((fault) => ({ kind: "bad-line" as const, path, ...fault })));
    for (const rule of found.rules) take(path, rule);
  }
  return { rules, faults };
}

type Unread = Pick<ProjectFault, "kind" | "why">;

/** The text of a file; nothing when there is none. No more is read than may be: a gigabyte that lies there costs nothing. */
async function textIn(files: Filesystem, path: string, most: number): Promise<string | Unread> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of files.readStream(path)) {
      size += piece.byteLength;
      if (size > most) return { kind: "too-large", why: `it has more than ${most} bytes` };
      pieces.push(piece);
    }
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    if (error.code === "FILE_NOT_FOUND") return "";
    return { kind: error.code === "FILE_BAD_PATH" ? "leads-outside" : "unreadable", why: error.message };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces));
    return text.includes("\0") ? { kind: "not-text", why: "it holds a zero" } : text;
  } catch {
    return { kind: "not-text", why: "it is no UTF-8" };
  }
}
