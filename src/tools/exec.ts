import { shownName } from "../base/shown-name.ts";
import { defineTool, type ExecEnd, type ExecResult, HoldfastError, type Tool } from "../index.ts";
import { argumentsOf, flag, optional, text, whole } from "./arguments.ts";
import { fileFailure, plainPath } from "./look.ts";

const NO_FOLDER = ["FILE_NOT_FOUND", "FILE_NOT_FOLDER", "FILE_BAD_PATH"] as const;
const LONGEST_SECONDS = 3600;

/**
 * A tool that runs a shell command in the workspace. If the command fails, its changes are undone, unless the model
 * asked beforehand to keep them. Not part of `workspaceTools`, because not every agent should run commands.
 */
export function execTool(): Tool {
  return defineTool({
    name: "exec",
    description:
      "Run a shell command in the workspace. If it succeeds (exit code 0) what it changed in the workspace is kept; if it " +
      "fails, all of it is undone. Set keep_on_failure to keep what a command changed even if it fails, e.g. a test " +
      "run that writes a report. Processes that it leaves running are ended.",
    access: "execute",
    ...argumentsOf({
      command: text("A command line for /bin/sh."),
      cwd: optional(text("A folder of the workspace. Default: its root.")),
      stdin: optional(text("What the command reads from standard input.")),
      seconds: optional(whole("The most seconds that it may run.", 1, LONGEST_SECONDS)),
      keep_on_failure: optional(flag("Keep what it changed even if it fails.")),
    }),
    run: async ({ command, cwd: given = "", stdin, seconds, keep_on_failure: keep = false }, call) => {
      const cwd = plainPath(given);
      let result: ExecResult;
      try {
        result = await call.exec(command, {
          cwd,
          ...(stdin === undefined ? {} : { stdin }),
          ...(seconds === undefined ? {} : { limits: { timeMs: seconds * 1000 } }),
        });
      } catch (error) {
        if (!HoldfastError.is(error) || !NO_FOLDER.some((code) => code === error.code)) throw error;
        // A model that has seen a path of the whole disk, say in what a command put out, names it so.
        return fileFailure(call, cwd, error, given.startsWith("/") ? " Folders are relative to the workspace." : "");
      }
      const said = reportOf(result);
      // One that ran out of time may say that all is well while it is being ended.
      const succeeded = result.end === "exited" && result.exitCode === 0;
      return succeeded || keep ? said : call.fail("command-failed", said);
    },
  });
}

const ENDS: Readonly<Record<ExecEnd, (result: ExecResult) => string>> = {
  exited: ({ exitCode }) => `Exit code ${exitCode}.`,
  signaled: ({ signal }) => `Ended by ${signal}.`,
  timeout: ({ elapsed }) => `Ended after ${(elapsed / 1000).toFixed(1)} s, because it ran out of time.`,
  aborted: () => "Stopped.",
  "output-limit": ({ stdout, stderr }) =>
    `Ended after ${stdout.bytes + stderr.bytes} bytes of output, which is too much.`,
};

/** How it ended, what it put out, and what it did to the workspace. */
function reportOf(result: ExecResult): string {
  const { stdout, stderr, changed, strays, protection } = result;
  const { created, modified, removed, paths } = changed;
  const sum = created + modified + removed;
  return [
    ENDS[result.end](result),
    ...(stdout.bytes === 0 ? [] : [stdout.text.trimEnd()]),
    ...(stderr.bytes === 0 ? [] : [`stderr:\n${stderr.text.trimEnd()}`]),
    ...(sum === 0
      ? []
      : [`Changed: ${paths.slice(0, 20).map(shownName).join(", ")}${sum > 20 ? ` and ${sum - 20} more` : ""}.`]),
    ...(strays === 0 ? [] : [`${strays} processes that it had left running were ended.`]),
    ...protection.uncovered.map(({ path, why }) => `Not covered: ${shownName(path)} (${why}).`),
  ].join("\n");
}
