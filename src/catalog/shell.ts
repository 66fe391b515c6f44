import type { ReadOnlyProof, ReadOnlyVerdict } from "../contracts/tool-access.ts";
import { judgeCommands } from "./shell-commands.ts";
import { readShell } from "./shell-words.ts";

const ADVICE =
  "Use plain reading commands such as ls, cat, grep, rg, find or git log, joined by ; && || or |, without redirection, substitution or variables.";

/**
 * Whether a command line of a POSIX shell is known to change nothing. Only a short list of commands and options passes;
 * what is not understood, or not known, could change something. What the user's own configuration lets these commands
 * run, such as a pager or a filter of git, is the user's.
 */
export function classifyShell(command: string): ReadOnlyVerdict {
  const reading = readShell(command);
  const why = reading.ok ? judgeCommands(reading.commands) : reading.why;
  return why === undefined ? { readOnly: true } : { readOnly: false, why: `${why}. ${ADVICE}` };
}

/**
 * The proof for a tool that runs each command in a fresh shell. Without `commandOf` the arguments are `command` and nothing
 * else: a folder or a variable that the proof does not know decides what the command means. Whoever gives `commandOf` vouches
 * for the other arguments.
 */
export function shellReadOnly(commandOf?: (input: unknown) => unknown): ReadOnlyProof {
  return (input) => {
    const command = commandOf === undefined ? commandField(input) : commandOf(input);
    if (typeof command !== "string") return { readOnly: false, why: `it names no command. ${ADVICE}` };
    const odd = commandOf === undefined ? Object.keys(Object(input)).find((field) => field !== COMMAND) : undefined;
    if (odd !== undefined) return { readOnly: false, why: `what its ${odd} changes is not known. ${ADVICE}` };
    return classifyShell(command);
  };
}

const COMMAND = "command";

/** Own data only: an inherited or computed field could answer the handler differently. */
function commandField(input: unknown): unknown {
  return Object.getOwnPropertyDescriptor(Object(input), COMMAND)?.value as unknown;
}
