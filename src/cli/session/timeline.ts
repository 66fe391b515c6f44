import type { Json } from "../../base/json.ts";
import { shownName } from "../../base/shown-name.ts";
import { count } from "../words.ts";
import { type JournalEntry, partsText, textOf, unkeepItems, type KeptItems } from "../../index.ts";

/** One thing that happened in a session, as it is shown and as `--json` tells it. */
export interface TimelineEvent {
  readonly seq: number;
  readonly at: string;
  readonly what: What;
  /** In a few words, or what was said. */
  readonly text: string;
  call?: TimelineCall;
  /** A rewind took it out of the conversation. */
  takenBack?: true;
}

export type What =
  | "said"
  | "answered"
  | "call"
  | "waits"
  | "replied"
  | "outside"
  | "late"
  | "interrupted"
  | "ended"
  | "failed"
  | "rewound"
  | "forked"
  | "recovered"
  | "repaired"
  | "fault"
  | "diverged"
  | "mode"
  | "boundary"
  | "writeback"
  | "cut"
  | "damaged"
  | "dropped"
  | "kept"
  | "other";

export interface TimelineCall {
  readonly id: string;
  readonly tool: string;
  readonly args?: Json;
  readonly parent?: string;
  /** Undefined while it is open. */
  status?: string;
  reason?: string;
  output?: Json;
  ms?: number;
  /** The record that ended it. */
  ended?: number;
}

type Entry<K extends JournalEntry["kind"]> = Extract<JournalEntry, { readonly kind: K }>;
type Tell = { readonly [K in JournalEntry["kind"]]?: (entry: Entry<K>) => readonly [What, string] };

/** Shown only when everything is asked for: they tell how the session is kept, not what happened in it. */
const INNER: ReadonlySet<JournalEntry["kind"]> = new Set([
  "session-created",
  "state-changed",
  "checkpoint-kept",
  "view-chosen",
  "catalog-changed",
  "effect-opened",
  "effect-joined",
  "effect-left",
  "agents-returned",
]);

const TELL: Tell = {
  "user-said": ({ text }) => ["said", text],
  "model-said": (entry) => ["answered", wordsIn(entry)],
  "model-failed": ({ failure, attempt }) => [
    "failed",
    `the model did not answer (attempt ${attempt}): ${failureWords(failure)}`,
  ],
  "turn-interrupted": ({ text }) => ["interrupted", text],
  "turn-ended": ({ status, steps }) => ["ended", `${status}, ${count(steps, "step")}`],
  "call-waiting": ({ tool, for: waitsFor }) => [
    "waits",
    `${tool} waits for ${waitsFor === "answer" ? "an answer" : "consent"}`,
  ],
  "approval-given": ({ approved, reason }) => [
    "replied",
    `${approved ? "allowed" : "refused"}${reason === undefined ? "" : `: ${reason}`}`,
  ],
  "call-late": ({ tool, output }) => [
    "late",
    `${tool} returned after its call had ended, which changed nothing: ${brief(output)}`,
  ],
  "effect-done": ({ name, key }) => ["outside", `${name} (${key}) happened`],
  "effect-undone": ({ name, key, how, detail }) => [
    "outside",
    `${name} (${key}) ${UNDONE[how]}${detail === undefined ? "" : `: ${detail}`}`,
  ],
  "session-recovered": ({ closedCalls, damaged, previousWriter, mended }) => [
    "recovered",
    `the writer before had ${ENDED[previousWriter]}; ${count(closedCalls.length, "call")} closed, ${count(damaged.length, "record")} damaged${mended === undefined ? "" : `; mended: ${mended}`}`,
  ],
  "history-repaired": ({ fault, detail }) => ["repaired", repairWords(fault, detail)],
  "fault-raised": ({ fault, detail }) => ["fault", `${fault} ${brief(detail)}`],
  "file-diverged": ({ path, kept }) => [
    "diverged",
    `somebody else changed ${shownName(path)}; theirs is in place${kept === undefined ? "" : `, ours is ${kept}`}`,
  ],
  "mode-changed": ({ mode }) => ["mode", `${mode} mode`],
  "boundary-crossed": ({ boundary }) => ["boundary", boundary],
  rewound: ({ to, scope, side, callId }) => [
    "rewound",
    `back to ${callId === undefined ? "" : `${side} a call, `}record ${to}: ${scope.join(", ")}`,
  ],
  forked: ({ from, after, ready = true }) => [
    "forked",
    `${ready ? "forked from" : "began as a fork of"} ${from} after record ${after}`,
  ],
  "history-cut": ({ records, reason }) => ["cut", `${count(records, "record")} forgotten (${reason})`],
  "checkpoint-kept": ({ tag }) => ["kept", `checkpoint${tag === undefined ? "" : ` ${tag}`}`],
  "writeback-staged": ({ page }) => ["writeback", `staged ${page}`],
  "writeback-rejected": ({ page, reason }) => ["writeback", `rejected ${page}: ${reason}`],
  "writeback-committed": ({ page }) => ["writeback", `committed ${page}`],
  damaged: ({ seq, through, detail }) => [
    "damaged",
    `${seq === through ? "this record is" : `records up to ${through} are`} damaged: ${detail}`,
  ],
  dropped: ({ was }) => ["dropped", `${was}: its content was dropped`],
};

const UNDONE = { undoing: "is being undone", undone: "was undone", "not-undone": "was not undone" } as const;
const ENDED = { closed: "closed it", died: "died", expired: "fallen silent" } as const;

export interface TimelineOptions {
  /** Also what tells only how the session is kept. */
  readonly all?: boolean;
  /** Only what comes after this record. */
  readonly after?: number;
  /** The newest so many; with `after`, the next so many. 0 is no bound. */
  readonly limit: number;
}

/** What was found, and how much of it was left out on either side. */
export interface Timeline {
  readonly events: readonly TimelineEvent[];
  readonly earlier: number;
  readonly later: number;
}

/** Reads a session's story. Memory holds what is shown and what is still open, however long the session is. */
export async function timelineOf(entries: AsyncIterable<JournalEntry>, options: TimelineOptions): Promise<Timeline> {
  const { all = false, after, limit } = options;
  const events: TimelineEvent[] = [];
  const open = new Map<string, TimelineEvent>();
  let [earlier, later] = [0, 0];
  const add = (event: TimelineEvent) => {
    if (after !== undefined && event.seq <= after) earlier += 1;
    else if (after !== undefined && limit > 0 && events.length >= limit) later += 1;
    else {
      events.push(event);
      if (after === undefined && limit > 0 && events.length > limit) {
        events.shift();
        earlier += 1;
      }
    }
  };
  for await (const entry of entries) {
    if (entry.kind === "call-opened") {
      const opened = openedEvent(entry);
      open.set(entry.callId, opened);
      add(opened);
    } else if (entry.kind === "call-closed") {
      const opened = open.get(entry.callId) ?? unopened(entry, add);
      open.delete(entry.callId);
      close(opened, entry);
    } else {
      if (entry.kind === "rewound" && entry.scope.includes("conversation"))
        for (const event of events) if (isAfter(event, entry.to)) event.takenBack = true;
      if (all || !INNER.has(entry.kind)) add(plainEvent(entry));
    }
  }
  return { events, earlier, later };
}

/** A call that ended after the cut goes whole. What tells of rewinds stays: it is about the session, not in it. */
function isAfter({ seq, what, call }: TimelineEvent, to: number): boolean {
  return what !== "rewound" && (call?.ended ?? seq) > to;
}

function openedEvent({ seq, at, callId, tool, args, parent }: Entry<"call-opened">): TimelineEvent {
  const call = { id: callId, tool, args, ...(parent === undefined ? {} : { parent }) };
  return { seq, at, what: "call", text: tool, call };
}

/** Its opening was forgotten or damaged; that it ended is still known. */
function unopened({ seq, at, callId, tool }: Entry<"call-closed">, add: (event: TimelineEvent) => void): TimelineEvent {
  const event: TimelineEvent = { seq, at, what: "call", text: tool, call: { id: callId, tool } };
  add(event);
  return event;
}

function close({ call, at }: TimelineEvent, closed: Entry<"call-closed">): void {
  if (call === undefined) return;
  call.status = closed.status;
  call.ended = closed.seq;
  if (closed.reason !== undefined) call.reason = closed.reason;
  if (closed.output !== undefined) call.output = closed.output;
  if (closed.parts !== undefined) call.output = partsText(closed.parts);
  call.ms = Math.max(0, Date.parse(closed.at) - Date.parse(at));
}

function plainEvent(entry: JournalEntry): TimelineEvent {
  const tell = TELL[entry.kind] as ((entry: JournalEntry) => readonly [What, string]) | undefined;
  const [what, text] = tell?.(entry) ?? (["other", entry.kind] as const);
  return { seq: entry.seq, at: "at" in entry ? entry.at : "", what, text };
}

/** What the model said aloud; its calls have lines of their own. */
function wordsIn({ text, items }: Entry<"model-said">): string {
  if (text !== undefined || items === undefined) return text ?? "";
  return unkeepItems(items as unknown as KeptItems)
    .flatMap((item) => (item.kind === "assistant" ? [textOf(item.parts)] : []))
    .join("\n");
}

/** `unknown-tool of read_file, noted`: what was wrong, with which tool, and what was done about it. */
function repairWords(fault: string, detail: Json): string {
  const { toolName, action } = Object(detail) as Readonly<Record<string, unknown>>;
  const known = [
    typeof toolName === "string" ? ` of ${toolName}` : "",
    typeof action === "string" ? `, ${action}` : "",
  ];
  return known.join("") === "" ? `${fault} ${brief(detail)}` : `${fault}${known.join("")}`;
}

/** Another version may have kept a failure in another shape: then it is told as it stands. */
function failureWords(failure: Json): string {
  const { kind, message } = Object(failure) as Readonly<Record<string, unknown>>;
  return typeof kind === "string" && typeof message === "string" ? `${kind}: ${message}` : brief(failure);
}

function brief(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
