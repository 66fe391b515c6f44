import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { CallOutcome } from "./outcome.ts";
import { type ResourceKey, resourceKey } from "../state/resources.ts";

/** A moment on the monotonic clock: setting the wall clock moves no deadline. */
export class Deadline {
  readonly #clock: Clock;
  readonly #at: number;

  private constructor(clock: Clock, at: number) {
    this.#clock = clock;
    this.#at = at;
  }

  static after(clock: Clock, ms: number): Deadline {
    if (Number.isNaN(ms)) throw new HoldfastError("BAD_OPTION", { option: "deadline", value: String(ms) });
    return new Deadline(clock, clock.monotonic() + ms);
  }

  /** Milliseconds; not positive once it has passed. */
  get left(): number {
    return this.#at - this.#clock.monotonic();
  }
}

/** The evaluation's deadline, among the resources: every call of the run keeps it. */
export const DEADLINE: ResourceKey<Deadline> = resourceKey("deadline");

/** The run as a whole cannot go on: its time is up. The call that met the end is closed like any other. */
export class PromptEvaluationError extends HoldfastError {
  override readonly name = "PromptEvaluationError";
  readonly phase = "tool";
  /** How that call was closed. */
  readonly outcome: CallOutcome;

  constructor(outcome: CallOutcome) {
    super("EVALUATION_ENDED", { call: outcome.callId, tool: outcome.tool });
    this.outcome = outcome;
  }
}
