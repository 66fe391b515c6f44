import type { JsonObject } from "../../base/json.ts";
import type { WireProfile } from "../../wire/profiles.ts";

/** How one request is written. */
export interface Writing {
  readonly model: string;
  readonly profile: WireProfile;
  readonly stream: boolean;
  /** This provider demands a limit in every request. */
  readonly maxOutputTokens: number;
  readonly cache: boolean;
  readonly thinking: "adaptive" | "budget";
  readonly body: JsonObject;
}
