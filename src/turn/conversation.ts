import type { Json } from "../base/json.ts";
import { normalize } from "../history/normalize.ts";
import type { PairedHistory } from "../history/paired.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { CallId } from "../records/ids.ts";
import { type Item, type Part, toolCallId } from "../wire/item.ts";

interface Said {
  readonly seq: number;
  readonly item: Item;
  readonly callId?: CallId;
}

/**
 * The conversation as the next request tells it: what a rewind took back is gone, whole calls with their outputs, and
 * whatever is left pairs up. The journal keeps everything; this is a projection of it.
 */
export async function conversationOf(entries: AsyncIterable<JournalEntry>): Promise<PairedHistory> {
  let said: Said[] = [];
  const inner = new Set<CallId>();
  for await (const entry of entries) {
    // A call inside a call was the tool's, not the model's.
    if (entry.kind === "call-opened" && entry.parent !== undefined) inner.add(entry.callId);
    if (entry.kind === "rewound" && entry.scope.includes("conversation")) said = takenBack(said, entry.to);
    const item = itemOf(entry);
    if (item !== undefined && !(item.callId !== undefined && inner.has(item.callId))) said.push(item);
  }
  return normalize(said.map(({ item }) => item)).items;
}

/** A call whose output goes, goes with it: an answer may lie after the cut while its question lies before. */
function takenBack(said: readonly Said[], to: number): Said[] {
  const gone = new Set(said.filter(({ seq }) => seq > to).flatMap(({ callId }) => callId ?? []));
  return said.filter(({ seq, callId }) => seq <= to && (callId === undefined || !gone.has(callId)));
}

function itemOf(entry: JournalEntry): Said | undefined {
  switch (entry.kind) {
    case "user-said":
      return { seq: entry.seq, item: { kind: "user", at: entry.at, parts: [text(entry.text)] } };
    case "model-said":
      if (entry.text === undefined) return undefined;
      return { seq: entry.seq, item: { kind: "assistant", at: entry.at, parts: [text(entry.text)] } };
    case "call-opened":
      return {
        seq: entry.seq,
        callId: entry.callId,
        item: {
          kind: "call",
          callKind: "function",
          at: entry.at,
          callId: toolCallId(entry.callId),
          name: entry.tool,
          input: entry.args,
        },
      };
    case "call-closed":
      return {
        seq: entry.seq,
        callId: entry.callId,
        item: {
          kind: "output",
          callKind: "function",
          at: entry.at,
          callId: toolCallId(entry.callId),
          name: entry.tool,
          status: entry.status,
          parts: [text(outputText(entry.output))],
        },
      };
    default:
      return undefined; // every other kind is no part of the conversation
  }
}

function text(words: string): Part {
  return { type: "text", text: words };
}

function outputText(output: Json | undefined): string {
  return typeof output === "string" ? output : JSON.stringify(output ?? null);
}
