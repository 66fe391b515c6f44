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
    ...command.examples.flatMap((example) => wrapped(`  ${example}`, columns, 6)),
  ].join("\n");
}
