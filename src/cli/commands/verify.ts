import { closeSync, fsyncSync, openSync, readSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError, toSessionId, type VerifyReport, verify, verifyBundle } from "../../index.ts";
import { inspectSqlite, salvageSqlite } from "../../stores/sqlite/entry.ts";
import { bundleAt } from "../bundle/file.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { readConfig } from "../config/config.ts";
import { STORE_OPTION } from "../options.ts";
import { count } from "../words.ts";

export const verifyCommand: CommandBody = {
  usage: "holdfast verify [SESSION | STORE | BUNDLE] [--store FILE] [--salvage OUT]",
  examples: [
    "holdfast verify",
    "holdfast verify rename-foo --json",
    "holdfast verify backups/monday.db            another store, also where nothing can be written",
    "holdfast verify rename-foo.bundle.tar       a file that `holdfast export` wrote",
    "holdfast verify --salvage rescued.jsonl      every record that is proven",
  ],
  options: {
    store: STORE_OPTION,
    salvage: {
      type: "string",
      value: "OUT",
      help: "write all proven records of a closed, damaged store to this new file",
    },
  },
  async run(parsed, terminal) {
    const { values, positionals } = parsed;
    const json = values["json"] === true;
    const [given, surplus] = positionals;
    if (surplus !== undefined)
      throw new HoldfastError("BAD_OPTION", { option: surplus, wants: "one session, or none" });
    const file = given === undefined ? undefined : fileAt(resolve(terminal.cwd, given));
    if (file?.is === "bundle") return judgeBundle(file.path, json, terminal);
    const path = file?.path ?? String((await readConfig(parsed, terminal)).values.store);
    const session = file === undefined ? given : undefined;
    if (typeof values["salvage"] === "string")
      return salvage(path, resolve(terminal.cwd, values["salvage"]), json, terminal);
    const store = await inspectSqlite(path);
    try {
      const report = await verify(store, {
        ...(session === undefined ? {} : { session: toSessionId(session) }),
        progress: json ? () => {} : progressLine(terminal),
      });
      if (json) terminal.out(JSON.stringify(report));
      else for (const line of describe(report)) terminal.out(line);
      return report.ok ? 0 : 1;
    } finally {
      await store.close();
    }
  },
};

/** A session's id is no path, so a file that is there was meant: a store by how it begins or is called, else a bundle. */
function fileAt(path: string): { readonly path: string; readonly is: "store" | "bundle" } | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return undefined;
  const isStore = !found.isFile() || path.endsWith(".db") || beginsLikeStore(path);
  return { path, is: isStore ? "store" : "bundle" };
}

function beginsLikeStore(path: string): boolean {
  const magic = Buffer.alloc(15);
  const handle = openSync(path, "r");
  try {
    readSync(handle, magic, 0, magic.length, 0);
  } finally {
    closeSync(handle);
  }
  return magic.toString("latin1") === "SQLite format 3";
}

async function judgeBundle(path: string, json: boolean, terminal: Terminal): Promise<ExitCode> {
  const report = await verifyBundle(bundleAt(path));
  if (json) terminal.out(JSON.stringify(report));
  else {
    for (const fault of report.faults) terminal.out(`${path}: ${fault}`);
    const checked = `${count(report.records, "record")} of ${report.session}, ${count(report.files, "file")} checked`;
    terminal.out(report.ok ? `ok: ${checked}` : `${count(report.faults.length, "fault")}: ${checked}`);
  }
  return report.ok ? 0 : 1;
}

function describe(report: VerifyReport): readonly string[] {
  const records = report.sessions.reduce((sum, session) => sum + session.records, 0);
  const lines = report.structure.map((fault) => `store: ${fault}`);
  for (const { session, damaged, failed } of report.sessions) {
    for (const { seq, through, detail } of damaged) {
      lines.push(`${session}: record ${seq === through ? seq : `${seq}-${through}`} ${detail}`);
    }
    if (failed !== undefined) lines.push(`${session}: ${failed}`);
  }
  for (const { name, fault } of report.blobs.faults) lines.push(`blob ${name}: ${fault}`);
  const { sessions, blobs } = report;
  const checked = `${count(sessions.length, "session")}, ${count(records, "record")}, ${count(blobs.checked, "blob")} checked`;
  lines.push(report.ok ? `ok: ${checked}` : `${count(lines.length, "fault")}: ${checked}`);
  return lines;
}

/** A line at most every few thousand records: long checks say that they are alive. */
function progressLine(terminal: Terminal) {
  let next = 20_000;
  return ({ records }: { readonly records: number }) => {
    if (records < next) return;
    next = records + 20_000;
    terminal.err(`… ${records} records checked`);
  };
}

/** Never into an existing file: what it would replace may be the only other copy. */
function salvage(path: string, out: string, json: boolean, terminal: Terminal): ExitCode {
  let handle: number;
  try {
    handle = openSync(out, "wx", 0o600);
  } catch (error) {
    throw new HoldfastError("BAD_OPTION", {
      option: "--salvage",
      value: out,
      system: String((error as NodeJS.ErrnoException).code),
    });
  }
  let records = 0;
  const sessions = new Map<number, number>();
  try {
    for (const { segment, record } of salvageSqlite(path)) {
      writeFileSync(handle, `${JSON.stringify({ segment, ...record })}\n`);
      records += 1;
      sessions.set(segment, (sessions.get(segment) ?? 0) + 1);
    }
    fsyncSync(handle);
  } catch (error) {
    if (records === 0) rmSync(out); // an empty file would only be in the way of the next attempt
    if (HoldfastError.is(error)) throw error;
    throw new HoldfastError(
      "STORE_UNREACHABLE",
      { path, system: String((error as NodeJS.ErrnoException).code) },
      { cause: error },
    );
  } finally {
    closeSync(handle);
  }
  const report = { records, segments: sessions.size, file: out };
  terminal.out(
    json
      ? JSON.stringify(report)
      : `${count(records, "proven record")} of ${count(sessions.size, "segment")} written to ${out}`,
  );
  return 0;
}
