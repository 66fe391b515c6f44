import type { JsonObject } from "../base/json.ts";
import type { ReadOnlyProof, ToolAccess, ToolActions } from "../contracts/tool-access.ts";
import type { BodyOf } from "../records/kinds.ts";

/** `act`: everything that is offered may run. `plan`: only what cannot change anything. */
export type Mode = BodyOf<"mode-changed">["mode"];

/** A tool as the catalog sees it: what a model is told of it, and what is known of what it does. */
export interface CatalogTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: JsonObject;
  readonly access: ToolAccess;
  /** For a tool of several actions: which argument chooses, and what each of them touches. */
  readonly actions?: ToolActions;
  /** For a tool that may change things: proves of one call that it does not. */
  readonly readOnly?: ReadOnlyProof;
  /** What it does outside, by name. A tool that declares any reaches there, whatever it says of its access. */
  readonly effects?: Readonly<Record<string, unknown>>;
  /** What the tool's server says of it, such as `readOnlyHint`. Shown to people; never believed. */
  readonly annotations?: JsonObject;
}

/** The tool that asks the user. It is offered only while there is somebody to answer. */
export const ASK_USER = "ask_user";
