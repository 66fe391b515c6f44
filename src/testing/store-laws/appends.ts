import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { genesisOf, type Link, type SealedRecord } from "../../records/chain.ts";
import type { LawBook } from "../law.ts";
import {
  appendOf,
  applied,
  begin,
  expectBodies,
  linkOf,
  recordsOf,
  refused,
  rowOf,
  sealed,
  smallBlob,
  take,
  write,
  writeWithBlobs,
} from "../pen.ts";
import type { StoreContext } from "./context.ts";
import { changeEverything } from "./sweeping.ts";

/** How records join the chain, and how they are read. */
export const appends: LawBook<StoreContext> = [
  [
    "[STORE-6] an append is applied onto the head it was sealed on, and nowhere else",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const [first] = await write(pen, "{}");
      const before = await rowOf(store, "session");
      const elsewhere: readonly Link[] = [
        genesisOf(pen.session),
        { seq: 1, hash: "0".repeat(64) },
        { seq: 2, hash: linkOf(first as SealedRecord).hash },
      ];
      for (const after of elsewhere) {
        const conflict = refused(await store.commit(appendOf(pen, sealed(after, "{}"), { after })), "head-moved");
        deepStrictEqual(conflict, { kind: "head-moved", head: linkOf(first as SealedRecord) });
      }
      deepStrictEqual(await rowOf(store, "session"), before);
      await expectBodies(store, "session", ["{}"]);
      await store.close();
    },
  ],
  [
    "[STORE-6] records that do not follow each other without a gap are not kept",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const [one, two, three] = sealed(pen.head, '"1"', '"2"', '"3"') as [SealedRecord, SealedRecord, SealedRecord];
      const [loose] = sealed({ seq: 1, hash: "f".repeat(64) }, '"x"') as [SealedRecord];
      for (const records of [[two], [one, three], [one, loose], [two, one], [one, one]]) {
        await rejects(store.commit(appendOf(pen, records)));
      }
      strictEqual((await rowOf(store, "session")).head.seq, 0);
      await expectBodies(store, "session", []);
      await write(pen, '"1"');
      await store.close();
    },
  ],
  [
    "[STORE-6] sequence numbers grow by one from append to append, and receipts name them",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      for (const [index, size] of [1, 3, 1, 5].entries()) {
        const records = sealed(pen.head, ...Array.from({ length: size }, (_, at) => `"${index}/${at}"`));
        const receipt = applied(await store.commit(appendOf(pen, records)));
        deepStrictEqual(
          [receipt.first, receipt.last, receipt.repeated],
          [pen.head.seq + 1, pen.head.seq + size, false],
        );
        pen.head = linkOf(records.at(-1) as SealedRecord);
      }
      const empty = applied(await store.commit(appendOf(pen, [])));
      deepStrictEqual([empty.first, empty.last], [11, 10]);
      deepStrictEqual(
        (await recordsOf(store, "session")).map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      );
      deepStrictEqual((await rowOf(store, "session")).head, pen.head);
      await store.close();
    },
  ],
  [
    "[STORE-7] a refused batch leaves no trace, and its neighbours sent in the same breath stand",
    async ({ open }) => {
      const store = await open();
      const left = await begin(store, "left");
      const middle = await begin(store, "middle");
      const right = await begin(store, "right");
      const content = new Uint8Array([1, 2, 3]);
      const blobs = [smallBlob(content), { ref: { name: nameOfBytes(new Uint8Array([9])), size: 1 } }];
      const [a, b, c] = await Promise.all([
        store.commit(appendOf(left, sealed(left.head, '"left"'))),
        store.commit(appendOf(middle, sealed(middle.head, '"a"', '"b"'), { blobs, checkpoint: 1 })),
        store.commit(appendOf(right, sealed(right.head, '"right"'))),
      ]);
      applied(a);
      refused(b, "blobs-missing");
      applied(c);
      await expectBodies(store, "left", ['"left"']);
      await expectBodies(store, "middle", []);
      await expectBodies(store, "right", ['"right"']);
      strictEqual(await store.reading((read) => read.smallBlob(nameOfBytes(content))), undefined);
      strictEqual((await rowOf(store, "middle")).checkpoint, 0);
      await store.close();
    },
  ],
  [
    "[STORE-7] a batch that cannot be applied at all fails alone",
    async ({ open }) => {
      const store = await open();
      const good = await begin(store, "good");
      const bad = await begin(store, "bad");
      const [, second] = sealed(bad.head, '"1"', '"2"') as [SealedRecord, SealedRecord];
      const results = await Promise.allSettled([
        store.commit(appendOf(good, sealed(good.head, '"kept"'))),
        store.commit(appendOf(bad, [second])),
        store.commit({ kind: "renew", session: good.session, epoch: 1, leaseMs: 7_000_000 }),
      ]);
      deepStrictEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      await expectBodies(store, "good", ['"kept"']);
      await expectBodies(store, "bad", []);
      await store.close();
    },
  ],
  [
    "[STORE-8] batches sent without waiting are applied in the order they were sent",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const records = sealed(pen.head, ...Array.from({ length: 300 }, (_, index) => `${index}`));
      let after = pen.head;
      const sent = records.map((record) => {
        const batch = appendOf(pen, [record], { after });
        after = linkOf(record);
        return store.commit(batch);
      });
      for (const [index, receipt] of (await Promise.all(sent)).entries())
        strictEqual(applied(receipt).first, index + 1);
      deepStrictEqual(await recordsOf(store, "session", 64), records);
      await store.close();
    },
  ],
  [
    "[STORE-9] an operation is applied once, however often it is sent and by whatever writer of the session",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, '"before"');
      const batch = appendOf(pen, sealed(pen.head, '"a"', '"b"'), { operation: "op-1" });
      const first = applied(await store.commit(batch));
      deepStrictEqual([first.first, first.last, first.repeated], [2, 3, false]);
      pen.head = linkOf(batch.records[1] as SealedRecord);
      await write(pen, '"after"');
      const again = applied(await store.commit(batch));
      deepStrictEqual([again.first, again.last, again.repeated], [2, 3, true]);
      const heir = await take(store, "session", { over: pen.epoch });
      const retried = appendOf(heir, sealed(heir.head, '"a"', '"b"'), { operation: "op-1" });
      const late = applied(await store.commit(retried));
      deepStrictEqual([late.first, late.last, late.repeated], [2, 3, true]);
      const other = applied(await store.commit(appendOf(heir, sealed(heir.head, '"other"'), { operation: "op-2" })));
      strictEqual(other.repeated, false);
      const neighbour = await begin(store, "neighbour");
      const elsewhere = appendOf(neighbour, sealed(neighbour.head, '"mine"'), { operation: "op-1" });
      strictEqual(applied(await store.commit(elsewhere)).repeated, false);
      await expectBodies(store, "session", ['"before"', '"a"', '"b"', '"after"', '"other"']);
      await store.close();
    },
  ],
  [
    "[STORE-10] reading pins what it sees, whatever others commit meanwhile",
    async ({ open, can }) => {
      const store = await open();
      const pen = await begin(store);
      await writeWithBlobs(pen, '"one"', new Uint8Array([1]));
      await write(pen, '"two"');
      const read = await store.reading(async (pinned) => {
        const look = async () => {
          const row = await pinned.session(pen.session);
          ok(row !== undefined);
          const query = { from: 1, to: 100, limit: 100 };
          return {
            row,
            records: await pinned.records(row, query),
            blob: await pinned.smallBlob(nameOfBytes(new Uint8Array([2]))),
            references: await pinned.references("", 10),
            sessions: await pinned.sessions("", 10),
          };
        };
        const before = await look();
        const committing = changeEverything(pen);
        if (can.commitDuringRead) await committing;
        deepStrictEqual(await look(), before);
        return { before, committing };
      });
      await read.committing;
      notStrictEqual((await rowOf(store, "session")).head.seq, read.before.row.head.seq);
      await expectBodies(store, "session", [null, '"three"', '"four"']);
      await store.close();
    },
  ],
  [
    "[STORE-11] records come back exactly as written, in ranges, in pages, in both directions",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const bodies = Array.from({ length: 40 }, (_, index) => JSON.stringify(`${index} \u{1F980} é\u0000 "\\`));
      const records = await write(pen, ...bodies);
      const row = await rowOf(store, "session");
      const random = new SeededRandom("ranges");
      for (let round = 0; round < 60; round += 1) {
        const from = random.below(44);
        const to = random.below(44);
        const limit = 1 + random.below(12);
        const reverse = random.below(2) === 1;
        const inside = records.filter(({ seq }) => from <= seq && seq <= to);
        const expected = (reverse ? inside.toReversed() : inside).slice(0, limit);
        const found = await store.reading((read) => read.records(row, { from, to, limit, reverse }));
        deepStrictEqual(found, expected.slice(0, found.length));
        strictEqual(found.length === 0, expected.length === 0);
      }
      deepStrictEqual(await recordsOf(store, "session", 1), records);
      await store.close();
    },
  ],
  [
    "[STORE-48] an append that nobody is told of is read at once, carries what follows, and is there after opening again",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const [one] = sealed(pen.head, '"one"') as [SealedRecord];
      applied(await store.commit(appendOf(pen, [one], { unsynced: true })));
      await expectBodies(store, "session", ['"one"']);
      pen.head = linkOf(one);
      await write(pen, '"two"');
      const [three] = sealed(pen.head, '"three"') as [SealedRecord];
      applied(await store.commit(appendOf(pen, [three], { unsynced: true })));
      await store.close();
      const again = await open();
      await expectBodies(again, "session", ['"one"', '"two"', '"three"']);
      await again.close();
    },
  ],
  [
    "[STORE-46] a record that comes without its body keeps the reason why that is gone",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const [whole, gone, named] = sealed(pen.head, '"whole"', '"gone"', '"named"') as SealedRecord[];
      const records = [whole, { ...gone, body: null, dropped: "it grew old" }] as readonly SealedRecord[];
      applied(await store.commit(appendOf(pen, records)));
      pen.head = linkOf(gone as SealedRecord);
      const last = { ...named, body: null, dropped: "it held a secret" } as SealedRecord;
      applied(await store.commit(appendOf(pen, [last], { operation: "op-1" })));
      deepStrictEqual(await recordsOf(store, "session"), [...records, last]);
      await store.close();
    },
  ],
];
