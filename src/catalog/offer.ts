import { deepFreeze, frozenCopy } from "../base/freeze.ts";
import { canonicalHash, type Sha256 } from "../base/hash.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { ToolOffer } from "../contracts/model.ts";
import type { ToolAccess } from "../contracts/tool-access.ts";
import { maskActions } from "./mask.ts";
import type { CatalogTool, Mode } from "./tool.ts";

/** Which calls of an offered tool may run: any, only some actions, or only those proved to change nothing. */
export type Permission =
  | { readonly kind: "any" }
  | { readonly kind: "actions"; readonly field: string; readonly allowed: readonly string[] }
  | { readonly kind: "proved" };

/** A tool as it is offered to a model in one mode. Frozen, so what was hashed is what is sent. */
export interface OfferedTool extends ToolOffer {
  readonly permission: Permission;
  /** Hash of the tool's definition, the same in every mode. */
  readonly definition: Sha256;
}

const ANY: Permission = { kind: "any" };
const PROVED: Permission = { kind: "proved" };
const PROVED_NOTE = "Plan mode: only calls that are proved to change nothing will run.";

/** How a tool is offered in a mode; undefined if it is not. The same tool gives the same object. */
export function offerOf(tool: CatalogTool, mode: Mode): OfferedTool | undefined {
  const made = offersOf(tool);
  if (!made.has(mode)) made.set(mode, mode === "act" ? offerAs(tool, ANY) : offerInPlan(tool));
  return made.get(mode);
}

/** Hash of everything about a tool that is data. What a handler or a proof does cannot be hashed, only that there is one. */
export function definitionHash(tool: CatalogTool): Sha256 {
  const known = definitions.get(tool);
  if (known !== undefined) return known;
  const { name, description, inputSchema, actions, readOnly } = tool;
  const parts: Json = [
    name,
    description,
    inputSchema,
    accessOf(tool),
    (actions ?? null) as Json,
    readOnly !== undefined,
  ];
  const hash = canonicalHash(parts);
  definitions.set(tool, hash);
  return hash;
}

const definitions = new WeakMap<CatalogTool, Sha256>();
const offers = new WeakMap<CatalogTool, Map<Mode, OfferedTool | undefined>>();

function offersOf(tool: CatalogTool): Map<Mode, OfferedTool | undefined> {
  const made = offers.get(tool) ?? new Map<Mode, OfferedTool | undefined>();
  offers.set(tool, made);
  return made;
}

/** Whatever is not known to leave things as they are is not offered. A server's own hints are no knowledge. */
function offerInPlan(tool: CatalogTool): OfferedTool | undefined {
  const { actions, readOnly } = tool;
  const access = accessOf(tool);
  if (actions !== undefined && access !== "external") {
    const allowed = Object.keys(actions.access).filter((action) => actions.access[action] === "read");
    if (allowed.length > 0) return offerAs(tool, { kind: "actions", field: actions.field, allowed });
    return readOnly === undefined ? undefined : offerAs(tool, PROVED);
  }
  if (access === "read") return offerAs(tool, ANY);
  return readOnly === undefined ? undefined : offerAs(tool, PROVED);
}

/** A tool that declares effects outside reaches there, whatever it says of its access. */
function accessOf({ access, effects = {} }: CatalogTool): ToolAccess {
  return access === "read" && Object.keys(effects).length > 0 ? "external" : access;
}

function offerAs(tool: CatalogTool, permission: Permission): OfferedTool {
  const { name, description } = tool;
  const note = permission.kind === "proved" ? PROVED_NOTE : "";
  const input: JsonObject =
    permission.kind === "actions" ? maskActions(tool.inputSchema, permission) : frozenCopy(tool.inputSchema);
  return deepFreeze({
    name,
    ...(description === "" && note === "" ? {} : { description: [description, note].filter(Boolean).join(" ") }),
    input,
    permission,
    definition: definitionHash(tool),
  });
}
