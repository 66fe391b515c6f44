import type { Command } from "./command.ts";
import { wrapped } from "./wrap.ts";

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    "holdfast: the state and context kernel for LLM agents",
    "",
    "usage: holdfast COMMAND [OPTIONS]",
    "",
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    "",
    "Every command takes --json and --help.",
    "Exit codes: 0 done, 1 findings or failed, 2 wrong usage, 3 store or session unusable.",
  ].join("\n");
}

export function helpOf(command: Command, columns = 80): string {
  const shown = Object.entries(command.options).filter(([, option]) => option.hidden === undefined);
  const rows: (readonly [string, string])[] = shown.map(([name, option]) => [
    `--${name}${option.type === "string" ? " VALUE" : ""}`,
    option.help,
  ]);
  rows.push(["--json", "one JSON object on standard output instead of text"], ["--help", "this text"]);
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return [
    command.summary,
    "",
    ...wrapped(`usage: ${command.usage}`, columns, 7),
    "",
    ...rows.flatMap(([flag, help]) => wrapped(`  ${flag.padEnd(width)}  ${help}`, columns, width + 2)),
    "",
    "examples:",
    ...command.examples.map((example) => `  ${example}`),
  ].join("\n");
}
