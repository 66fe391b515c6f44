import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { SealedRecord } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import type { LawBook } from "../law.ts";
import {
  appendOf,
  applied,
  begin,
  expectBodies,
  forkOf,
  linkOf,
  recordsOf,
  refused,
  sealed,
  write,
  writeWithBlobs,
} from "../pen.ts";
import type { StoreContext } from "./context.ts";
import { sweepAll, sweepRandomly } from "./sweeping.ts";

/** What content and records a session reaches, and what may be removed. */
export const reach: LawBook<StoreContext> = [
  [
    "[STORE-14] sweeping removes what no session reaches, in bounded steps, and nothing else",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const lost = new Uint8Array([1, 1]);
      const kept = new Uint8Array([2, 2]);
      await writeWithBlobs(pen, '"1"', lost, kept);
      await write(pen, '"2"', '"3"');
      await writeWithBlobs(pen, '"4"', kept);
      strictEqual((await sweepAll(store)).records, 0);
      const [, , third] = await recordsOf(store, "session");
      applied(await store.commit(appendOf(pen, [], { anchor: linkOf(third as SealedRecord) })));
      const step = applied(await store.commit({ kind: "sweep", limit: 2, candidates: [] }));
      deepStrictEqual([step.records, step.more], [2, true]);
      const rest = await sweepAll(store, 2);
      strictEqual(rest.records, 1);
      strictEqual(step.blobs + rest.blobs, 1);
      ok(step.bytes + rest.bytes >= lost.length);
      const blobOf = (bytes: Uint8Array) => store.reading((read) => read.smallBlob(nameOfBytes(bytes)));
      strictEqual(await blobOf(lost), undefined);
      deepStrictEqual(Uint8Array.from((await blobOf(kept)) ?? []), kept);
      await expectBodies(store, "session", ['"4"']);
      await store.close();
    },
  ],
  [
    "[STORE-14] whatever was created, appended, forked, cut and deleted, sweeping changes nothing that can be read",
    async ({ open }) => {
      const store = await open();
      for (let seed = 0; seed < 3; seed += 1) await sweepRandomly(store, new SeededRandom(`sweep-${seed}`), `s${seed}`);
      await store.close();
    },
  ],
  [
    "[STORE-42] a sweep takes no content that was put since the time it was given",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const ref = await store.blobs.put(new Uint8Array(100_000).fill(6));
      const references = [{ seq: 1, name: ref.name }];
      applied(await store.commit(appendOf(pen, sealed(pen.head, '"1"'), { references, blobs: [{ ref }] })));
      const { session, epoch } = pen;
      applied(await store.commit({ kind: "drop", session, epoch, seqs: [1], reason: "r" }));
      const unnamed = await store.blobs.put(new Uint8Array(100_000).fill(7));
      // Where nobody can tell when content was put, only a sweep by the way leaves it alone.
      for (const byTheWay of store.blobs.lastPut === undefined ? [true] : [true, false])
        applied(await store.commit({ kind: "sweep", limit: 10, candidates: [unnamed.name], putBefore: 0, byTheWay }));
      for (const { name } of [ref, unnamed])
        ok(store.blobs.holds(name), "content that somebody may be about to name is gone");
      await sweepAll(store);
      ok(!store.blobs.holds(ref.name));
      await store.close();
    },
  ],
  [
    "[STORE-15] an append that names content which is nowhere is refused, and succeeds once it is there",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const large = new Uint8Array(100_000).fill(7);
      const name = nameOfBytes(large);
      const references = [{ seq: 1, name }];
      const batch = appendOf(pen, sealed(pen.head, '"1"'), { references });
      deepStrictEqual(refused(await store.commit(batch), "blobs-missing"), { kind: "blobs-missing", names: [name] });
      const ref = await store.blobs.put(large);
      applied(await store.commit({ ...batch, blobs: [{ ref }] }));
      deepStrictEqual(await store.reading((read) => read.references("", 10)), [ref]);
      await store.close();
    },
  ],
  [
    "[STORE-15] content that a record names is never swept, also when the append did not bring it",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const { name } = await store.blobs.put(new Uint8Array(100_000).fill(9));
      applied(await store.commit(appendOf(pen, sealed(pen.head, '"1"'), { references: [{ seq: 1, name }] })));
      const swept = applied(await store.commit({ kind: "sweep", limit: 10, candidates: [name] }));
      strictEqual(swept.blobs, 0);
      ok(store.blobs.holds(name));
      await store.close();
    },
  ],
  [
    "[STORE-15] content put and then swept before its record is committed is reported missing, never lost silently",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const large = new Uint8Array(100_000).fill(8);
      const ref = await store.blobs.put(large);
      const swept = applied(await store.commit({ kind: "sweep", limit: 10, candidates: [ref.name] }));
      strictEqual(swept.blobs, 1);
      ok(swept.bytes >= large.length);
      const references = [{ seq: 1, name: ref.name }];
      const batch = appendOf(pen, sealed(pen.head, '"1"'), { references, blobs: [{ ref }] });
      refused(await store.commit(batch), "blobs-missing");
      await store.blobs.put(large);
      applied(await store.commit(batch));
      const again = applied(await store.commit({ kind: "sweep", limit: 10, candidates: [ref.name] }));
      strictEqual(again.blobs, 0);
      ok(store.blobs.holds(ref.name));
      await store.close();
    },
  ],
  [
    "[STORE-15] small content travels with its record, is kept once, and is named by every record that needs it",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const bytes = new Uint8Array([5, 0, 255]);
      await writeWithBlobs(pen, '"1"', bytes);
      await writeWithBlobs(pen, '"2"', bytes);
      const named = appendOf(pen, sealed(pen.head, '"3"'), { references: [{ seq: 3, name: nameOfBytes(bytes) }] });
      applied(await store.commit(named));
      const ref = { name: nameOfBytes(bytes), size: 3 };
      deepStrictEqual(await store.reading((read) => read.references("", 10)), [ref]);
      deepStrictEqual(await store.reading((read) => read.references(ref.name, 10)), []);
      const kept = await store.reading((read) => read.smallBlob(ref.name));
      deepStrictEqual(Uint8Array.from(kept ?? []), bytes);
      await store.close();
    },
  ],
  [
    "[STORE-16] dropping takes bodies and the content they named, leaves headers and a reason, and spares what a fork shows that has not asked for the same",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const secret = new Uint8Array([4, 2]);
      await write(pen, '"1"');
      const shared = pen.head;
      await writeWithBlobs(pen, '"2"', secret);
      await write(pen, '"3"');
      const before = await recordsOf(store, "session");
      applied(await store.commit(forkOf(pen.session, shared, "child")));
      const drop = {
        kind: "drop",
        session: pen.session,
        epoch: pen.epoch,
        seqs: [1, 2, 7],
        reason: "asked for",
      } as const;
      const { dropped, bytes } = applied(await store.commit(drop));
      deepStrictEqual([dropped, bytes], [1, 3]);
      const after = await recordsOf(store, "session");
      deepStrictEqual(
        after,
        before.map((record) => (record.seq === 2 ? { ...record, body: null, dropped: "asked for" } : record)),
      );
      deepStrictEqual(applied(await store.commit(drop)).dropped, 0);
      deepStrictEqual(applied(await store.commit({ ...drop, despite: [toSessionId("child")] })).dropped, 1);
      strictEqual((await recordsOf(store, "child"))[0]?.body, null);
      await sweepAll(store);
      strictEqual(await store.reading((read) => read.smallBlob(nameOfBytes(secret))), undefined);
      await store.close();
    },
  ],
];
