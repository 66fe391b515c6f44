import type { ReadOnlyProof, ReadOnlyVerdict } from "../contracts/tool-access.ts";
import { ownField } from "./own-field.ts";
import { judgeCommands } from "./shell-commands.ts";
import { readShell } from "./shell-words.ts";

const ADVICE =
  "Use plain reading commands such as ls, cat, grep, rg, find or git log, joined by ; && || or |, without redirection, substitution or variables.";

/**
 * Whether a POSIX shell command line is known to change nothing. Only a short list of commands and options passes;
 * anything else could change something. What the user's own configuration makes these commands run, such as a pager or
 * a git filter, is not judged.
 */
export function classifyShell(command: string): ReadOnlyVerdict {
  const reading = readShell(command);
  const why = reading.ok ? judgeCommands(reading.commands) : reading.why;
  return why === undefined ? { readOnly: true } : { readOnly: false, why: `${why}. ${ADVICE}` };
}

/**
 * A proof for a tool that runs each command in a fresh shell. Without `commandOf`, `command` must be the only argument:
 * a folder or a variable could change what the command means. If you pass `commandOf`, you vouch for the other
 * arguments.
 */
export function shellReadOnly(commandOf?: (input: unknown) => unknown): ReadOnlyProof {
  return (input) => {
    const command = commandOf === undefined ? ownField(input, COMMAND) : commandOf(input);
    if (typeof command !== "string") return { readOnly: false, why: `it names no command. ${ADVICE}` };
    const odd = commandOf === undefined ? Object.keys(Object(input)).find((field) => field !== COMMAND) : undefined;
    if (odd !== undefined) return { readOnly: false, why: `what its ${odd} changes is not known. ${ADVICE}` };
    return classifyShell(command);
  };
}

const COMMAND = "command";
