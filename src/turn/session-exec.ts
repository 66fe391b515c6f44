import { bounded } from "../files/host/limits.ts";
import type { CoverLimits } from "../files/host/manifest.ts";
import { Backgrounds } from "../exec/background.ts";
import { Drivers } from "../exec/choose.ts";
import { type ExecLimits, limitsOf } from "../exec/command.ts";
import type { ExecHost } from "../exec/commands.ts";
import type { DriverName } from "../exec/driver.ts";
import type { SessionFiles } from "./session-files.ts";

/** How commands run in the workspace of a session. */
export interface ExecSettings {
  /** `auto` (default): the overlay where it works, else the portable driver. */
  readonly driver?: "auto" | DriverName;
  /** Bounds of every command that does not bring its own. */
  readonly limits?: Partial<ExecLimits>;
  /** Added to the environment of every command. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the portable driver takes into its care: more is told as not covered. */
  readonly cover?: Partial<CoverLimits>;
}

const MB = 1024 * 1024;
const COVER: CoverLimits = { file: 64 * MB, tree: 4096 * MB };

export function execIn(
  files: SessionFiles,
  redact: (text: string) => string,
  { driver, limits = {}, env = {}, cover }: ExecSettings = {},
): ExecHost {
  limitsOf(limits);
  return {
    workspace: files.workspace,
    drivers: new Drivers(driver),
    limits,
    env,
    redact,
    cover: bounded(COVER, cover, "exec.cover"),
    backgrounds: new Backgrounds(),
    tell: (diverged, callId) => files.tell(diverged, callId),
    began: (callId, exec) => files.commands.set(callId, exec),
    ended: (callId) => files.commands.delete(callId),
  };
}
