import { HoldfastError } from "../base/errors.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import { goalsOf, type Rule } from "../context/producers.ts";

/** Which files of a project hold for every session that works in it. */
export interface ProjectOptions {
  /** Each holds as one rule, verbatim. Default `AGENTS.md`. */
  readonly instructions?: readonly string[];
  /** Files of JSON lines with the goals of the work. Default `.tasks.jsonl`. */
  readonly goals?: readonly string[];
  /** A longer file is refused: cut, it would be another rule. Default 65 536. */
  readonly mostBytes?: number;
}

export type ProjectFaultKind =
  | "too-large"
  /** Bytes that are no UTF-8, or zeros among them. */
  | "not-text"
  /** By its name, or by a link. */
  | "leads-outside"
  /** A folder, a device, or what the system does not give out. */
  | "unreadable"
  | "bad-line"
  /** Another rule has the id, of a file that was read before or of `context.rules`. */
  | "repeated-id";

/** What could not be read, and is therefore no rule. */
export interface ProjectFault {
  readonly kind: ProjectFaultKind;
  readonly path: string;
  /** In a file of goals. */
  readonly line?: number;
  readonly why: string;
}

export interface ProjectRules {
  readonly rules: readonly Rule[];
  readonly faults: readonly ProjectFault[];
}

const INSTRUCTIONS = ["AGENTS.md"];
const GOALS = [".tasks.jsonl"];
const MOST_BYTES = 64 * 1024;
export const NO_PROJECT: ProjectRules = { rules: [], faults: [] };

/**
 * The rules that a project's own files say. A file that is not there says none; one that leads out of the project, is no
 * text or too long is a fault with its code, and costs no other file. Links inside the project are followed. So is a second
 * rule of one id a fault: `configured` ones hold before all.
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
