import type { JsonObject } from "../../base/json.ts";
import type { WireProfile } from "../../wire/profiles.ts";

/** How one request is written. */
export interface Writing {
  readonly model: string;
  readonly profile: WireProfile;
  readonly stream: boolean;
  readonly sealedReasoning: boolean;
  readonly echoReasoning: boolean;
  /** The older name of the limit, which every other server knows. */
  readonly limitField: "max_tokens" | "max_completion_tokens";
  readonly body: JsonObject;
}
