import { expect, test } from "vitest";
import type { Store } from "../../src/contracts/store.ts";
import type { SealedRecord } from "../../src/records/chain.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import { kernel, OPTIONS, opened, run } from "../support/durable.ts";
import { expectDenied } from "../support/planning.ts";
import { type MemoryDisk } from "../support/stores.ts";

const edit = { name: "step", input: { n: "leaked" } };

/** A kernel whose store gives these records back with one byte changed. */
function damaging(disk: MemoryDisk, isHit: (record: SealedRecord) => boolean, how: Partial<SealedRecord>): Holdfast {
  const { deps } = kernel(disk);
  const store: Store = {
    ...deps.store,
    reading: (use) =>
      deps.store.reading((read) =>
        use({
          ...read,
          records: async (row, range) =>
            (await read.records(row, range)).map((record) => (isHit(record) ? { ...record, ...how } : record)),
        }),
      ),
  };
  return new Holdfast({ ...deps, store }, OPTIONS);
}

async function planned() {
  const { session, disk } = await opened();
  await run(session, "one");
  await session.setMode("plan");
  const head = session.journal.head.seq;
  await session.close();
  return { disk, head };
}

test.each([
  ["its body", { body: "{}" }],
  ["its header", { kind: "user-said" }],
])(
  "[MODE-13] the change into plan mode is damaged in %s: the session opens in plan mode, and says why",
  async (_, how) => {
    const { disk, head } = await planned();
    const holdfast = damaging(disk, ({ seq }) => seq === head, how);
    expect(await (await holdfast.look("s")).mode()).toBe("plan");
    const session = await holdfast.open("s");
    expect([session.mode, session.recovered.damaged]).toEqual(["plan", [head]]);
    expect(session.catalog.own.reason).toMatch(/damaged/);
    expectDenied(await session.runTool(edit));
    await session.setMode("act"); // the user has seen it, and wants to go on
    await session.close();
    const again = await holdfast.open("s");
    expect([again.mode, (await again.runTool(edit)).ok]).toEqual(["act", true]);
    await again.close();
  },
);

test("[MODE-13] every record of the flip is damaged, or missing: it opens in plan mode all the same", async () => {
  const { disk, head } = await planned();
  const session = await damaging(disk, ({ seq }) => seq > head - 4, { body: "{}" }).open("s");
  expect(session.mode).toBe("plan");
  await session.close();
});

test("[MODE-13] damage that cannot have been a change of the mode changes no mode", async () => {
  const { session, disk } = await opened();
  await session.append({ kind: "user-said", text: "hello" });
  const { seq } = session.journal.head;
  await run(session, "one");
  await session.close();
  const again = await damaging(disk, (record) => record.seq === seq, { body: "{}" }).open("s");
  expect([again.recovered.damaged, again.mode]).toEqual([[seq], "act"]);
  await again.close();
});
