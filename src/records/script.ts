import { HoldfastError } from "../base/errors.ts";
import { type Json, parseJson } from "../base/json.ts";

/**
 * What a model is to say, in nobody's format. The scripted model plays it, and the strict provider server says it in
 * the words of each provider, so that one script tests them all.
 */
export type Script = readonly ScriptStep[] | ((asked: ScriptQuestion) => ScriptStep | Promise<ScriptStep>);

export interface ScriptQuestion {
  /** How many questions came before. */
  readonly nth: number;
  /** A `ModelRequest` for the scripted model, the provider's body for the server. */
  readonly request: unknown;
}

export type ScriptStep = ScriptedAnswer | ScriptedFault;

export interface ScriptedAnswer {
  readonly reasoning?: string;
  readonly text?: string;
  /** Said instead of a text, and the answer stops with `refusal`. */
  readonly refusal?: string;
  readonly calls?: readonly ScriptedCall[];
  /** `stop`, or `tool-calls` when there are any, unless said otherwise. */
  readonly stop?: "stop" | "tool-calls" | "length" | "refusal" | "content-filter";
  readonly usage?: { readonly input: number; readonly output: number };
  /** Waits before every piece. */
  readonly slowMs?: number;
  /** The stream ends here, without a word: after so many events, or in the middle of one. */
  readonly cutAfter?: CutPoint;
}

/** `politely`: the body ends as if it were whole, as it does behind some proxies; otherwise the line is dropped. */
export type CutPoint = ({ readonly events: number } | { readonly bytes: number }) & { readonly politely?: true };

export interface ScriptedCall {
  readonly name: string;
  readonly input?: Json;
  /** The arguments as text, which need not be JSON. */
  readonly inputText?: string;
  /** As a careless provider would give it: empty, used before, in a strange alphabet. Derived when left out. */
  readonly id?: string;
}

export interface ScriptedFault {
  /** `silent`: takes the request and never answers. `hang-up`: takes it and closes the line. */
  readonly fault:
    | "rate-limited"
    | "out-of-quota"
    | "overloaded"
    | "provider-broken"
    | "too-long"
    | "refused-request"
    | "not-allowed"
    | "unreadable"
    | "silent"
    | "hang-up";
  /** In seconds, as providers say it. */
  readonly retryAfter?: number;
  /** Said before the fault strikes, in a stream that had begun. */
  readonly after?: ScriptedAnswer;
}

/** A script from the text of a file: a JSON array, or one step a line. */
export function readScript(text: string): readonly ScriptStep[] {
  const whole = parseJson(text);
  if (whole.ok && Array.isArray(whole.value)) return (whole.value as readonly unknown[]).map(asStep);
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, nth) => {
      const parsed = parseJson(line);
      if (!parsed.ok) throw new HoldfastError("SCRIPT_INVALID", { step: nth, why: parsed.error.detail });
      return asStep(parsed.value, nth);
    });
}

/** The step that answers a question. A script that has run out says so: an answer nobody wrote would hide a loop. */
export async function stepFor(script: Script, question: ScriptQuestion): Promise<ScriptStep> {
  const step = typeof script === "function" ? await script(question) : script[question.nth];
  if (step === undefined) throw new HoldfastError("SCRIPT_EXHAUSTED", { asked: question.nth + 1 });
  return asStep(step, question.nth);
}

export function isFault(step: ScriptStep): step is ScriptedFault {
  return "fault" in step;
}

const ANSWER_FIELDS = ["reasoning", "text", "refusal", "calls", "stop", "usage", "slowMs", "cutAfter"];
const FAULT_FIELDS = ["fault", "retryAfter", "after"];
const FIELDS: ReadonlySet<string> = new Set([...ANSWER_FIELDS, ...FAULT_FIELDS]);

/** A misspelt field would be an answer without it, so it is refused. */
function asStep(step: unknown, nth: number): ScriptStep {
  const fields = typeof step === "object" && step !== null && !Array.isArray(step) ? Object.keys(step) : undefined;
  const unknown = fields?.find((field) => !FIELDS.has(field));
  if (fields === undefined || unknown !== undefined)
    throw new HoldfastError("SCRIPT_INVALID", { step: nth, why: unknown ?? "not an object" });
  return step as ScriptStep;
}
