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

/** The proof for a tool that runs shell commands: `commandOf` tells which one a call means. */
export function shellReadOnly(commandOf: (input: unknown) => unknown = commandField): ReadOnlyProof {
  return (input) => {
    const command = commandOf(input);
    if (typeof command !== "string") return { readOnly: false, why: `it names no command. ${ADVICE}` };
    return classifyShell(command);
  };
}

function commandField(input: unknown): unknown {
  return (input as { readonly command?: unknown } | null | undefined)?.command;
}
