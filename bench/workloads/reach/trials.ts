import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createHoldfast, defineTool, type Holdfast } from "../../../src/index.ts";
import { sqlite } from "../../../src/stores/sqlite/entry.ts";
import type { Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";

/** What stays when history is cut. The same at every size, so that only the history grows. */
const KEPT = 64;
const BATCH = 256;
const textOf = (n: number) => `record ${n} `.repeat(12);

async function written({ folder, size }: Task): Promise<Holdfast> {
  const holdfast = await createHoldfast({ store: sqlite(join(folder, "holdfast.db")) });
  const session = await holdfast.open("origin");
  for (let from = 0; from < size; from += BATCH) {
    const count = Math.min(BATCH, size - from);
    await session.append(Array.from({ length: count }, (_, n) => ({ kind: "user-said", text: textOf(from + n) })));
  }
  await session.checkpoint();
  await session.append(Array.from({ length: KEPT / 2 }, (_, n) => ({ kind: "user-said", text: textOf(n) })));
  await session.close();
  return holdfast;
}

/** The least that a hand-written log over the same engine would do: rows, and one that says from where they count. */
function rawWritten({ folder, size }: Task): DatabaseSync {
  const database = new DatabaseSync(join(folder, "raw.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec(
    "CREATE TABLE records (session INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID",
  );
  database.exec("CREATE TABLE sessions (id INTEGER PRIMARY KEY, origin INTEGER, through INTEGER, anchor INTEGER)");
  const insert = database.prepare("INSERT INTO records VALUES (1, ?, ?)");
  database.exec("BEGIN; INSERT INTO sessions VALUES (1, NULL, NULL, 0)");
  for (let n = 1; n <= size; n += 1) insert.run(n, JSON.stringify({ text: textOf(n) }));
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  return database;
}

export function forkHere(): Trial {
  return defineTrial({
    prepare: async (task) => ({ holdfast: await written(task), forks: 0 }),
    async run(ready) {
      ready.forks += 1;
      const fork = await ready.holdfast.fork("origin", { as: `fork-${ready.forks}` });
      await fork.close();
      return ready.holdfast;
    },
    times: 5,
    async verify(holdfast, { forks }) {
      const ids: string[] = [];
      for await (const { id } of holdfast.sessions()) ids.push(id);
      if (ids.length !== forks + 1) throw new Error(`${ids.length} sessions`);
      await holdfast.close();
      return undefined;
    },
  });
}

export function forkRaw(): Trial {
  return defineTrial({
    prepare: rawWritten,
    run(database) {
      database.prepare("INSERT INTO sessions (origin, through, anchor) SELECT 1, max(seq), 0 FROM records").run();
      return database;
    },
    times: 5,
    verify: closed,
  });
}

export function retainHere(): Trial {
  return defineTrial({
    prepare: written,
    async run(holdfast) {
      const session = await holdfast.open("origin");
      const { forgotten } = await holdfast.retain(session, { records: KEPT });
      await session.close();
      return { holdfast, forgotten };
    },
    async verify({ holdfast, forgotten }, _, { size }) {
      if (forgotten < size) throw new Error(`forgot ${forgotten} of ${size}`);
      await holdfast.close();
      return undefined;
    },
  });
}

export function retainRaw(): Trial {
  return defineTrial({
    prepare: rawWritten,
    run(database) {
      database.exec(`UPDATE sessions SET anchor = (SELECT max(seq) FROM records) - ${KEPT} WHERE id = 1`);
      return database;
    },
    verify: closed,
  });
}

export function sweepHere(): Trial {
  return defineTrial({
    async prepare(task) {
      const holdfast = await written(task);
      const session = await holdfast.open("origin");
      await holdfast.retain(session, { records: KEPT });
      await session.close();
      return holdfast;
    },
    run: async (holdfast) => ({ holdfast, swept: await holdfast.sweep({ shrink: false }) }),
    async verify({ holdfast, swept }, _, { size }) {
      if (swept.records < size) throw new Error(`swept ${swept.records} of ${size}`);
      await holdfast.close();
      return undefined;
    },
  });
}

export function sweepRaw(): Trial {
  return defineTrial({
    prepare: rawWritten,
    run(database) {
      const some = database.prepare(
        `DELETE FROM records WHERE session = 1 AND seq <= (SELECT min(seq) + ${BATCH - 1} FROM records)`,
      );
      while (Number(some.run().changes) === BATCH);
      return database;
    },
    verify: closed,
  });
}

/** How many calls are timed together: a checkpoint comes with some of them. */
const PAID = 200;

/** A session that has done so many things outside does some more. Not synced: what a disk takes is the same for all. */
export function payHere(): Trial {
  return defineTrial({
    async prepare({ folder, size }) {
      let paid = 0;
      const pay = defineTool<{ readonly order: number }>({
        name: "pay",
        access: "external",
        effects: { payment: { run: () => ({ receipt: (paid += 1) }), undo: () => {} } },
        run: ({ order }, call) => call.effect("payment", { order }, { key: `order ${order}` }),
      });
      const store = sqlite(join(folder, "holdfast.db"), { durability: "process" });
      const holdfast = await createHoldfast({ store, tools: [pay] });
      const session = await holdfast.open("origin");
      const payAll = async (from: number, to: number) => {
        for (let order = from; order < to; order += 1) {
          const { ok } = await session.runTool({ name: "pay", input: { order } });
          if (!ok) throw new Error(`order ${order} was not paid`);
        }
      };
      await payAll(0, size);
      return {
        holdfast,
        session,
        payMore: () => payAll(size, size + PAID),
        again: () => payAll(0, 1),
        paid: () => paid,
      };
    },
    run: ({ payMore }) => payMore(),
    async verify(_, { holdfast, session, again, paid }, { size }) {
      await again(); // each key once
      if (paid() !== size + PAID) throw new Error(`${paid()} payments`);
      await session.close();
      await holdfast.close();
      return undefined;
    },
  });
}

/** Opened, begun, done, closed: a row each. */
export function payRaw(): Trial {
  return defineTrial({
    prepare({ folder, size }) {
      const database = new DatabaseSync(join(folder, "raw.db"));
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      database.exec("CREATE TABLE records (seq INTEGER PRIMARY KEY, body TEXT)");
      const insert = database.prepare("INSERT INTO records (body) VALUES (?)");
      const payAll = (from: number, to: number) => {
        for (let order = from; order < to; order += 1)
          for (const kind of ["opened", "begun", "done", "closed"])
            insert.run(JSON.stringify({ kind, order, text: textOf(order) }));
      };
      payAll(0, size);
      return { database, payMore: () => payAll(size, size + PAID) };
    },
    run({ database, payMore }) {
      payMore();
      return database;
    },
    verify: closed,
  });
}

function closed(database: DatabaseSync): undefined {
  database.close();
}
