import type { Sha256 } from "../base/hash.ts";
import { definitionHash, offerOf } from "./offer.ts";
import { SessionToolCatalogSnapshot } from "./snapshot.ts";
import { ASK_USER, type CatalogTool, type Mode } from "./tool.ts";

/** The current state of the catalog, as data. It is one value, so no reader sees half of a change. */
export interface CatalogState {
  readonly version: number;
  readonly epoch: number;
  readonly mode: Mode;
  readonly requestUserInputEnabled: boolean;
  /** Hash of every tool's definition, by name. */
  readonly tools: Readonly<Record<string, Sha256>>;
  /** Why the last change happened. */
  readonly reason: string;
  /** It offers as in plan mode, although its own mode is `act`, because the session it works for is in plan mode. */
  readonly parentPlans?: true;
  /** The id of the session that this one works for. */
  readonly parent?: string;
}

/** A change of the catalog. What is left out stays as it is. */
export type CatalogChange = Partial<Pick<CatalogState, "mode" | "requestUserInputEnabled" | "tools">> & {
  readonly parentPlans?: boolean;
};

/** The catalog of a new session: no tools, act mode. */
export const INITIAL_CATALOG: CatalogState = {
  version: 0,
  epoch: 0,
  mode: "act",
  requestUserInputEnabled: false,
  tools: {},
  reason: "opened",
};

/** The catalog after a change: the same reference if nothing changes, otherwise with the next epoch. */
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

/** Hashes of the tools' definitions, by name. */
export function hashTools(tools: Iterable<CatalogTool>): CatalogState["tools"] {
  return Object.fromEntries([...tools].map((tool) => [tool.name, definitionHash(tool)]));
}

/** Which of these tools a catalog offers, and how. */
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
