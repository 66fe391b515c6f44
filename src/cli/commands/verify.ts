import { closeSync, openSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Bytes, HoldfastError, toSessionId, type VerifyReport, verify, verifyBundle } from "../../index.ts";
import { inspectSqlite, salvageSqlite } from "../../stores/sqlite/entry.ts";
import { bundleAt, writeWhole } from "../bundle/file.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { readConfig } from "../config/config.ts";
import { untilInterrupted } from "../interrupted.ts";
import { STORE_OPTION } from "../options.ts";
import { kernelOn, unknownIn } from "../session/place.ts";
import { count } from "../words.ts";

export const verifyCommand: CommandBody = {
  usage: "holdfast verify [SESSION | STORE | BUNDLE] [--store FILE] [--salvage OUT]",
  examples: [
    "holdfast verify",
    "holdfast verify rename-foo --json",
    "holdfast verify backups/monday.db            another store, even in a read-only folder",
    "holdfast verify rename-foo.bundle.tar        a file that `holdfast export` wrote",
    "holdfast verify --salvage rescued.jsonl      every record that can be proven",
  ],
  options: {
    store: STORE_OPTION,
    salvage: {
      type: "string",
      value: "OUT",
      help: "write every record of a closed, damaged store that can be proven to this new file",
    },
  },
  async run(parsed, terminal) {
    const { values, positionals } = parsed;
    const json = values["json"] === true;
    const [given, surplus] = positionals;
    if (surplus !== undefined)
      throw new HoldfastError("BAD_OPTION", { option: surplus, wants: "one session, or none" });
    const file = given === undefined ? undefined : fileAt(terminal.cwd, given);
    if (file?.is === "bundle") return judgeBundle(file.path, json, terminal);
    const path = file?.path ?? String((await readConfig(parsed, terminal)).values.store);
    const session = file === undefined ? given : undefined;
    if (typeof values["salvage"] === "string" && session !== undefined)
      throw new HoldfastError("BAD_OPTION", {
        option: session,
        wants: "no session beside --salvage: it takes them all",
      });
    if (typeof values["salvage"] === "string")
      return untilInterrupted(() => salvage(path, resolve(terminal.cwd, String(values["salvage"])), json, terminal));
    const store = await inspectSqlite(path);
    try {
      const report = await untilInterrupted(() =>
        verify(store, {
          ...(session === undefined ? {} : { session: toSessionId(session) }),
          progress: json ? () => {} : progressLine(terminal),
        }),
      );
      if (json) terminal.out(JSON.stringify(report));
      else for (const line of describe(report)) terminal.out(line);
      return report.ok ? 0 : 1;
    } catch (error) {
      if (session === undefined || !HoldfastError.is(error, "SESSION_UNKNOWN")) throw error;
      throw await unknownIn({ path }, await kernelOn({ store }), session);
    } finally {
      await store.close();
    }
  },
};

/**
 * A session's id is no path, so a file that is there was meant: a store by how it begins or is called, else a bundle. A path
 * that leads to none is looked for as a store all the same: as the id of a session it would be judged by its letters.
 */
function fileAt(folder: string, given: string): { readonly path: string; readonly is: "store" | "bundle" } | undefined {
  const path = resolve(folder, given);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return /[/\\]/.test(given) ? { path, is: "store" } : undefined;
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
  const left = blobs.left === 0 ? "" : `, ${count(blobs.left, "blob")} stayed behind when sessions were imported`;
  const checked = `${count(sessions.length, "session")}, ${count(records, "record")}, ${count(blobs.checked, "blob")} checked${left}`;
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

/**
 * Every record that proves itself, also when the store fails in the middle: what was proven by then is kept, and the
 * failure told. Never into an existing file: what it would replace may be the only other copy.
 */
async function salvage(path: string, out: string, json: boolean, terminal: Terminal): Promise<ExitCode> {
  const found = { records: 0, segments: new Set<number>(), failure: undefined as unknown };
  await writeWhole("--salvage", out, proven(path, found));
  if (found.failure !== undefined) throw failed(path, found.failure);
  const { records, segments } = found;
  const report = { ok: true, records, segments: segments.size, file: out };
  terminal.out(
    json
      ? JSON.stringify(report)
      : `${count(records, "proven record")} of ${count(segments.size, "segment")} written to ${out}`,
  );
  return 0;
}

interface Salvaged {
  records: number;
  readonly segments: Set<number>;
  failure: unknown;
}

/** Lines of so many records at once; in between whoever wants to end the command is heard. */
const LINES = 500;

async function* proven(path: string, found: Salvaged): AsyncIterable<Bytes> {
  const lines: string[] = [];
  const piece = () => Buffer.from(lines.splice(0).join(""));
  try {
    for (const { segment, record } of salvageSqlite(path)) {
      lines.push(`${JSON.stringify({ segment, ...record })}\n`);
      found.records += 1;
      found.segments.add(segment);
      if (lines.length < LINES) continue;
      yield piece();
      await nextTurn();
    }
  } catch (error) {
    if (found.records === 0) throw failed(path, error); // an empty file would only be in the way of the next attempt
    found.failure = error;
  }
  yield piece();
}

function failed(path: string, error: unknown): unknown {
  if (HoldfastError.is(error)) return error;
  const system = String((error as NodeJS.ErrnoException).code);
  return new HoldfastError("STORE_UNREACHABLE", { path, system }, { cause: error });
}
