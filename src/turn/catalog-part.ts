import { HoldfastError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { type CatalogState, INITIAL_CATALOG, restoreCatalog } from "../catalog/state.ts";
import { boolean, count, fields, json, oneOf, optional, string } from "../records/shape.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { Redactor } from "../records/redact.ts";
import type { Part, RootChange } from "../state/part.ts";
import type { SessionCatalog } from "./session-catalog.ts";

const shape = fields({
  version: count,
  epoch: count,
  mode: oneOf("act", "plan"),
  requestUserInputEnabled: boolean,
  tools: json,
  reason: string,
  parentPlans: optional(boolean),
  parent: optional(string),
});

/**
 * The catalog in the root: captured by snapshots, kept by checkpoints, forked and reopened with everything else. It is
 * reserved, so that no call can change it.
 */
export const catalogPart: Part<CatalogState> = {
  name: "catalog",
  policy: "state",
  initial: INITIAL_CATALOG,
  reserved: true,
  exact: true, // told by hashes: it is the program's own, and a request says it as it is
  encode: (value) => ({ ...value }),
  decode,
  change: (before, after) => (before === after ? undefined : { delta: { ...after } }),
  apply: (_, delta) => decode(delta),
  restored: restoreCatalog,
};

/** What the journal is told when going back has changed the catalog. */
export function catalogDrafts(catalog: SessionCatalog, { root }: RootChange): readonly RecordDraft[] {
  return catalog.draftsOf(catalog.own, root.get(catalogPart.name) as CatalogState);
}

/** The only words of somebody's in a kept catalog, hidden. The same reference when there is nothing to hide. */
export function withoutSecretReason(data: Json, redactor: Redactor): Json {
  const { reason = "" } = Object(data) as { readonly reason?: string };
  const clean = redactor.text(reason);
  return clean === reason ? data : { ...(data as JsonObject), reason: clean };
}

function decode(data: Json): CatalogState {
  const fault = shape.fault(data, "catalog");
  if (fault !== undefined) throw new HoldfastError("SNAPSHOT_CORRUPT", { entry: "catalog", detail: fault });
  return data as unknown as CatalogState;
}
