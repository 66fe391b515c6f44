import type { Command } from "./command.ts";
import { wrapped } from "./wrap.ts";

export function overview(commands: readonly Pick<Command, "name" | "summary">[], columns = 80): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    "holdfast: the state and context kernel for LLM agents",
    "",
    "usage: holdfast COMMAND [OPTIONS]",
    "",
    ...commands.flatMap(({ name, summary }) => wrapped(`  ${name.padEnd(width)}  ${summary}`, columns, width + 2)),
    "",
    "Every command takes --json and --help.",
    ...wrapped("Exit codes: 0 done, 1 findings or failed, 2 wrong usage, 3 store or session unusable.", columns, 12),
  ].join("\n");
}

export function helpOf(command: Command, columns = 80): string {
  const shown = Object.entries(command.options).filter(([, option]) => option.hidden === undefined);
  const rows: (readonly [string, string])[] = shown.map(([name, option]) => [
    `--${name}${option.type === "string" ? ` ${option.value ?? "VALUE"}` : ""}`,
    option.help,
  ]);
  rows.push(["--json", "print one JSON object on standard output instead of text"], ["--help", "show this help"]);
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return [
    command.summary,
    "",
    ...`usage: ${command.usage}`.split("\n").flatMap((line) => usageLines(line, columns)),
    "",
    ...rows.flatMap(([flag, help]) => wrapped(`  ${flag.padEnd(width)}  ${help}`, columns, width + 2)),
    "",
    "examples:",
    ...command.examples.flatMap((example) => wrapped(`  ${example}`, columns, noteOf(example, columns))),
  ].join("\n");
}

/** A flag and its value are one word, and so is what stands in brackets: cut in two, neither half can be read. */
function usageLines(line: string, columns: number): readonly string[] {
  const glued = line.replace(/\[[^\]]*\]|--[\w-]+ [A-Z]+/g, (whole) => whole.replaceAll(" ", GLUE));
  const hang = line.startsWith("usage: ") ? "usage: ".length : 0;
  return wrapped(glued, columns, hang).map((one) => one.replaceAll(GLUE, " "));
}

const GLUE = "\u00a0";

/** Where what is said of an example begins, if there is room for it; what goes on goes on there. */
function noteOf(example: string, columns: number): number {
  const note = example.search(/ {2,}\S[^"]*$/);
  const from = note + (/^ +/.exec(example.slice(note))?.[0].length ?? 0);
  return note === -1 || from > columns - LEAST_NOTE ? 6 : from;
}

const LEAST_NOTE = 20;
