import { HoldfastError } from "../../base/errors.ts";
import { overDefaults } from "../../base/options.ts";
import type { FileLimits } from "../../contracts/filesystem.ts";

/** Limits of a workspace. A change that exceeds one is refused; nothing is cut. */
export interface WorkspaceLimits extends FileLimits {
  /** Bytes that one call may keep, images from before and after together. Default 512 MB. */
  readonly call: number;
  /** Paths that one call may change. Default 20 000. */
  readonly paths: number;
}

/** Limits on what rescue keeps of files that were replaced or removed. The newest file stays, whatever its size. */
export interface RescueBounds {
  /** Bytes together. Default 512 MB. */
  readonly bytes: number;
  /** Number of files. Default 2000. */
  readonly files: number;
  /** Age in milliseconds. Default 7 days. */
  readonly ageMs: number;
}

const MB = 1024 * 1024;
const DAY = 86_400_000;

export const WORKSPACE_LIMITS: WorkspaceLimits = { file: 64 * MB, call: 512 * MB, paths: 20_000 };
export const RESCUE_BOUNDS: RescueBounds = { bytes: 512 * MB, files: 2_000, ageMs: 7 * DAY };

/** What was given over the defaults; anything that is no bound is refused, because a wrong cap is no cap. */
export function bounded<T extends object>(defaults: T, given: Partial<T> | undefined, option: string): T {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!(Object.hasOwn(defaults, name) && (value === undefined || (typeof value === "number" && value >= 0))))
      throw new HoldfastError("BAD_OPTION", { option: `${option}.${name}`, value: String(value) });
  }
  return overDefaults(defaults, given);
}
