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
  /** What keeps a command's changes apart. `auto` (default): the overlay where it works, else the portable driver. */
  readonly driver?: "auto" | DriverName;
  /** Limits for every command that does not set its own. */
  readonly limits?: Partial<ExecLimits>;
  /** Added to the environment of every command. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Bytes the portable driver protects: `file` 64 MiB, `tree` 4 GiB by default. More is reported as not covered. */
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
