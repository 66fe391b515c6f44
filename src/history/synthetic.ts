import { fingerprint } from "../base/fingerprint.ts";
import type { CallItem, OutputItem, Part, ToolCallId, UserItem } from "../wire/item.ts";
import { deniedWords } from "../wire/denial.ts";
import { resultParts, toolCallId } from "../wire/item.ts";
import type { OutputReason, OutputStatus } from "../wire/status.ts";

const EFFECTS_UNKNOWN = "Its effects may have happened.";

/** What the model reads instead of a result. The first is the seed's sentence, word for word. */
const INTERRUPTED = "Tool execution was interrupted. Output was not received.";
const SENTENCE: ReadonlyMap<OutputReason, string> = new Map<OutputReason, string>([
  ["deadline", "Tool execution passed its deadline. Output was not received."],
  ["approval-unanswered", "Tool execution was not approved in time. The tool did not run."],
]);

export interface SyntheticEnd {
  readonly status: OutputStatus;
  readonly reason: OutputReason;
  /** Why it was denied, where somebody said so. */
  readonly because?: string;
  /** The id under which the call is sent, when it is not its own. */
  readonly callId?: ToolCallId;
}

/**
 * The output of a call that never got one. Everything in it is derived from the call, its time included: with a clock
 * in it two projections of one log would differ, and the provider's cache would miss.
 */
export function syntheticOutput(call: CallItem, end: SyntheticEnd): OutputItem {
  const callId = end.callId ?? call.callId;
  return Object.freeze({
    kind: "output",
    callKind: call.callKind === "shell" ? "function" : call.callKind,
    ...(callId === undefined ? {} : { callId }),
    name: call.name,
    status: end.status,
    reason: end.reason,
    // A client search answers with the tools it found; words would be taken for one.
    parts: partsOf(call, end),
    synthetic: true,
    ...(call.id === undefined ? {} : { id: `syn_${fingerprint(call.id)}` }),
    ...(call.at === undefined ? {} : { at: call.at }),
  } satisfies OutputItem);
}

/** One black pixel: a screen can only be answered with a picture, and this one shows nothing. */
export const BLANK_SCREEN =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

function partsOf(call: CallItem, end: SyntheticEnd): readonly Part[] {
  if (call.callKind === "search") return [];
  const words: Part = { type: "text", text: sentence(call, end) };
  if (call.callKind !== "computer") return [words];
  return [{ type: "image", media: { mediaType: "image/png", url: BLANK_SCREEN } }, words];
}

function sentence(call: CallItem, { reason, because }: SyntheticEnd): string {
  if (reason === "denied") return deniedWords(because);
  const text = SENTENCE.get(reason) ?? INTERRUPTED;
  const ran = reason !== "approval-unanswered";
  return ran && call.effects !== "none" ? `${text} ${EFFECTS_UNKNOWN}` : text;
}

/** A new id for the n-th call that carries an id already in use, or none at all: the same in every process. */
export function derivedCallId(call: CallItem, nth: number): ToolCallId {
  return toolCallId(
    `call_${fingerprint(`${call.callKind}\n${call.callId ?? ""}\n${call.name}\n${call.id ?? ""}\n${nth}`).slice(0, 24)}`,
  );
}

/** A real result that came after its call had been reported as interrupted: told once, where it arrived. */
export function lateNote(call: CallItem, output: OutputItem): UserItem {
  return note(
    "late-result",
    `The tool ${call.name}, reported as interrupted earlier, has ended after all. Its result:`,
    output,
  );
}

/** A pair whose tool is no longer offered. Written as prose that does not look like a call: models copy what they see. */
export function goneNote(call: CallItem, output: OutputItem | undefined, denial?: string): UserItem {
  const used = `An earlier step used ${call.name}, which is no longer offered`;
  const text = denial === undefined ? `${used}, and was interrupted.` : `${used}. ${denial}`;
  return note("tool-gone", output === undefined ? text : `${used}. What it returned:`, output);
}

function note(notice: "late-result" | "tool-gone", text: string, output: OutputItem | undefined): UserItem {
  const result =
    output === undefined ? [] : resultParts(output).filter((part) => part.type !== "text" || part.text.trim() !== "");
  // After a colon and no word, what is said next would be read as the result.
  const words = output !== undefined && result.length === 0 ? `${text} nothing.` : text;
  const parts: Part[] = [{ type: "text", text: words, notice }, ...result];
  return Object.freeze({
    kind: "user",
    notice,
    parts,
    ...(output?.at === undefined ? {} : { at: output.at }),
  } satisfies UserItem);
}
