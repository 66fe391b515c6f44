import type { Sha256 } from "../base/hash.ts";
import { definitionHash, offerOf } from "./offer.ts";
import { SessionToolCatalogSnapshot } from "./snapshot.ts";
import { ASK_USER, type CatalogTool, type Mode } from "./tool.ts";

/** What is true of the catalog now, as data. One value holds every number, so no reader sees half of a change. */
export interface CatalogState {
  readonly version: number;
  readonly epoch: number;
  readonly mode: Mode;
  readonly requestUserInputEnabled: boolean;
  /** Hash of every tool as it was defined, by name. */
  readonly tools: Readonly<Record<string, Sha256>>;
  /** Why the last change happened. */
  readonly reason: string;
  /** Offered as in plan mode though it is in act mode, because it works for somebody who plans. */
  readonly parentPlans?: true;
  /** The session that this one works for, by name. */
  readonly parent?: string;
}

export type CatalogChange = Partial<Pick<CatalogState, "mode" | "requestUserInputEnabled" | "tools">> & {
  readonly parentPlans?: boolean;
};

export const INITIAL_CATALOG: CatalogState = {
  version: 0,
  epoch: 0,
  mode: "act",
  requestUserInputEnabled: false,
  tools: {},
  reason: "opened",
};

/** The next state: the same reference when nothing would change, else one epoch later. */
export function changeCatalog(now: CatalogState, change: CatalogChange, reason: string): CatalogState {
  const { mode = now.mode, requestUserInputEnabled = now.requestUserInputEnabled, tools = now.tools } = change;
  const sameTools = equalTools(now.tools, tools);
  const parentPlans = mode === "act" && (change.parentPlans ?? now.parentPlans ?? false);
  const sameMode = mode === now.mode && parentPlans === (now.parentPlans ?? false);
  if (sameTools && sameMode && requestUserInputEnabled === now.requestUserInputEnabled) return now;
  return {
    version: sameTools ? now.version : now.version + 1,
    epoch: now.epoch + 1,
    mode,
    requestUserInputEnabled,
    tools: sameTools ? now.tools : tools,
    reason,
    ...(parentPlans ? { parentPlans } : {}),
    ...(now.parent === undefined ? {} : { parent: now.parent }),
  };
}

/**
 * What going back makes of it. Numbers only ever rise, the tools are those of this process, and nothing opens up: a
 * boundary in plan mode leads back to plan mode, and a session that is in plan mode stays there.
 */
export function restoreCatalog(now: CatalogState, then: CatalogState): CatalogState {
  const mode = now.mode === "plan" || then.mode === "plan" ? "plan" : "act";
  return changeCatalog(now, { mode }, "restored");
}

export function hashTools(tools: Iterable<CatalogTool>): CatalogState["tools"] {
  return Object.fromEntries([...tools].map((tool) => [tool.name, definitionHash(tool)]));
}

/** What is offered in a state of the catalog, of the tools there are. */
export function snapshotCatalog(state: CatalogState, tools: Iterable<CatalogTool>): SessionToolCatalogSnapshot {
  const { version, epoch, requestUserInputEnabled } = state;
  const mode = state.parentPlans === true ? "plan" : state.mode;
  const offered = [...tools].flatMap((tool) => {
    if (tool.name === ASK_USER && !requestUserInputEnabled) return [];
    return offerOf(tool, mode) ?? [];
  });
  return new SessionToolCatalogSnapshot(version, epoch, mode === "plan", requestUserInputEnabled, offered);
}

function equalTools(a: CatalogState["tools"], b: CatalogState["tools"]): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
