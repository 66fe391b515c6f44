import { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Answer, ModelEvent } from "../contracts/model.ts";

/**
 * Waits for the answer at the end of a model's events, for callers who do not need the events. Throws MODEL_FAILED,
 * with what was said so far in its cause, or MODEL_UNFINISHED when the events just stop.
 */
export async function answered(events: AsyncIterable<ModelEvent>): Promise<Answer> {
  for await (const event of events) {
    if (event.kind === "end") return event.answer;
    if (event.kind !== "failed") continue;
    const { failure } = event;
    throw new HoldfastError("MODEL_FAILED", { ...failure } as JsonObject, { cause: event });
  }
  throw new HoldfastError("MODEL_UNFINISHED");
}
