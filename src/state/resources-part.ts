import { checkJson, type Json, type JsonObject, KEPT_LIMITS } from "../base/json.ts";
import { byDifference } from "./delta.ts";
import { stateError } from "./errors.ts";
import type { Part } from "./part.ts";
import { isShared, type KnownResource } from "./resources.ts";
import type { Root } from "./root.ts";

/**
 * What the resources were at the last commit, as data: with it in the root, another process can put them back to any
 * boundary. Registered where the root outlives the process.
 */
export const resourcesPart: Part<JsonObject> = {
  name: "holdfast.resources",
  policy: "state",
  reserved: true,
  initial: {},
  encode: (value) => value,
  decode: (data) => {
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data as JsonObject;
    throw stateError("SNAPSHOT_CORRUPT", { entry: "holdfast.resources" });
  },
  ...byDifference<JsonObject>(),
};

/** Only what is plain data can leave the process; a snapshot that is not stays in its memory. */
export function portable(
  snapshots: ReadonlyMap<string, unknown>,
  origins: ReadonlyMap<string, unknown>,
  resource: (name: string) => KnownResource | undefined,
): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, snapshot] of snapshots) {
    const checked = checkJson({ snapshot, origin: origins.get(name) }, KEPT_LIMITS);
    if (!checked.ok) continue;
    const shared = isShared(resource(name)) ? { shared: true } : {};
    kept[name] = { ...(checked.value.value as JsonObject), ...shared };
  }
  return kept;
}

/** What a root says of the resources. One that calls share is told for audit: where it is not known, nobody misses it. */
export function resourcesIn(
  root: Root,
  resource: (name: string) => KnownResource | undefined,
): ReadonlyMap<string, Json> {
  return new Map(
    keptIn(root).flatMap(([name, { snapshot, shared }]): [string, Json][] =>
      shared === true && resource(name) === undefined ? [] : [[name, snapshot]],
    ),
  );
}

/** Whether a root tells that calls share a resource, for one that is not made yet. */
export function isSharedIn(root: Root, name: string): boolean {
  return keptIn(root).some(([known, { shared }]) => known === name && shared === true);
}

/** What they were before they were first used: a boundary that does not name one lies before that. */
export function originsIn(root: Root): ReadonlyMap<string, Json> {
  return new Map(
    keptIn(root).flatMap(([name, { origin }]): [string, Json][] => (origin === undefined ? [] : [[name, origin]])),
  );
}

interface KeptResource {
  readonly snapshot: Json;
  readonly origin?: Json;
  readonly shared?: boolean;
}

function keptIn(root: Root): readonly (readonly [string, KeptResource])[] {
  return Object.entries((root.get(resourcesPart.name) ?? {}) as Readonly<Record<string, KeptResource>>);
}
