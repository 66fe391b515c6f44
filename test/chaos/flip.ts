import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type BlobName,
  createHoldfast,
  type Holdfast,
  HoldfastError,
  type JournalEntry,
  readEntries,
  type SealedRecord,
  toSessionId,
} from "../../src/index.ts";
import { readBlob } from "../../src/journal/blobs.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { salvageSqlite } from "../../src/stores/sqlite/salvage.ts";
import { markOf } from "./auditor.ts";
import { startWorker } from "./child.ts";
import {
  type Copy,
  copiesOf,
  type Damage,
  damage,
  lastTransactionAt,
  liesOn,
  pagesOfTree,
  survives,
} from "./damage.ts";
import { digestOf, Ledger } from "./ledger.ts";
import { type Rig, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";
import { describe } from "./workload.ts";

/** What a store holds before anybody damages it. */
interface Base {
  readonly folder: string;
  readonly name: string;
  /** Every entry, by session and sequence number, as a digest. */
  readonly sessions: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** By session and sequence number. */
  readonly hashes: ReadonlyMap<string, string>;
  /** By hash; a fork shares its origin's. */
  readonly records: ReadonlyMap<string, SealedRecord>;
  readonly copies: ReadonlyMap<string, readonly Copy[]>;
  /** By session, the calls that nobody closed: recovery must. */
  readonly dangling: ReadonlyMap<string, ReadonlySet<string>>;
  readonly lastTransactionAt: number;
  /** Where the sessions' own rows lie: whatever is altered there costs no record. */
  readonly rowPages: ReadonlySet<number>;
  readonly targets: readonly string[];
  readonly rows: readonly string[];
}

const STEPS =
  "say call largeBlob smallBlob hugeBlob say dangling overlap operation checkpoint say call fork group smallBlob say largeBlob dangling call say".split(
    " ",
  );

export const flip: Rig = {
  about: "bit flips, truncations, swapped pages in closed and crashed stores: nothing bad served, the rest salvaged",
  cases: 500,
  quickCases: 30,
  async run(tally, { cases, seed, extra }) {
    const folder = scratchFolder("flip");
    const bases = [
      await makeBase(folder, "closed", seed, 1, false),
      await makeBase(folder, "closed-long", seed, 6, false),
      await makeBase(folder, "crashed", seed, 1, true),
      await makeBase(folder, "crashed-long", seed, 12, true),
    ];
    for (let nth = 0; nth < cases; nth += 1) {
      const base = tally.random.pick(bases);
      const place = join(folder, `case-${nth}`);
      cpSync(base.folder, place, { recursive: true });
      const done = damage(place, { texts: base.targets, rows: base.rows }, tally.random, extra.get("only")?.split(","));
      const wrong = await within(60_000, "a case", examine(base, place, done, tally)).catch((error: unknown) => [
        describe(error),
      ]);
      tally.done(`${nth}: ${base.name}, ${done.what}`, wrong);
      removeFolder(place);
    }
    removeFolder(folder);
  },
};

async function makeBase(root: string, name: string, seed: string, rounds: number, crashed: boolean): Promise<Base> {
  const folder = join(root, name);
  const path = join(folder, "store.db");
  const ledger = new Ledger();
  const steps = Array.from({ length: rounds }, () => STEPS).flat();
  const worker = startWorker({ path, seed, run: name, session: "main", steps, stay: crashed }, ledger);
  await within(60_000, "a worker", worker.heard("done"));
  if (crashed) worker.child.kill("SIGKILL");
  await worker.ended;
  const broken = ledger.takeBroken();
  if (broken.length > 0) throw new Error(`the store could not be made: ${broken[0]}`);
  const copy = join(root, `${name}-read`);
  cpSync(folder, copy, { recursive: true });
  await using hf = await createHoldfast({ store: sqlite(join(copy, "store.db")) });
  const sessions = new Map<string, ReadonlyMap<number, string>>();
  const hashes = new Map<string, string>();
  const records = new Map<string, SealedRecord>();
  const targets: string[] = [];
  const rows: string[] = [];
  const dangling = new Map<string, ReadonlySet<string>>();
  for await (const row of hf.sessions()) {
    if ("damaged" in row) throw new Error(`the store was made damaged: ${row.damaged}`);
    const all: JournalEntry[] = [];
    for await (const entry of readEntries(hf.store, row.id)) all.push(entry);
    const open = new Set<string>();
    for (const entry of all) {
      if (entry.kind === "call-opened") open.add(entry.callId);
      if (entry.kind === "call-closed") open.delete(entry.callId);
    }
    dangling.set(row.id, open);
    sessions.set(row.id, new Map(all.map((entry) => [entry.seq, digestOf(entry)])));
    rows.push(`${row.id}${row.createdAt}`);
    for (let from = 1; from <= row.head.seq; ) {
      const page = await hf.store.reading((read) => read.records(row, { from, to: row.head.seq, limit: 256 }));
      for (const record of page) {
        records.set(record.hash, record);
        hashes.set(`${row.id}:${record.seq}`, record.hash);
        if (record.kind === "checkpoint-kept") targets.push(record.hash);
        for (const [name] of (record.body ?? "").matchAll(/sha256-[0-9a-f]{64}/g)) targets.push(name);
      }
      from = (page.at(-1)?.seq ?? row.head.seq) + 1;
    }
  }
  const copies = copiesOf(path, (hash) => textOf(records.get(hash)));
  return {
    folder,
    name,
    sessions,
    hashes,
    records,
    copies,
    dangling,
    lastTransactionAt: lastTransactionAt(path),
    rowPages: pagesOfTree(path, rootOfRows(join(copy, "store.db"))),
    targets,
    rows,
  };
}

function rootOfRows(path: string): number {
  using database = new DatabaseSync(path, { readOnly: true });
  return Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sessions'").get()?.["rootpage"]);
}

/** As it stands in its row: the texts follow each other without a gap, and version 1 takes no byte. */
function textOf(record: SealedRecord | undefined): Buffer | undefined {
  if (record === undefined) return undefined;
  const { kind, at, salt, bodyDigest, prev, hash, body } = record;
  return Buffer.from(`${kind}${at}${salt}${bodyDigest}${prev}${hash}${body ?? ""}`);
}

async function examine(
  base: Base,
  place: string,
  done: Damage,
  tally: { count(what: string, by?: number): void },
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const path = join(place, "store.db");
  const { salvaged, failed } = salvage(base, path, wrong);
  const seen = await look(base, path, done, wrong);
  for (const [hash, copies] of base.copies) {
    if (salvaged.has(hash) || seen.served.has(hash) || !copies.some((copy) => survives(copy, done))) continue;
    const record = base.records.get(hash);
    wrong.push(`record ${record?.seq} (${record?.kind}) is untouched, and neither reading nor salvage finds it`);
  }
  tally.count(seen.refused ? "refused at open" : seen.reported ? "reported" : "harmless");
  tally.count("records salvaged", salvaged.size);
  if (failed !== undefined) wrong.push(`salvage failed: ${failed}`);
  return wrong;
}

/** Only what proves itself, and only what was there. */
function salvage(base: Base, path: string, wrong: string[]) {
  const salvaged = new Set<string>();
  try {
    for (const { record } of salvageSqlite(path)) {
      const truth = base.records.get(record.hash);
      if (truth === undefined) wrong.push(`salvage made up record ${record.seq}`);
      else if (record.body !== truth.body || record.seq !== truth.seq || record.kind !== truth.kind)
        wrong.push(`salvage returned record ${record.seq} altered`);
      salvaged.add(record.hash);
    }
  } catch (error) {
    return { salvaged, failed: describe(error) };
  }
  return { salvaged, failed: undefined };
}

interface Seen {
  readonly served: ReadonlySet<string>;
  readonly refused: boolean;
  readonly reported: boolean;
}

/** Opens the damaged store as anybody would. Every answer is a typed refusal, a named gap, or the truth. */
async function look(base: Base, path: string, done: Damage, wrong: string[]): Promise<Seen> {
  const served = new Set<string>();
  let hf: Holdfast;
  try {
    hf = await createHoldfast({ store: sqlite(path) });
  } catch (error) {
    if (!HoldfastError.is(error)) wrong.push(`open: ${describe(error)}`);
    return { served, refused: true, reported: true };
  }
  const reports: string[] = [];
  const lost: string[] = [];
  const tell = (error: unknown, what: string) => {
    if (!HoldfastError.is(error)) wrong.push(`${what}: ${describe(error)}`);
    reports.push(what);
  };
  try {
    for (const [id, truth] of base.sessions) {
      const got = await readSession(hf, id, tell, reports);
      for (const entry of got) {
        if (truth.get(entry.seq) !== digestOf(entry)) wrong.push(`BAD RECORD SERVED: ${id}:${entry.seq}`);
        served.add(base.hashes.get(`${id}:${entry.seq}`) ?? "");
      }
      if (got.length < truth.size) lost.push(`${id}: ${got.length} of ${truth.size}`);
      await checkContent(hf, got, tell, wrong);
    }
    try {
      const report = await hf.verify();
      if (!report.ok) reports.push("verify");
    } catch (error) {
      tell(error, "verify");
    }
    const excused = done.file === "wal" && (done.length !== undefined || (done.at ?? 0) >= base.lastTransactionAt);
    if (lost.length > 0 && reports.length === 0 && !excused) wrong.push(`lost without a word: ${lost.join(", ")}`);
    if (lost.length > 0 && liesOn(base.rowPages, done)) wrong.push(`a damaged row cost records: ${lost.join(", ")}`);
    for (const id of base.sessions.keys())
      await recoverSession(hf, id, base.dangling.get(id) ?? new Set(), tell, wrong);
  } finally {
    await hf.close().catch((error: unknown) => tell(error, "close"));
  }
  return { served, refused: false, reported: reports.length > 0 };
}

async function readSession(
  hf: Holdfast,
  id: string,
  tell: (error: unknown, what: string) => void,
  reports: string[],
): Promise<readonly JournalEntry[]> {
  const got: JournalEntry[] = [];
  try {
    for await (const entry of readEntries(hf.store, toSessionId(id))) {
      if (entry.kind === "damaged") reports.push(`${id}:${entry.seq} ${entry.detail}`);
      else got.push(entry);
    }
  } catch (error) {
    tell(error, `read ${id}`);
  }
  return got;
}

async function checkContent(
  hf: Holdfast,
  entries: readonly JournalEntry[],
  tell: (error: unknown, what: string) => void,
  wrong: string[],
): Promise<void> {
  for (const entry of entries) {
    const [digest] = markOf(entry)?.content ?? [];
    const blobs = (entry as { readonly blobs?: readonly { readonly name: BlobName }[] }).blobs ?? [];
    for (const { name } of blobs) {
      const hash = createHash("sha256");
      try {
        for await (const chunk of readBlob(hf.store, name)) hash.update(chunk);
        if (digest !== undefined && hash.digest("hex") !== digest) wrong.push(`BAD CONTENT SERVED: ${name}`);
      } catch (error) {
        tell(error, `content ${name}`);
      }
    }
  }
}

/**
 * A session that opens for writing has closed what nobody had, whatever was damaged, and closed nothing twice. A closing
 * record that was lost before the newest checkpoint is named by every reader; opening does not look so far back.
 */
async function recoverSession(
  hf: Holdfast,
  id: string,
  dangling: ReadonlySet<string>,
  tell: (error: unknown, what: string) => void,
  wrong: string[],
): Promise<void> {
  try {
    const before = (await readSession(hf, id, tell, [])).filter((entry) => entry.kind !== "dropped");
    const session = await hf.open(id, { create: false });
    await session.close();
    let readable = true;
    const gaps: string[] = [];
    const after = await readSession(hf, id, () => (readable = false), gaps);
    // What SQLite writes into pages that are out of order it may not find again. Every reader is told; salvage has it.
    if (!readable || gaps.some((gap) => gap.endsWith("missing"))) return;
    const closed = after.flatMap((entry) => (entry.kind === "call-closed" ? [entry.callId] : []));
    for (const entry of before)
      if (entry.kind === "call-opened" && dangling.has(entry.callId) && !closed.includes(entry.callId))
        wrong.push(`I3 ${id}: the call opened at ${entry.seq} is open after recovery`);
    for (const [index, callId] of closed.entries())
      if (closed.indexOf(callId) !== index) wrong.push(`I3 ${id}: ${callId} is closed twice`);
    const again = await hf.open(id, { create: false });
    const { closedCalls, damaged } = again.recovered;
    if (closedCalls.length + damaged.length > 0) wrong.push(`I8 ${id}: a second open had to repair again`);
    await again.close();
  } catch (error) {
    tell(error, `open ${id}`);
  }
}
