import { HoldfastError } from "../base/errors.ts";
import { EMPTY_WORKSPACE, sameTouched, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import { type KeptFile, planReturn, type ReturnedFile, type ReturnPlan, unlike } from "../files/host/return.ts";
import { isHostPart } from "../files/host/session.ts";
import { differences } from "../files/sorted-map.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";

/** What a rewind did, or would do, to the files of a workspace. */
export interface RewoundFiles {
  /** What happens to each path. */
  readonly files: readonly ReturnedFile[];
  /** Files left as they are, because somebody else changed them. */
  readonly kept: readonly KeptFile[];
  /** Paths that do not hold what they should, because somebody changed them meanwhile. Empty in a dry run. */
  readonly unlike: readonly string[];
}

/** A snapshot to return to, with the workspace as far as it can be returned without harm to anybody. */
export interface WayBack {
  readonly snapshot: CompositeSnapshot;
  readonly plan?: ReturnPlan;
}

/** Looks at the disk, which a restore of plain values does not. */
export async function wayBack(state: ExecutionState, snapshot: CompositeSnapshot): Promise<WayBack> {
  const part = state.truth.parts.get(WORKSPACE_PART);
  if (part === undefined) return { snapshot };
  const now = state.root.get(WORKSPACE_PART) as WorkspaceValue;
  const then = (snapshot.session.slices.get(WORKSPACE_PART) as WorkspaceValue | undefined) ?? EMPTY_WORKSPACE;
  if (!isHostPart(part)) {
    // The session would take its files for returned, and they would lie there as they were.
    const files = [...differences(now.paths, then.paths)].filter(
      ({ before, after }) => !sameTouched(before, after),
    ).length;
    if (files > 0) throw new HoldfastError("WORKSPACE_NEEDED", { files });
    return { snapshot };
  }
  // Files that never reach the disk have only us to change them.
  const plan = part.host.mode === "host" ? await planReturn(part.host.disk, now, then) : undefined;
  const value = plan?.value ?? { ...now, paths: then.paths };
  const slices = snapshot.session.slices.with([[WORKSPACE_PART, value]]);
  const way = { snapshot: { ...snapshot, session: { ...snapshot.session, slices } } };
  return plan === undefined ? way : { ...way, plan };
}

/** Somebody who keeps saving while files return is met so often; then the rewind is refused, with nothing changed. */
const ATTEMPTS = 5;

/** Does something that looks at the disk first. Where a file is saved between the look and the return, it looks again. */
export async function lookingAgain<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (!HoldfastError.is(error, "FILE_CONFLICT") || attempt === ATTEMPTS) throw error;
    }
}

export async function filesReport(state: ExecutionState, plan: ReturnPlan, done: boolean): Promise<RewoundFiles> {
  const part = state.truth.parts.get(WORKSPACE_PART);
  const wrong = done && isHostPart(part) ? await unlike(part.host.disk, plan.targets) : [];
  return { files: plan.files, kept: plan.kept, unlike: wrong };
}
