/**
 * One of several processes on one store.
 *   versioned  all of them append to one session under one epoch; the head is the only thing that keeps them apart
 *   leased     all of them want the same session's lease; whoever has it appends a while and gives it back
 */
import { writeSync } from "node:fs";
import {
  createHoldfast,
  genesisOf,
  type Holdfast,
  HoldfastError,
  type RecordDraft,
  SeededRandom,
  type SessionRow,
  seal,
  toSessionId,
} from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { type ContenderOrders, SHARED } from "./contest.ts";
import { digestOf, type Testimony } from "./ledger.ts";
import { describe } from "./workload.ts";

const orders = JSON.parse(process.argv[2] ?? "{}") as ContenderOrders;
const HELD_MS = 600_000;
const random = new SeededRandom(`${orders.seed}/${orders.name}`);

function say(testimony: Testimony): void {
  writeSync(3, `${JSON.stringify(testimony)}\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function draft(nth: number): RecordDraft {
  return { kind: "user-said", text: `${orders.name} says ${nth}: ${random.hex(20)}` };
}

/** Compare and append: read the head, seal onto it, and begin again when somebody was faster. */
async function appendVersioned(hf: Holdfast): Promise<void> {
  const session = toSessionId(SHARED.versioned);
  for (let nth = 0; nth < orders.appends; nth += 1) {
    const said = draft(nth);
    const { kind, ...body } = said;
    for (;;) {
      const row = await hf.store.reading((read) => read.session(session));
      if (row === undefined) throw new Error("the session is gone");
      const record = seal(row.head, {
        kind,
        at: "2026-01-01T00:00:00.000Z",
        version: 1,
        salt: "00",
        body: JSON.stringify(body),
      });
      const receipt = await hf.store.commit({
        kind: "append",
        session,
        epoch: row.epoch,
        after: row.head,
        records: [record],
        blobs: [],
        references: [],
        leaseMs: HELD_MS,
      });
      if (receipt.ok) {
        say({ kind: "acked", session, first: record.seq, digests: [digestOf(said)], epoch: row.epoch });
        break;
      }
      if (receipt.conflict.kind !== "head-moved") throw new Error(`refused: ${JSON.stringify(receipt.conflict)}`);
    }
  }
}

/** Whoever lost the lease must have heard it from an append, before anything of its own was written. */
async function appendLeased(hf: Holdfast): Promise<void> {
  for (let nth = 0; nth < orders.appends; ) {
    let session: Awaited<ReturnType<Holdfast["open"]>>;
    say({ kind: "ready" }); // a sign of life: the checker measures silence
    try {
      session = await hf.open(SHARED.leased, { leaseMs: orders.leaseMs });
    } catch (error) {
      if (!HoldfastError.is(error, "SESSION_BUSY") && !HoldfastError.is(error, "LEASE_LOST")) throw error;
      await pause(2 + random.below(10));
      continue;
    }
    const { epoch, opened } = session.journal;
    say({ kind: "took", session: session.id, epoch, how: opened.previousWriter });
    try {
      for (let left = 5 + random.below(30); left > 0 && nth < orders.appends; left -= 1) {
        const said = draft(nth);
        const { first } = await session.append(said);
        say({ kind: "acked", session: session.id, first, digests: [digestOf(said)], epoch });
        nth += 1;
        if (random.below(4) === 0) await pause(random.below(12)); // a holder at work, not a sprint: there is time to be stopped
      }
      await session.close();
    } catch (error) {
      if (!HoldfastError.is(error, "LEASE_LOST")) throw error;
      say({ kind: "lost", session: session.id, epoch });
    }
    await pause(random.below(5));
  }
}

async function prepare(hf: Holdfast): Promise<void> {
  if (orders.mode === "leased") return;
  const session = toSessionId(SHARED.versioned);
  await hf.store.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
  // One lease for all of them, taken by whoever comes first and held for the whole run.
  const row: SessionRow | undefined = await hf.store.reading((read) => read.session(session));
  if (row?.epoch !== 0) return;
  await hf.store.commit({ kind: "lease", session, owner: hf.store.owner, leaseMs: HELD_MS });
}

try {
  await using hf = await createHoldfast({ store: sqlite(orders.path, { busyLimit: 60_000 }) });
  await prepare(hf);
  say({ kind: "ready" });
  if (orders.mode === "versioned") await appendVersioned(hf);
  else await appendLeased(hf);
  say({ kind: "done" });
} catch (error) {
  say({ kind: "broken", what: `${orders.name}: ${describe(error)}` });
  process.exitCode = 1;
}
