import { inWords } from "../base/words.ts";
import { definitionHash, type Permission } from "./offer.ts";
import { ownField } from "./own-field.ts";
import type { SessionToolCatalogSnapshot } from "./snapshot.ts";
import type { CatalogTool } from "./tool.ts";

/** A call that wants to start, and the catalogs it has to do with. */
export interface CallAttempt {
  /** The tool as it is now; nothing when there is none of that name. */
  readonly tool: CatalogTool | undefined;
  readonly name: string;
  /** The arguments as the handler will get them. */
  readonly input: unknown;
  /** What is offered now. */
  readonly live: SessionToolCatalogSnapshot;
  /** What was offered to the model that asked for the call; nothing when no model did. */
  readonly offeredBy?: SessionToolCatalogSnapshot;
}

/**
 * Why a call may not start, in words for the model, or undefined. The catalog that offered the call must allow it and,
 * in plan mode, the current one, too: whichever way the mode has changed in between, the stricter of the two decides.
 */
export function denialOfCall(attempt: CallAttempt): string | undefined {
  const { offeredBy, live, name } = attempt;
  if (offeredBy !== undefined) {
    const denied = deniedBy(offeredBy, attempt);
    if (denied !== undefined) return denied;
    if (live.tool(name) === undefined && !live.planMode) return `${name} has been withdrawn, so it did not run.`;
  }
  return live.planMode ? deniedBy(live, attempt) : undefined;
}

function deniedBy(catalog: SessionToolCatalogSnapshot, attempt: CallAttempt): string | undefined {
  const { name } = attempt;
  const offered = catalog.tool(name);
  if (offered === undefined)
    return catalog.planMode ? hiddenInPlan(name) : `${name} was not offered to you, so it did not run.`;
  const { tool } = attempt;
  if (tool !== undefined && offered.definition !== undefined && offered.definition !== definitionHash(tool))
    return `${name} has changed since it was offered to you, so it did not run. Look at its description again.`;
  return beyond(offered.permission ?? { kind: "any" }, attempt);
}

function hiddenInPlan(name: string): string {
  return `Plan mode is on and ${name} could change something, so it did not run. Put the change into your plan instead.`;
}

function beyond(permission: Permission, { tool, name, input }: CallAttempt): string | undefined {
  switch (permission.kind) {
    case "any":
      return undefined;
    case "actions": {
      const action = ownField(input, permission.field);
      if (typeof action === "string" && permission.allowed.includes(action)) return undefined;
      return `Plan mode is on, so ${name} did not run: in plan mode its ${permission.field} can be ${permission.allowed.join(", ")}.`;
    }
    case "proved": {
      const why = unprovedBecause(tool, input);
      return why === undefined ? undefined : `Plan mode is on, so ${name} did not run: ${why}`;
    }
  }
}

function unprovedBecause(tool: CatalogTool | undefined, input: unknown): string | undefined {
  if (tool?.readOnly === undefined) return UNPROVED;
  try {
    const verdict: Partial<{ readonly readOnly: unknown; readonly why: unknown }> | undefined = tool.readOnly(input);
    // Compared with `true`: a proof that answers anything else, also a promise, has proved nothing.
    if (verdict?.readOnly === true) return undefined;
    return typeof verdict?.why === "string" ? verdict.why : UNPROVED;
  } catch (error) {
    return `whether it changes something could not be told (${inWords(error)}).`;
  }
}

const UNPROVED = "nothing proves that it would change nothing.";
