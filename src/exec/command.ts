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
  TEXT,
} from "../base/options.ts";
import type { BlobName } from "../records/ids.ts";
import type { Uncovered } from "../files/host/walk.ts";

/** A line for the shell, or a program with its arguments, which no shell reads. */
export type ExecCommand = string | readonly string[];

/** Upper bounds of one command. What goes beyond is ended and told, never cut in silence. */
export interface ExecLimits {
  readonly timeMs: number;
  /** Bytes of output, both streams together. A command that puts out more is ended. */
  readonly outputBytes: number;
  /** Bytes of each stream that the result holds: half from the beginning, half from the end. */
  readonly shownBytes: number;
  /** Address space of each process, where the system can bound it. */
  readonly memoryBytes?: number;
  /** Processes of this user, where the system can bound them. */
  readonly processes?: number;
}

export interface ExecOptions {
  /** A folder of the workspace. Default: its root. */
  readonly cwd?: string;
  /** Added to the environment; undefined takes a name out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: nothing, and its end. */
  readonly stdin?: string | Uint8Array;
  readonly limits?: Partial<ExecLimits>;
  /** Hears the output as it comes. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
  /** What to do when something in the workspace cannot be covered. Default `refuse`. */
  readonly uncovered?: "refuse" | "report";
}

export const EXEC_LIMITS: ExecLimits = { timeMs: 600_000, outputBytes: 32 * 1024 * 1024, shownBytes: 32 * 1024 };

/** How a command ended: by itself, by a signal, or because it went beyond a bound or was no longer wanted. */
export type ExecEnd = "exited" | "signaled" | "timeout" | "aborted" | "output-limit";

/** One stream of a command's output. */
export interface ExecOutput {
  /** Its beginning and its end, with a line between them that says how much is left out. */
  readonly text: string;
  readonly bytes: number;
  readonly truncated: boolean;
  /** The name under which the whole is kept, when it is more than the text. */
  readonly whole?: BlobName;
}

export interface ExecResult {
  readonly end: ExecEnd;
  /** As the system tells it; null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: ExecOutput;
  readonly stderr: ExecOutput;
  /** Milliseconds. */
  readonly elapsed: number;
  /** Processes that it had left running, which were ended. */
  readonly strays: number;
  /** What this call's commands have changed so far. */
  readonly changed: ExecChanges;
  readonly protection: ExecProtection;
}

export interface ExecChanges {
  readonly created: number;
  readonly modified: number;
  readonly removed: number;
  /** The first of them, in the order of paths. */
  readonly paths: readonly string[];
}

/** Who keeps the command from doing harm, and what even that does not cover. */
export interface ExecProtection {
  readonly driver: "overlay" | "portable";
  readonly why: string;
  readonly uncovered: readonly Uncovered[];
  /** Bounds that were asked for and that this system cannot keep. */
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
  // What is undefined is not given: it takes no default away.
  const set = given.flatMap((limits) => Object.entries(limits ?? {}).filter(([, value]) => value !== undefined));
  return { ...EXEC_LIMITS, ...Object.fromEntries(set) };
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
