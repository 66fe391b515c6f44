import type { JsonObject } from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { CALL_KINDS, type Item } from "../wire/item.ts";
import { parseOutputStatus } from "../wire/status.ts";

/**
 * A piece of a saved session that is not an item. It is kept and reported, because it may be all that is left of a
 * turn.
 */
export interface Quarantined {
  /** The line, or the place in the array, counted from 1. */
  readonly place: number;
  readonly text: string;
  readonly why: string;
}

export interface SavedItems {
  readonly items: readonly Item[];
  readonly quarantined: readonly Quarantined[];
}

/** Reads items saved as one JSON array, or one a line. Nothing is skipped in silence. */
export function readItems(saved: string): SavedItems {
  const text = saved.startsWith("\uFEFF") ? saved.slice(1) : saved;
  const whole = text.trimStart().startsWith("[") ? parsed(text) : undefined;
  const items: Item[] = [];
  const quarantined: Quarantined[] = [];
  const take = (value: unknown, place: number, source: () => string) => {
    const fault = itemFault(value);
    if (fault === undefined) items.push(lifted(value as Item));
    else quarantined.push({ place, text: source(), why: fault });
  };
  if (whole?.ok && Array.isArray(whole.value)) {
    for (const [at, value] of whole.value.entries()) take(value, at + 1, () => shown(value));
    return { items, quarantined };
  }
  for (const [at, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (line.trim() === "") continue;
    const value = parsed(line);
    if (value.ok) take(value.value, at + 1, () => line);
    else quarantined.push({ place: at + 1, text: line, why: value.error });
  }
  return { items, quarantined };
}

/** Plain parsing: the stricter check of `base/json.ts` needs Node, and this entry runs without. */
function parsed(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (thrown) {
    return err((thrown as Error).name);
  }
}

/** The text of a value that was parsed; one nested too deeply to be written again is only named. */
function shown(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(too deep to show)";
  }
}

const isText = (value: unknown) => typeof value === "string";
const isOptionalText = (value: unknown) => value === undefined || typeof value === "string";
const isKind = (value: unknown) => (CALL_KINDS as readonly unknown[]).includes(value);

/** The fields without which an item of its kind means nothing. */
const DEMANDS: Readonly<Record<Item["kind"], Readonly<Record<string, (value: unknown) => boolean>>>> = {
  system: { parts: Array.isArray, role: (value) => value === "system" || value === "developer" },
  user: { parts: Array.isArray },
  assistant: { parts: Array.isArray },
  reasoning: { text: isText },
  call: { callKind: isKind, name: isText, callId: isOptionalText },
  output: { callKind: isKind, status: isText, parts: Array.isArray, callId: isOptionalText },
  "approval-request": { approvalId: isText },
  "approval-answer": { approvalId: isText, approved: (value) => typeof value === "boolean" },
  other: { by: (value) => value === "model" || value === "host" },
};

function itemFault(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "not an object";
  const item = value as JsonObject;
  const { kind } = item;
  if (typeof kind !== "string" || !Object.hasOwn(DEMANDS, kind)) return `unknown kind ${JSON.stringify(kind)}`;
  for (const [field, holds] of Object.entries(DEMANDS[kind as Item["kind"]])) {
    if (!holds(item[field])) return `${field} is missing or malformed`;
  }
  return undefined;
}

/** A status word of another tool reads as failed; the word itself is kept beside it. */
function lifted(item: Item): Item {
  if (item.kind !== "output") return item;
  const { status, original } = parseOutputStatus(item.status);
  return original === undefined ? item : { ...item, status, statusText: original };
}
