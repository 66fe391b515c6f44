import { existsSync } from "node:fs";
import type { CommandBody, Terminal } from "../command.ts";
import { type Config, readConfig, type Source } from "../config/config.ts";
import { KEYS, type Key, shown, unknownKey } from "../config/settings.ts";
import { untilInterrupted } from "../interrupted.ts";
import { type Probed, probe } from "../config/probe.ts";
import { flagOf, STORE_OPTION, usage, WORKSPACE_OPTION } from "../options.ts";
import { paint } from "../paint.ts";
import { wrapped } from "../wrap.ts";

export const config: CommandBody = {
  usage: "holdfast config [KEY] [--store FILE] [--workspace DIR]",
  examples: [
    "holdfast config                    every setting and where it comes from",
    "holdfast config retention.age      one value, for a script",
    "HOLDFAST_STORE=other.db holdfast config --json",
  ],
  options: {
    store: STORE_OPTION,
    workspace: WORKSPACE_OPTION,
  },
  pages: true,
  async run(parsed, terminal) {
    const read = await readConfig(parsed, terminal);
    const [key, surplus] = parsed.positionals;
    if (surplus !== undefined) throw usage(surplus, "wants one key, or none");
    if (key !== undefined) return tellOne(read, keyOf(key), flagOf(parsed, "json"), terminal);
    const durability = await classOf(String(read.values.store));
    const exec = await untilInterrupted(() => probe(read.values["exec.driver"] ?? "auto"));
    if (flagOf(parsed, "json")) {
      const told = { ok: true, files: read.files, settings: jsonOf(read), storeDurability: durability, exec };
      terminal.out(JSON.stringify(told));
    } else tell(terminal, read, durability, exec);
    return 0;
  },
};

function keyOf(text: string): Key {
  const key = KEYS.find((one) => one === text);
  if (key === undefined) throw unknownKey(text);
  return key;
}

function tellOne({ values, sources }: Config, key: Key, json: boolean, terminal: Terminal): 0 {
  const value = values[key];
  if (json) terminal.out(JSON.stringify({ ok: true, key, value: value ?? null, ...sources[key] }));
  else terminal.out(value === undefined ? "" : String(value));
  return 0;
}

function jsonOf({ values, sources }: Config) {
  return Object.fromEntries(KEYS.map((key) => [key, { value: values[key] ?? null, ...sources[key] }]));
}

/** What a record that this store has acknowledged survives; nothing when there is no store yet. */
async function classOf(path: string): Promise<string | null> {
  if (!existsSync(path)) return null;
  const { inspectSqlite } = await import("../../stores/sqlite/entry.ts");
  const store = await inspectSqlite(path);
  try {
    return store.durability;
  } finally {
    await store.close();
  }
}

const SURVIVES: Readonly<Record<string, string>> = {
  power: "survives loss of power",
  process: "survives the process, not loss of power",
};

function tell(terminal: Terminal, read: Config, durability: string | null, exec: Probed): void {
  const rows = KEYS.map((key) => [key, shown(key, read.values[key]), placeOf(read.sources[key])] as const);
  const width = Math.max(...rows.map(([key]) => key.length));
  const values = Math.min(30, Math.max(...rows.map(([, value]) => value.length)));
  for (const [key, value, place] of rows) {
    const line = `${key.padEnd(width)}  ${value.padEnd(values)}`;
    // A long path gets a line of its own for where it comes from, rather than a line that is cut.
    const fits = terminal.columns === undefined || line.length + place.length + 2 <= terminal.columns;
    terminal.out(fits ? `${line}  ${paint(terminal, "dim", place)}`.trimEnd() : line.trimEnd());
    if (!fits) terminal.out(paint(terminal, "dim", `${" ".repeat(width + 2)}${place}`));
  }
  const made =
    durability === null ? "it does not exist yet" : `${durability}, which ${SURVIVES[durability] ?? "is not kept"}`;
  for (const line of wrapped(`the store: ${made}`, terminal.columns)) terminal.out(line);
  for (const line of wrapped(`commands: ${exec.driver ?? "none"}, ${exec.why}`, terminal.columns)) terminal.out(line);
  if (read.files.length === 0) terminal.out("no holdfast.toml was found");
}

function placeOf({ from, place }: Source): string {
  return from === "default" ? "default" : from === "flag" || from === "environment" ? place : `${from}: ${place}`;
}
