import type { ProfileId, WireRuleId } from "../../index.ts";
import type { Asked } from "./dialect.ts";

/** One request as the server saw it, for a test to look at. */
export interface SeenRequest {
  readonly path: string;
  readonly profile: ProfileId | undefined;
  /** Parsed where it was JSON, else the text. */
  readonly body: unknown;
  /** What was asked for besides the conversation, in our words; nothing where the body could not be read. */
  readonly asked?: Asked;
  /** The seals that its answer carried, every one of which wants to come back with the next request. */
  readonly seals: readonly string[];
  /** What was answered; 0 until something was. */
  readonly status: number;
  /** Why it was refused, in the provider's words. */
  readonly refusal?: string;
  /** The wire rules it broke. */
  readonly rules: readonly WireRuleId[];
  /**
   * How it ended. `answered`: the whole answer went out. `left`: the client closed the line before that. `cut`: the
   * script did.
   */
  readonly ended: "open" | "answered" | "left" | "cut";
}

export type RequestLog = { -readonly [Field in keyof SeenRequest]: SeenRequest[Field] };
