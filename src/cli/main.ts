import { parseArgs } from "node:util";
import type { ErrorCode } from "../base/error-codes.ts";
import { HoldfastError, shownFact, shownFacts } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type Command, type ExitCode, type Parsed, parseOptions, type Terminal } from "./command.ts";
import { Interrupted } from "./interrupted.ts";
import { nearest } from "../base/nearest.ts";
import { helpOf, overview } from "./help.ts";
import { COMMANDS } from "./table.ts";
import { version } from "./version.ts";
import { wrapped } from "./wrap.ts";

/** Whose fault it is. Whatever is not listed makes the store or the session unusable. */
const EXIT: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  BAD_OPTION: 2,
  SESSION_BAD_ID: 2,
  SESSION_EXISTS: 2,
  SESSION_NEEDED: 1,
  CHECKPOINT_UNKNOWN: 2,
  CHECKPOINT_REWOUND: 2,
  CALLS_OPEN: 1,
  BUNDLE_DAMAGED: 1,
  EFFECTS_STAND: 1,
  SDK_MISSING: 2,
};

export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<ExitCode> {
  const [name, ...rest] = argv;
  const [about = "-"] = rest;
  if (name === "help" && !about.startsWith("-")) return main([about, "--help"], terminal);
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    terminal.out(overview(COMMANDS, terminal.columns));
    return 0;
  }
  if (name === "--version" || name === "-V") {
    terminal.out(version());
    return 0;
  }
  const entry = COMMANDS.find((candidate) => candidate.name === name);
  if (entry === undefined) {
    const isFlag = name.startsWith("-");
    const names = isFlag ? ["--help", "--version"] : COMMANDS.map((candidate) => candidate.name);
    return usageError(terminal, argv, {
      message: isFlag ? `there is no flag ${name} before a command` : `there is no command "${name}"`,
      tryThis: suggestion(nearest(name, names)) ?? "holdfast --help",
    });
  }
  return runCommand({ ...entry, ...(await entry.load()) }, rest, terminal);
}

async function runCommand(command: Command, argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let parsed: Parsed;
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: parseOptions(command),
      allowPositionals: true,
      strict: true,
    });
    parsed = { values: values as Parsed["values"], positionals };
  } catch (error) {
    return usageError(terminal, argv, misread(command, error as NodeJS.ErrnoException));
  }
  if (parsed.values["help"] === true) {
    terminal.out(helpOf(command, terminal.columns));
    return 0;
  }
  const isLong = command.pages === true && terminal.rows !== undefined;
  const pages = isLong ? new (await import("./pager.ts")).Pages(terminal) : undefined;
  try {
    const code = await command.run(parsed, pages?.terminal ?? terminal);
    pages?.show();
    return code;
  } catch (error) {
    if (error instanceof Interrupted) return error.exitCode;
    if (!HoldfastError.is(error)) throw error;
    const { KNOWN_SHAPES: redactor } = await import("../records/redact.ts"); // logs of a terminal are kept, too
    const { message, ...rest } = toldOf(command, error);
    const told = { ...rest, message: redactor.text(message) };
    if (parsed.values["json"] === true) terminal.out(failureJson(told, redactor.json(error.details as Json)));
    else for (const line of failureLines(told)) for (const one of wrapped(line, terminal.columns)) terminal.err(one);
    return EXIT[error.code] ?? 3;
  }
}

interface Told {
  readonly code: string;
  readonly message: string;
  readonly tryThis: string;
}

/** The nearest that is there is what to try; of an option, what is wrong with it comes first. What the table says is for all. */
function toldOf({ name }: Command, error: HoldfastError): Told {
  const { code, tryThis } = error;
  const { didYouMean, ...details } = error.details;
  const meant = typeof didYouMean === "string" ? suggestion(shownFact(didYouMean)) : undefined;
  const { option, wants, why, ...more } = details;
  const wrong = why ?? wants;
  if (code !== "BAD_OPTION" || option === undefined || wrong === undefined)
    return { code, message: new HoldfastError(code, details).message, tryThis: meant ?? tryThis };
  const said = `${why === undefined ? "wants " : ""}${shownFact(wrong)}`;
  const message = `${shownFact(option)}: ${said}${shownFacts(more)}`;
  return { code, message, tryThis: meant ?? `holdfast ${name} --help` };
}

function failureJson({ code, message, tryThis }: Told, details: Json): string {
  return JSON.stringify({ ok: false, code, message, try: tryThis, details });
}

function failureLines({ code, message, tryThis }: Told): readonly string[] {
  return [`${code}: ${message}`, `try: ${tryThis}`];
}

/** Whoever asked for an object gets one, also where nothing else of the line could be read. */
function usageError(terminal: Terminal, argv: readonly string[], what: Omit<Told, "code">): ExitCode {
  const told = { code: "USAGE", ...what };
  if (argv.includes("--json")) terminal.out(failureJson(told, {}));
  else for (const line of failureLines(told)) terminal.err(line);
  return 2;
}

/** What Node could not read. A flag that exists and lacks its value is not to be answered with its own name. */
function misread(command: Command, { code, message }: NodeJS.ErrnoException): Omit<Told, "code"> {
  const flags = Object.keys(parseOptions(command)).map((option) => `--${option}`);
  const flag = /'(-[^' ]+)/.exec(message)?.[1] ?? "";
  if (message.includes("is ambiguous"))
    return {
      message: `${command.name}: ${flag} has no value: what begins with a dash is a flag`,
      tryThis: `${flag}=VALUE if it is meant`,
    };
  const meant = code === "ERR_PARSE_ARGS_UNKNOWN_OPTION" ? nearest(flag, flags) : undefined;
  return {
    message: `${command.name}: ${message.split(/\.?\s*\n|\. /)[0]}`,
    tryThis: suggestion(meant) ?? `holdfast ${command.name} --help`,
  };
}

function suggestion(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean ${name}?`;
}

function processTerminal(): Terminal {
  const { stdout } = process;
  // Whoever reads us may stop (`| head`): that is no failure of ours, and there is nobody left to tell.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    for (const line of failureLines(new HoldfastError("OUTPUT_FAILED", { system: error.code ?? error.message })))
      process.stderr.write(`${line}\n`);
    process.exit(1);
  });
  return {
    out: (line) => void stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    write: (text) => void stdout.write(text),
    onInterrupt: (hear) => {
      process.on("SIGINT", hear);
      return () => void process.off("SIGINT", hear);
    },
    forPeople: stdout.isTTY === true && !process.env["NO_COLOR"],
    ...(stdout.isTTY === true ? { columns: Math.max(40, stdout.columns), rows: stdout.rows } : {}),
    cwd: process.cwd(),
    env: process.env,
    input: () => process.stdin,
  };
}
