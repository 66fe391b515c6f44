import { HoldfastError } from "../../base/errors.ts";
import type { FileLimits } from "../../contracts/filesystem.ts";

/** Upper bounds that refuse, and never cut. */
export interface WorkspaceLimits extends FileLimits {
  /** Bytes that one call may keep, before and after images together. */
  readonly call: number;
  /** Paths that one call may change. */
  readonly paths: number;
}

/** Bounds on what is kept aside of files that were replaced or removed. The newest stays, whatever its size. */
export interface RescueBounds {
  readonly bytes: number;
  readonly files: number;
  readonly ageMs: number;
}

const MB = 1024 * 1024;
const DAY = 86_400_000;

export const WORKSPACE_LIMITS: WorkspaceLimits = { file: 64 * MB, call: 512 * MB, paths: 20_000 };
export const RESCUE_BOUNDS: RescueBounds = { bytes: 512 * MB, files: 2_000, ageMs: 7 * DAY };

/** What was given over the defaults; anything that is no bound is refused, because a wrong cap is no cap. */
export function bounded<T extends object>(defaults: T, given: Partial<T> | undefined, option: string): T {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!(name in defaults && typeof value === "number" && value >= 0))
      throw new HoldfastError("BAD_OPTION", { option: `${option}.${name}`, value: String(value) });
  }
  return { ...defaults, ...given };
}
