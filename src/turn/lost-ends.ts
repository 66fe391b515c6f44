import type { Json } from "../base/json.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ToolInvoked } from "../state/default-slices.ts";

/** How a call ended whose closing has lost its body, and where that stands. */
export interface LostEnd {
  readonly seq: number;
  readonly closed: Extract<RecordDraft, { readonly kind: "call-closed" }>;
}

/**
 * What a change of the state tells of closings right before it that were dropped: the log of calls is written with them.
 * Taken for open, such a call would be closed as cut off, and a rewind to before it would keep what it changed.
 */
export function lostEnds(
  tail: readonly JournalEntry[],
  at: number,
  openCalls: ReadonlyMap<CallId, string>,
): readonly LostEnd[] {
  const change = tail[at];
  if (change?.kind !== "state-changed" || change.callId === undefined) return [];
  const dropped = closingsBefore(tail, at).flatMap(({ kind, seq }) => (kind === "dropped" ? [seq] : []));
  const told = dropped.length === 0 ? [] : loggedIn((change.delta as Logged)[LOG]);
  const lost = told.filter(({ toolCallId }) => openCalls.has(toolCallId));
  if (lost.length !== dropped.length) return []; // it does not tell which of them ended where
  return lost.map(({ toolCallId: callId, toolName: tool, status, reason }, nth) => ({
    seq: dropped[nth] as number,
    closed: { kind: "call-closed", callId, tool, status, reason },
  }));
}

/** The ends of calls right before a change, with their bodies or without: what they changed is written with them. */
export function closingsBefore(tail: readonly JournalEntry[], at: number): readonly JournalEntry[] {
  let from = at;
  while (isClosing(tail[from - 1])) from -= 1;
  return tail.slice(from, at);
}

function isClosing(entry: JournalEntry | undefined): boolean {
  return entry?.kind === "call-closed" || (entry?.kind === "dropped" && entry.was === "call-closed");
}

/** The slice with the log of calls. */
const LOG = "ToolInvoked";

type Logged = Readonly<Record<string, Json | undefined>>;
type Line = Pick<ToolInvoked, "toolName" | "status" | "reason"> & { readonly toolCallId: CallId };

/** The lines of the log that a delta of it carries, whichever way it writes them. */
function loggedIn(delta: Json | undefined): readonly Line[] {
  if (typeof delta !== "object" || delta === null) return [];
  if (Array.isArray(delta)) return delta.flatMap(loggedIn);
  return "toolCallId" in delta ? [delta as unknown as Line] : Object.values(delta).flatMap(loggedIn);
}
