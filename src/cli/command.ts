import type { ParseArgsConfig } from "node:util";

/** What a command may say and where. Tests give their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Colours and pauses are for people: off in pipes, with NO_COLOR and with --json. */
  readonly forPeople: boolean;
  /** How wide it is; nothing where lines are read by programs. */
  readonly columns?: number;
  readonly cwd: string;
  /** Standard input, for commands that read `-`. */
  input(): AsyncIterable<Uint8Array>;
}

/** 0 done, 1 findings or failed, 2 wrong usage, 3 store or session unusable. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly examples: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  run(parsed: Parsed, terminal: Terminal): Promise<ExitCode>;
}

interface CommandOption {
  readonly type: "string" | "boolean";
  readonly help: string;
  /** Not shown: for the command's own children. */
  readonly hidden?: true;
}

export interface Parsed {
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
}

export function parseOptions(command: Command): NonNullable<ParseArgsConfig["options"]> {
  const own = Object.entries(command.options).map(([name, { type }]) => [name, { type }] as const);
  return { ...Object.fromEntries(own), help: { type: "boolean", short: "h" }, json: { type: "boolean" } };
}
