import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Random } from "../base/random.ts";
import type {
  Answer,
  Model,
  ModelFailure,
  ModelRequest,
  PartialAnswer,
  SentRequest,
  Usage,
} from "../contracts/model.ts";
import { isBlankText } from "../wire/item.ts";
import type { RunEvent } from "./events.ts";
import type { RunBudget } from "./limits.ts";
import { untilStopped } from "./model-events.ts";
import type { Teller } from "./teller.ts";

/** How often, and how patiently, a model is asked again after a failure. */
export interface RetryOptions {
  /** Questions in all, the first one included. Default 5. */
  readonly attempts?: number;
  /** The first wait in milliseconds; it doubles each time. Default 500. */
  readonly firstMs?: number;
  /** The longest wait in milliseconds, unless the provider asks for a longer one. Default 30 000. */
  readonly mostMs?: number;
  /** If the provider asks for a longer wait than this, in milliseconds, the question fails. Default 120 000. */
  readonly patienceMs?: number;
}

export type Asked =
  | { readonly answer: Answer }
  /** It was not asked: in the moment of sending, prompt, tools and mode did not agree. */
  | { readonly misaligned: HoldfastError }
  | Unanswered;

/** A question without an answer, with what was said of one before it broke off. */
export interface Unanswered {
  readonly failure: ModelFailure;
  readonly partial: PartialAnswer;
  readonly attempt: number;
}

export interface Asking {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly budget: RunBudget;
  /** Names this step's evaluations. */
  readonly evaluation: string;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Looks at the request in the moment of sending, and throws PROMPT_MISALIGNED. */
  readonly inspect: (sent?: SentRequest) => void;
  /** Tells, and writes down, what the look found and somebody wants sent all the same. */
  readonly insisted: () => AsyncGenerator<RunEvent, void, undefined>;
  /** Keeps what became of a question that will be asked again, before it is. */
  readonly failed: (unanswered: Unanswered) => Promise<void>;
  readonly teller?: Teller | undefined;
}

/**
 * Asks until there is an answer or no sense in asking on. Only a question is ever repeated: nothing of an answer that
 * broke off is opened or run, so no call can happen twice.
 */
export async function* ask(asking: Asking): AsyncGenerator<RunEvent, Asked, undefined> {
  const { retry, clock, random, signal } = asking;
  const { attempts = 5 } = retry;
  for (let attempt = 1; ; attempt += 1) {
    const asked = yield* askOnce(asking, attempt);
    if ("misaligned" in asked || ("answer" in asked && !isEmpty(asked.answer))) return asked;
    const unanswered = "answer" in asked ? { failure: EMPTY, partial: asked.answer, attempt } : asked;
    const { failure } = unanswered;
    const waitMs = waitBefore(failure, attempt, retry, random);
    if (attempt >= attempts || waitMs === undefined || asking.budget.met !== undefined) return asked;
    await asking.failed(unanswered);
    yield { kind: "retry", failure, attempt, waitMs };
    try {
      await clock.sleep(waitMs, signal, "keep-alive");
    } catch {
      return { failure: ABORTED, partial: NOTHING, attempt };
    }
  }
}

/** Nothing was said and nothing was called: providers do that under load, and the next question is often answered. */
export function isEmpty({ items, stop }: Answer): boolean {
  if (stop !== "stop" && stop !== "other") return false;
  return items.every((item) => {
    if (item.kind === "assistant") return item.parts.every(isBlankText);
    return item.kind === "reasoning";
  });
}

async function* askOnce(asking: Asking, attempt: number): AsyncGenerator<RunEvent, Asked, undefined> {
  const { teller, model, request, clock } = asking;
  const about = { request: `${asking.evaluation}.${attempt}`, model: model.name, provider: model.profile.id, attempt };
  const begun = clock.monotonic();
  const heard: Heard = {};
  let over: JsonObject = { failure: "left" }; // whoever followed the turn may walk away in the middle of an answer
  teller?.moment("request-begun", { ...about, items: request.items.length, tools: request.tools?.length ?? 0 });
  try {
    const asked = yield* askedOnce(asking, attempt, heard);
    over = overOf(asked);
    return asked;
  } catch (error) {
    over = { failure: "thrown" };
    if (!HoldfastError.is(error, "PROMPT_MISALIGNED")) throw error;
    over = { failure: "misaligned" };
    return { misaligned: error };
  } finally {
    const { usage } = heard; // what was used is told whatever came of it
    const used = usage === undefined ? {} : { usage: { ...usage } };
    teller?.moment("request-over", { ...about, ...used, ...over, elapsedMs: clock.monotonic() - begun });
  }
}

/** How a request went, in names and numbers. */
function overOf(asked: Asked): JsonObject {
  if ("misaligned" in asked) return { failure: "misaligned" };
  const { model: answered } = "answer" in asked ? asked.answer : asked.partial;
  const told = answered === undefined ? {} : { answered };
  if ("failure" in asked) return { ...told, failure: asked.failure.kind };
  return { ...told, stop: asked.answer.stop, calls: asked.answer.calls.length };
}

/** The usage that a model has told of so far: it may stop, throw or be left before it says it once more at its end. */
interface Heard {
  usage?: Usage;
}

async function* askedOnce(asking: Asking, attempt: number, heard: Heard): AsyncGenerator<RunEvent, Asked, undefined> {
  const { model, request, signal, budget, clock } = asking;
  const evaluation = `${asking.evaluation}.${attempt}`;
  const use = (usage: Usage) => {
    budget.use(evaluation, usage, model.name);
    heard.usage = usage;
  };
  const withUsage = <A extends PartialAnswer>(answer: A): A => {
    if (answer.usage !== undefined) use(answer.usage);
    return answer.usage === undefined && heard.usage !== undefined ? { ...answer, usage: heard.usage } : answer;
  };
  const { inspect } = asking;
  inspect(); // also for a model that shows nothing of what it sends
  const events = model.ask(request, { signal, inspect });
  yield* asking.insisted(); // before anything leaves: a model shows its body when it is asked
  let said = "";
  for await (const event of untilStopped(events, signal, clock)) {
    switch (event.kind) {
      case "text-delta":
        said += event.text;
        yield { kind: "text", text: event.text };
        break;
      case "reasoning-delta":
        yield { kind: "reasoning", text: event.text };
        break;
      case "call-delta":
        yield { ...event, kind: "call-written" };
        break;
      case "usage":
        use(event.usage);
        yield { kind: "usage", usage: event.usage, spent: budget.spent };
        break;
      case "end":
        return { answer: withUsage(event.answer) };
      case "failed":
        return { failure: event.failure, partial: withUsage(event.partial), attempt };
    }
  }
  if (!signal.aborted) throw new HoldfastError("MODEL_UNFINISHED");
  return { failure: UNHEARD, partial: withUsage(said === "" ? NOTHING : saying(said)), attempt };
}

function saying(text: string): PartialAnswer {
  return { ...NOTHING, items: [{ kind: "assistant", parts: [{ type: "text", text }] }] };
}

/** How long to wait, or undefined when asking again is no use. Spread by chance, so that many do not come back at once. */
function waitBefore(failure: ModelFailure, attempt: number, retry: RetryOptions, random: Random): number | undefined {
  const { firstMs = 500, mostMs = 30_000, patienceMs = 120_000 } = retry;
  if (!failure.retryable) return undefined;
  const backoff = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  const ours = backoff / 2 + random.fraction() * (backoff / 2);
  const asked = failure.retryAfterMs;
  if (asked === undefined) return ours;
  if (asked > patienceMs) return undefined;
  // Never sooner than the provider asks, and not all in the same moment.
  return asked + random.fraction() * Math.min(firstMs, Math.max(asked, 1));
}

const NOTHING: PartialAnswer = { items: [], unread: [] };
const ABORTED: ModelFailure = {
  kind: "aborted",
  message: "The turn was stopped while it waited to ask again.",
  retryable: false,
  reached: "no",
};
const UNHEARD: ModelFailure = {
  kind: "aborted",
  message: "The turn was stopped, and the model did not say how far it came.",
  retryable: false,
  reached: "maybe",
};
const EMPTY: ModelFailure = {
  kind: "unreadable",
  message: "The answer was empty.",
  retryable: true,
  reached: "yes",
};
