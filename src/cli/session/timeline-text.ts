import type { Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { harmless, lasted, oneLine } from "../words.ts";
import { shortCall } from "./calls.ts";
import type { TimelineCall, TimelineEvent, What } from "./timeline.ts";

/** How each kind of event is marked: a word of at most eight letters, so that all texts begin in one column. */
const MARK: Readonly<Record<What, { readonly word: string; readonly style?: Parameters<typeof paint>[1] }>> = {
  said: { word: "user", style: "bold" },
  answered: { word: "model", style: "cyan" },
  call: { word: "call" },
  waits: { word: "waits", style: "yellow" },
  replied: { word: "reply" },
  outside: { word: "outside", style: "yellow" },
  late: { word: "late", style: "dim" },
  interrupted: { word: "stopped", style: "yellow" },
  ended: { word: "end", style: "dim" },
  failed: { word: "failed", style: "red" },
  rewound: { word: "rewound", style: "yellow" },
  forked: { word: "fork" },
  recovered: { word: "recover", style: "yellow" },
  repaired: { word: "repair", style: "yellow" },
  fault: { word: "fault", style: "red" },
  diverged: { word: "diverged", style: "yellow" },
  mode: { word: "mode" },
  boundary: { word: "boundary", style: "dim" },
  writeback: { word: "keep", style: "dim" },
  cut: { word: "cut", style: "dim" },
  damaged: { word: "damaged", style: "red" },
  dropped: { word: "dropped", style: "dim" },
  kept: { word: "kept", style: "dim" },
  other: { word: "", style: "dim" },
};
const WORD = 8;
const SEQ = 5;
/** Of a line that a person reads; programs get whole ones. */
const LEAST = 20;

/** An event as lines: one, cut to fit, or as many as its text has. */
export function linesOf(event: TimelineEvent, terminal: Terminal, full: boolean): readonly string[] {
  const { word, style } = MARK[event.what];
  const head = `${String(event.seq).padStart(SEQ)}  ${clock(event.at)}  ${word.padEnd(WORD)}  `;
  const room =
    terminal.columns === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST, terminal.columns - head.length);
  const texts = event.call === undefined ? spoken(event, room, full) : called(event.call, event, room, full);
  const painted = style === undefined ? head : head.replace(word, paint(terminal, style, word));
  return texts.map((text, at) => {
    const line = at === 0 ? `${painted}${text}` : `${" ".repeat(head.length)}${text}`;
    return event.takenBack === true ? paint(terminal, "dim", line) : line;
  });
}

function spoken({ text, takenBack }: TimelineEvent, room: number, full: boolean): readonly string[] {
  const back = takenBack === true ? " (taken back)" : "";
  if (!full) return [`${oneLine(text, room - back.length)}${back}`];
  return harmless(text)
    .split("\n")
    .map((line, at) => (at === 0 ? `${line}${back}` : line));
}

/** `✓ ab12cd34 edit_file {"path":"a.ts"}  12 ms`: the id stands where it can be found, whatever the arguments are. */
function called(call: TimelineCall, { takenBack }: TimelineEvent, room: number, full: boolean): readonly string[] {
  const indent = "  ".repeat(call.id.split(".").length - 1);
  const facts = [call.ms === undefined ? "still open" : lasted(call.ms), ...(takenBack === true ? ["taken back"] : [])];
  const tail = `  ${facts.join(", ")}`;
  const args = call.args === undefined ? "" : ` ${JSON.stringify(call.args)}`;
  const what = `${indent}${markOf(call)} ${shortCall(call.id)} ${call.tool}`;
  const head = full ? `${harmless(`${what}${args}`)}${tail}` : `${cut(`${what}${args}`, room - tail.length)}${tail}`;
  if (full) return [head, ...outputLines(call).map((line) => `${indent}  ${line}`)];
  const why = call.status === undefined || call.status === "success" ? undefined : whyOf(call);
  return why === undefined ? [head] : [head, `${indent}  ${oneLine(why, room - indent.length - 2)}`];
}

/** To one line, the indent kept. */
function cut(text: string, room: number): string {
  const indent = /^ */.exec(text)?.[0] ?? "";
  return `${indent}${oneLine(text, room - indent.length)}`;
}

function markOf({ status }: TimelineCall): string {
  if (status === undefined) return "…";
  return status === "success" ? "✓" : status === "failed" ? "✗" : "–";
}

function whyOf({ status, reason, output }: TimelineCall): string {
  return `${status}${reason === undefined ? "" : ` (${reason})`}: ${textOf(output)}`;
}

function outputLines(call: TimelineCall): readonly string[] {
  if (call.status === undefined) return [];
  return harmless(call.status === "success" ? textOf(call.output) : whyOf(call)).split("\n");
}

function textOf(output: TimelineCall["output"]): string {
  return typeof output === "string" ? output : JSON.stringify(output ?? null);
}

/** The time of day here; the date stands at the top. Records that are damaged have none. */
function clock(at: string): string {
  if (at === "") return "        ";
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
