import type { Json, JsonObject } from "../base/json.ts";
import { inWords } from "../base/words.ts";
import type { ToolAccess } from "../contracts/tool-access.ts";
import type { CallEffects, OutputStatus } from "../records/kinds.ts";
import type { ToolInvoked } from "../state/default-slices.ts";
import { type EffectReport, effectWords } from "./effect.ts";
import { type Discarded, type Ending, reasonOf, STATUS, type VisibilityExpansionRequired } from "./ending.ts";
import type { AttemptFailure } from "./validators.ts";
import type { ClosedCall } from "./ledger.ts";
import { keptParts, type ResultPart } from "./result-parts.ts";

/** How a call ended: what the model reads, and what a person can check. */
export interface CallOutcome {
  readonly callId: string;
  readonly tool: string;
  /** True when the call succeeded and committed. Otherwise everything it changed was undone. */
  readonly ok: boolean;
  readonly status: OutputStatus;
  /** Why it ended so, as a word: `succeeded`, the failure's own code, `denied`, `timeout`, … */
  readonly reason: string;
  /** The result, or if there is none, what the model reads instead. */
  readonly output: Json;
  /** The result itself, when it is more than text or JSON. `output` then describes it in words. */
  readonly parts?: readonly ResultPart[];
  /** How long the call took, in milliseconds. */
  readonly elapsed: number;
  /** How often the call was tried. More than one when another call changed what this one had read, or a validator objected. */
  readonly attempts: number;
  /** What the call did outside, and what became of it. */
  readonly effects: readonly EffectReport[];
  /** Attempts inside this call whose result the validators refused. */
  readonly attemptFailures?: readonly AttemptFailure[];
  /** The fields that the tool added to the call's record with `call.note`. */
  readonly notes?: JsonObject;
  /** What a failed tool returned in addition to its message. */
  readonly payload?: Json;
  /** What the tool asked to see first, when the call ended for that reason. */
  readonly expansion?: VisibilityExpansionRequired;
}

export interface OutcomeFacts {
  readonly callId: string;
  readonly tool: string;
  readonly elapsed: number;
  readonly attempts: number;
  readonly effects: readonly EffectReport[];
  readonly attemptFailures?: readonly AttemptFailure[];
  readonly notes?: JsonObject;
  /** What the handler had put out when it was stopped. */
  readonly progress?: string;
  /** Children that could not be taken back. */
  readonly stuckChildren?: readonly string[];
  /** What its tool may touch. */
  readonly access?: ToolAccess;
}

/** Nothing is said of changes to whoever could make none, and nothing of what lies outside, which is told by its effects. */
const UNDONE: Readonly<Record<ToolAccess, readonly string[]>> = {
  read: [],
  write: ["Its changes were undone."],
  execute: ["Its changes were undone."],
  external: ["Its changes here were undone."],
};

export function outcomeOf(ending: Ending, facts: OutcomeFacts): CallOutcome {
  const { stuckChildren = [], progress = "", access = "write", ...known } = facts;
  const stopped = STOPPED.has(ending.kind) && facts.attempts > 0 ? [stoppedWords(facts.elapsed, progress)] : [];
  return {
    ...known,
    ok: ending.kind === "succeeded",
    status: STATUS[ending.kind],
    reason: reasonOf(ending),
    output:
      ending.kind === "succeeded"
        ? ending.value
        : wordsOf(ending, mayHaveRun(ending, facts) ? UNDONE[access] : [], facts.effects, stuckChildren, stopped),
    ...(ending.kind === "succeeded" && ending.parts !== undefined ? { parts: ending.parts } : {}),
    ...(ending.kind === "failed" && ending.payload !== undefined ? { payload: ending.payload } : {}),
    ...(ending.kind === "expansion" ? { expansion: ending.request } : {}),
  };
}

/** A model that reads of undone changes takes a call for one that ran. Whoever denies says what became of it. */
function mayHaveRun(ending: Discarded, { attempts }: OutcomeFacts): boolean {
  if (ending.kind === "bad-arguments") return ending.ran === true;
  return ending.kind !== "denied" && attempts > 0;
}

const STOPPED: ReadonlySet<Ending["kind"]> = new Set(["canceled", "timeout", "evaluation-ended"]);

/** A call that was stopped while it ran: how long it had run, and what it had put out. */
function stoppedWords(elapsed: number, progress: string): string {
  const ran = `It had run for ${(elapsed / 1000).toFixed(1)} s.`;
  return progress === "" ? ran : `${ran} Its output so far:\n${progress}`;
}

/** The one record that closes it. */
export function closingOf(outcome: CallOutcome): ClosedCall {
  const { callId, tool, ok, status, reason, output, parts, effects, attemptFailures, notes } = outcome;
  const failures = attemptFailures === undefined ? {} : { attemptFailures };
  const noted = notes === undefined ? {} : { notes };
  const said = parts === undefined ? { output } : { parts: keptParts(parts), contents: contentsOf(parts) };
  return {
    callId,
    tool,
    status,
    ...(ok ? {} : { reason }),
    ...said,
    effects: effectsOf(effects),
    ...failures,
    ...noted,
  };
}

function contentsOf(parts: readonly ResultPart[]): NonNullable<ClosedCall["contents"]> {
  return parts.flatMap((part) => (part.type === "text" ? [] : [{ name: part.blob.name, bytes: part.bytes }]));
}

/** The line it leaves in the log. */
export function loggedOf(outcome: CallOutcome, at: string): ToolInvoked {
  const { callId, tool, status, reason, ok, elapsed, payload } = outcome;
  const line = { toolCallId: callId, toolName: tool, status, reason, success: ok, at, elapsed };
  return payload === undefined ? line : { ...line, payload };
}

/** Only that it ended, and how: what was logged and noted of it could not be kept, and whoever reads of it is told. */
export function bareOf(outcome: CallOutcome, why: unknown): CallOutcome {
  const { notes: _notes, payload: _payload, attemptFailures: _failures, ...bare } = outcome;
  const lost = `What it logged and noted could not be kept: ${inWords(why)}`;
  return { ...bare, output: behind(inWords(bare.output), [lost]) };
}

export function summaryOf({ output }: CallOutcome): string {
  return (typeof output === "string" ? output : JSON.stringify(output)).slice(0, SUMMARY).toWellFormed();
}

const SUMMARY = 200;

/** What the model reads of a discarded call: that nothing of it remains, and what could not be taken back. */
function wordsOf(
  ending: Discarded,
  changes: readonly string[],
  effects: readonly EffectReport[],
  stuckChildren: readonly string[],
  stopped: readonly string[],
): string {
  const stuck = effects.filter(({ is }) => is !== "undone").map(effectWords);
  const outside = stuck.length === 0 ? [] : [`Effects outside: ${inWords(stuck.join("; "))}.`];
  const children = stuckChildren.length === 0 ? [] : [`Not taken back: ${inWords(stuckChildren.join("; "))}.`];
  return behind(inWords(ending.message), [...changes, ...outside, ...children, ...stopped]);
}

/** Behind several lines on a line of its own: a command's last line would seem to go on with it. */
function behind(message: string, sentences: readonly string[]): string {
  if (sentences.length === 0) return message;
  const isOneLine = !message.includes("\n");
  return `${isOneLine ? `${ended(message)} ` : message.replace(/\n?$/, "\n")}${sentences.join(" ")}`;
}

/** A list at the end of a message would seem to go on with what follows it. */
function ended(message: string): string {
  return /[\p{L}\p{N}]$/u.test(message) ? `${message}.` : message;
}

function effectsOf(effects: readonly EffectReport[]): CallEffects {
  if (effects.some(({ is }) => is === "unknown")) return "unknown";
  return effects.some(({ is }) => is !== "undone") ? "happened" : "none";
}
