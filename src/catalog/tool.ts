import type { JsonObject } from "../base/json.ts";
import type { ReadOnlyProof, ToolAccess, ToolActions } from "../contracts/tool-access.ts";
import type { BodyOf } from "../records/kinds.ts";

/** `act`: any tool may run. `plan`: only calls that cannot change anything. */
export type Mode = BodyOf<"mode-changed">["mode"];

/** A tool as the catalog sees it: what a model reads about it, and what is known of what it does. */
export interface CatalogTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: JsonObject;
  readonly access: ToolAccess;
  /** For a tool with several actions: which argument chooses, and what each action touches. */
  readonly actions?: ToolActions;
  /** For a tool that may change things: proves that one call does not. */
  readonly readOnly?: ReadOnlyProof;
  /** What it does outside, by name. A tool with effects counts as `external`, even if its access is `read`. */
  readonly effects?: Readonly<Record<string, unknown>>;
  /** What the tool's server says about it, such as `readOnlyHint`. Shown to people, never relied on. */
  readonly annotations?: JsonObject;
}

/** The name of the tool that asks the user. It is offered only while there is somebody to answer. */
export const ASK_USER = "ask_user";
