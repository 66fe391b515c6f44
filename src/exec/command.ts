import { HoldfastError } from "../base/errors.ts";
import {
  ABOVE_0,
  checkOptions,
  either,
  FUNCTION,
  OBJECT,
  oneOf,
  type OptionRule,
  type OptionRules,
  options,
  overDefaults,
  TEXT,
} from "../base/options.ts";
import type { BlobName } from "../records/ids.ts";
import type { Uncovered } from "../files/host/walk.ts";

/** A line for the shell, or a program and its arguments, which no shell interprets. */
export type ExecCommand = string | readonly string[];

/** Limits of one command. A command that exceeds one is ended, and its result says so; nothing is cut silently. */
export interface ExecLimits {
  /** How long the command may run, in milliseconds. Default 600 000 (ten minutes). */
  readonly timeMs: number;
  /** Bytes of output, both streams together. A command that writes more is ended. Default 32 MB. */
  readonly outputBytes: number;
  /** Bytes of each stream that the result shows: half from its beginning, half from its end. Default 32 KB. */
  readonly shownBytes: number;
  /** Address space of each process in bytes, where the system can limit it. Default: no limit. */
  readonly memoryBytes?: number;
  /** Number of processes of this user, where the system can limit it. Default: no limit. */
  readonly processes?: number;
}

/** How to run one command. */
export interface ExecOptions {
  /** The folder to run in, inside the workspace. Default: its root. */
  readonly cwd?: string;
  /** Variables added to the environment; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What the command reads from standard input. Default: nothing, so it reads the end of input at once. */
  readonly stdin?: string | Uint8Array;
  /** Limits for this command. What is left out comes from the session's settings. */
  readonly limits?: Partial<ExecLimits>;
  /** Called with output as it arrives. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
  /**
   * What to do when the workspace holds something that cannot be protected: refuse to run, or run and report it.
   * Default `refuse`.
   */
  readonly uncovered?: "refuse" | "report";
}

/** The default limits of a command. */
export const EXEC_LIMITS: ExecLimits = { timeMs: 600_000, outputBytes: 32 * 1024 * 1024, shownBytes: 32 * 1024 };

/** How a command ended: by itself, by a signal, because it exceeded a limit, or because it was aborted. */
export type ExecEnd = "exited" | "signaled" | "timeout" | "aborted" | "output-limit";

/** One stream of a command's output. */
export interface ExecOutput {
  /** The beginning and the end of the stream; if something between them is left out, a line says how much. */
  readonly text: string;
  /** Bytes that the command wrote to the stream. */
  readonly bytes: number;
  readonly truncated: boolean;
  /** The blob that holds the whole stream, if it is longer than `text`. */
  readonly whole?: BlobName;
}

/** How a command ended and what it did. */
export interface ExecResult {
  readonly end: ExecEnd;
  /** The exit code; `null` when a signal ended the command. */
  readonly exitCode: number | null;
  /** The signal that ended the command; `null` when it exited by itself. */
  readonly signal: string | null;
  readonly stdout: ExecOutput;
  readonly stderr: ExecOutput;
  /** How long it ran, in milliseconds. */
  readonly elapsed: number;
  /** How many processes it left running; they were ended. */
  readonly strays: number;
  /** What the commands of this call have changed so far. */
  readonly changed: ExecChanges;
  readonly protection: ExecProtection;
}

/** How many files were changed, and which. */
export interface ExecChanges {
  readonly created: number;
  readonly modified: number;
  readonly removed: number;
  /** The first of the changed paths, in order. */
  readonly paths: readonly string[];
}

/** What protects the workspace from the command, and what it cannot protect. */
export interface ExecProtection {
  readonly driver: "overlay" | "portable";
  /** Why this driver was chosen. */
  readonly why: string;
  /** What the driver cannot keep or bring back. */
  readonly uncovered: readonly Uncovered[];
  /** Limits that were asked for but that this system cannot enforce. */
  readonly unbounded: readonly ("memoryBytes" | "processes")[];
}

/** The command as a program with arguments; a text is a line for the shell. */
export function argvOf(command: ExecCommand): readonly string[] {
  const words = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
  const fine = Array.isArray(words) && words.length > 0 && words[0] !== "" && words.every(isWord);
  if (!fine) throw new HoldfastError("BAD_OPTION", { option: "command", value: String(command).slice(0, 80) });
  return words;
}

export function limitsOf(...given: readonly (Partial<ExecLimits> | undefined)[]): ExecLimits {
  for (const limits of given) checkOptions({ limits }, { limits: EXEC_LIMIT_OPTIONS });
  return overDefaults(EXEC_LIMITS, ...given);
}

/** A misspelt bound would be none. */
export const EXEC_LIMIT_OPTIONS: OptionRule = options<Partial<ExecLimits>>({
  timeMs: ABOVE_0,
  outputBytes: ABOVE_0,
  shownBytes: ABOVE_0,
  memoryBytes: ABOVE_0,
  processes: ABOVE_0,
});

const BYTES: OptionRule = { wants: "bytes", fits: (value) => value instanceof Uint8Array };

/** What a command has in common wherever it runs. */
export const PLACE_OPTIONS: OptionRules<Pick<ExecOptions, "cwd" | "env">> = { cwd: TEXT, env: OBJECT };

/** Of a bound at the wrong place the command would have none, and a misspelt `report` would refuse. */
export function checkExecOptions(given: ExecOptions): void {
  checkOptions(given, {
    ...PLACE_OPTIONS,
    stdin: either(TEXT, BYTES),
    limits: EXEC_LIMIT_OPTIONS,
    onOutput: FUNCTION,
    uncovered: oneOf("refuse", "report"),
  });
}

function isWord(word: unknown): word is string {
  return typeof word === "string" && !word.includes("\0");
}
