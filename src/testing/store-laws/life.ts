import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { HoldfastError } from "../../base/errors.ts";
import type { SealedRecord } from "../../records/chain.ts";
import type { LawBook } from "../law.ts";
import {
  appendOf,
  applied,
  begin,
  expectBodies,
  linkOf,
  recordsOf,
  rowOf,
  sealed,
  take,
  write,
  writeWithBlobs,
} from "../pen.ts";
import type { StoreContext } from "./context.ts";
import { sweepAll, everything } from "./sweeping.ts";

/** What outlives a store, and what does not. */
export const life: LawBook<StoreContext> = [
  [
    "[STORE-18] what was acknowledged is there for whoever opens next",
    async ({ open, can }) => {
      const store = await open();
      const pen = await begin(store);
      await writeWithBlobs(pen, '"small"', new Uint8Array([1]));
      const ref = await store.blobs.put(new Uint8Array(200_000).fill(3));
      const references = [{ seq: 2, name: ref.name }];
      applied(await store.commit(appendOf(pen, sealed(pen.head, '"large"'), { references, blobs: [{ ref }] })));
      applied(await store.commit({ kind: "drop", session: pen.session, epoch: 1, seqs: [1], reason: "r" }));
      const expected = await everything(store);
      if (can.shared) {
        const beside = await open();
        deepStrictEqual(await everything(beside), expected);
        await beside.close();
      } else await rejects(open(), (error) => HoldfastError.is(error));
      await store.close();
      const later = await open();
      deepStrictEqual(await everything(later), expected);
      ok(later.blobs.holds(ref.name));
      await later.close();
    },
  ],
  [
    "[STORE-19] an owner is dead once its store has closed, and never before",
    async ({ open, can }) => {
      const store = await open();
      strictEqual(store.isDead(store.owner), false);
      const beside = can.shared ? await open() : undefined;
      strictEqual(beside?.isDead(store.owner) ?? false, false);
      const pen = await begin(store);
      await store.close();
      const other = beside ?? (await open());
      notStrictEqual(store.owner, other.owner);
      strictEqual(other.isDead(store.owner), true);
      strictEqual(other.isDead(store.owner), true);
      const heir = await take(other, "session", { over: pen.epoch });
      strictEqual(heir.epoch, pen.epoch + 1);
      await other.close();
      const again = await open();
      ok(again.owner !== store.owner && again.owner !== other.owner);
      await again.close();
    },
  ],
  [
    "[STORE-19] a closed store refuses to read and to write, and closing twice is closing once",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const last = store.commit(appendOf(pen, sealed(pen.head, '"sent before closing"')));
      await Promise.all([store.close(), store.close()]);
      await store.close();
      applied(await last);
      const closed = (error: unknown) => HoldfastError.is(error, "STORE_CLOSED");
      await rejects(store.commit({ kind: "sweep", limit: 1, candidates: [] }), closed);
      await rejects(
        store.reading(async () => 0),
        closed,
      );
      const later = await open();
      await expectBodies(later, "session", ['"sent before closing"']);
      await later.close();
    },
  ],
  [
    "[STORE-20] sessions are listed in the order of their ids, page by page",
    async ({ open }) => {
      const store = await open();
      const ids = ["b", "a", "C", "a-1", "a.b", "a:b", "_", "10", "9"];
      for (const id of ids) await begin(store, id);
      const found: string[] = [];
      for (let after = ""; ; ) {
        const page = await store.reading((read) => read.sessions(after as "", 2));
        for (const row of page) {
          ok(!("damaged" in row));
          deepStrictEqual(row, await rowOf(store, row.id));
          found.push(row.id);
        }
        ok(page.length <= 2, "more sessions than were asked for");
        ok(found.length <= ids.length, "the same sessions again");
        const last = page.at(-1);
        if (last === undefined) break;
        after = last.id;
      }
      deepStrictEqual(found, ids.toSorted());
      deepStrictEqual(await store.reading((read) => read.structure()), []);
      await store.close();
    },
  ],
  [
    "[STORE-20] a reader's failure is its own: the store goes on",
    async ({ open }) => {
      const store = await open();
      await begin(store);
      const mine = new Error("mine");
      await rejects(
        store.reading(async () => {
          throw mine;
        }),
        (error) => error === mine,
      );
      strictEqual(await store.reading(async () => 42), 42);
      const many = await Promise.all(Array.from({ length: 20 }, () => rowOf(store, "session")));
      strictEqual(many.length, 20);
      await store.close();
    },
  ],
  [
    "[STORE-20] giving space back to the disk changes nothing that can be read",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, ...Array.from({ length: 200 }, () => JSON.stringify("x".repeat(2_000))));
      const [, second] = (await recordsOf(store, "session", 256)).slice(-3);
      applied(await store.commit(appendOf(pen, [], { anchor: linkOf(second as SealedRecord) })));
      await sweepAll(store);
      const expected = await everything(store);
      const { bytes, whole } = await store.shrink();
      ok(bytes >= 0 && whole);
      deepStrictEqual(await everything(store), expected);
      await write(pen, '"goes on"');
      await store.close();
    },
  ],
];
