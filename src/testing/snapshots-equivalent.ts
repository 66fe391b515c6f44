import { isDeepStrictEqual } from "node:util";
import type { CompositeSnapshot } from "../index.ts";

/** Fields of the seed's own log slices that tell when and under which id, not what. */
const INCIDENTAL = new Set(["at", "elapsed", "toolCallId"]);
const LOGS = new Set(["ToolInvoked", "PromptRendered", "PromptExecuted"]);

/** Whether two snapshots hold the same state, whatever their ids and times are. */
export function snapshotsEquivalent(a: CompositeSnapshot, b: CompositeSnapshot): boolean {
  return isDeepStrictEqual(essence(a), essence(b));
}

function essence({ session, resources }: CompositeSnapshot): unknown {
  const slices = [...session.slices].map(([name, value]) => [name, LOGS.has(name) ? withoutIncidentals(value) : value]);
  return { slices: new Map(slices as [string, unknown][]), policies: session.policies, resources };
}

function withoutIncidentals(lines: unknown): unknown {
  return (lines as readonly object[]).map((line) =>
    Object.fromEntries(Object.entries(line).filter(([field]) => !INCIDENTAL.has(field))),
  );
}
