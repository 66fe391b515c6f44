import { HoldfastError } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Answer, ModelEvent } from "../contracts/model.ts";

/**
 * The answer that events end in, for callers who do not watch them. A failure is thrown, with what was said so far; and
 * events that end without an ending are no success.
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
