import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { CallOutcome } from "./outcome.ts";
import { type ResourceKey, resourceKey } from "../state/resources.ts";

/** A deadline on the monotonic clock: setting the wall clock does not move it. */
export class Deadline {
  readonly #clock: Clock;
  readonly #at: number;

  private constructor(clock: Clock, at: number) {
    this.#clock = clock;
    this.#at = at;
  }

  /** A deadline in so many milliseconds from now. */
  static after(clock: Clock, ms: number): Deadline {
    if (Number.isNaN(ms)) throw new HoldfastError("BAD_OPTION", { option: "deadline", value: String(ms) });
    return new Deadline(clock, clock.monotonic() + ms);
  }

  /** Milliseconds left; zero or negative once it has passed. */
  get left(): number {
    return this.#at - this.#clock.monotonic();
  }
}

/** The key of the evaluation's deadline among the resources. Every call of the run must keep it. */
export const DEADLINE: ResourceKey<Deadline> = resourceKey("deadline");

/** Thrown when the time for the whole evaluation is up. The call that was running is closed like any other. */
export class PromptEvaluationError extends HoldfastError {
  override readonly name = "PromptEvaluationError";
  readonly phase = "tool";
  /** How the call that was running was closed. */
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome) {
    super("EVALUATION_ENDED", { call: outcome.callId, tool: outcome.tool });
    this.outcome = outcome;
  }
}
