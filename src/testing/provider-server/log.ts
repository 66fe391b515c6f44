import type { ProfileId, WireRuleId } from "../../index.ts";
import type { Asked } from "./dialect.ts";

/** One request as the server saw it. */
export interface SeenRequest {
  readonly path: string;
  readonly profile: ProfileId | undefined;
  /** The parsed body; the text if it was not JSON. */
  readonly body: unknown;
  /** What was asked for besides the conversation, in Holdfast's terms; absent when the body could not be read. */
  readonly asked?: Asked;
  /** The seals in its answer. The next request must send every one of them back. */
  readonly seals: readonly string[];
  /** The status of the answer; 0 until there is one. */
  readonly status: number;
  /** Why it was refused, in the provider's words. */
  readonly refusal?: string;
  /** The wire rules it broke. */
  readonly rules: readonly WireRuleId[];
  /**
   * How it ended. `answered`: the whole answer was sent. `left`: the client closed the connection before that. `cut`:
   * the script broke the connection.
   */
  readonly ended: "open" | "answered" | "left" | "cut";
}

export type RequestLog = { -readonly [Field in keyof SeenRequest]: SeenRequest[Field] };
