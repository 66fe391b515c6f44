import type { ParseArgsConfig } from "node:util";

/** What a command may say and where. Tests give their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** A piece of a line, for what arrives in pieces. */
  write(text: string): void;
  /** Hears of Ctrl-C until the answer is called. Without a hearer it ends the process. */
  onInterrupt(hear: () => void): () => void;
  /** Colours and pauses are for people: off in pipes, with NO_COLOR and with --json. */
  readonly forPeople: boolean;
  /** How wide and how high it is; nothing where lines are read by programs. */
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard input, for commands that read `-`. */
  input(): AsyncIterable<Uint8Array>;
}

/** 0 done, 1 findings or failed, 2 wrong usage, 3 store or session unusable; ended by SIGINT or SIGTERM. */
export type ExitCode = 0 | 1 | 2 | 3 | 130 | 143;

/** A command as the table knows it: enough for the overview, without loading what it needs to run. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<CommandBody>;
}

export interface CommandBody {
  readonly usage: string;
  readonly examples: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Its answer may be longer than the screen. */
  readonly pages?: true;
  run(parsed: Parsed, terminal: Terminal): Promise<ExitCode>;
}

export type Command = CommandBody & Pick<CommandEntry, "name" | "summary">;

export interface CommandOption {
  readonly type: "string" | "boolean";
  readonly help: string;
  /** What the value is, in the usage: `--limit N`. */
  readonly value?: string;
  /** Not shown: for the command's own children. */
  readonly hidden?: true;
}

export interface Parsed {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export function parseOptions(command: CommandBody): NonNullable<ParseArgsConfig["options"]> {
  const own = Object.entries(command.options).map(([name, { type }]) => [name, { type }] as const);
  return { ...Object.fromEntries(own), help: { type: "boolean", short: "h" }, json: { type: "boolean" } };
}
