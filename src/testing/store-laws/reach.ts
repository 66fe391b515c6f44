import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { SeededRandom } from "../../base/random.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { genesisOf, type Link, type SealedRecord } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import type { LawBook } from "../law.ts";
import {
  AT,
  appendOf,
  applied,
  begin,
  expectBodies,
  linkOf,
  recordsOf,
  refused,
  rowOf,
  sealed,
  take,
  write,
  writeWithBlobs,
} from "../pen.ts";
import type { StoreContext } from "./context.ts";
import { sweepAll, sweepRandomly } from "./sweeping.ts";

/** What a session reaches: forks, anchors, content, and what may be removed. */
export const reach: LawBook<StoreContext> = [
  [
    "[STORE-12] a fork shares the records up to its point, and neither side sees the other's later ones",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = await write(origin, '"1"', '"2"', '"3"', '"4"');
      const fork = (from: string, after: Link, as: string) =>
        store.commit({ kind: "fork", from: toSessionId(from), after, session: toSessionId(as), at: AT });
      applied(await fork("origin", linkOf(records[1] as SealedRecord), "child"));
      const child = await take(store, "child");
      await write(child, '"c3"');
      await write(origin, '"5"');
      applied(await fork("child", child.head, "grandchild"));
      const grandchild = await take(store, "grandchild");
      await write(grandchild, '"g4"');
      await write(child, '"c4"');
      applied(await fork("grandchild", linkOf(records[0] as SealedRecord), "short"));
      applied(await fork("origin", genesisOf(origin.session), "bare"));
      await expectBodies(store, "origin", ['"1"', '"2"', '"3"', '"4"', '"5"']);
      await expectBodies(store, "child", ['"1"', '"2"', '"c3"', '"c4"']);
      await expectBodies(store, "grandchild", ['"1"', '"2"', '"c3"', '"g4"']);
      await expectBodies(store, "short", ['"1"']);
      await expectBodies(store, "bare", []);
      const row = await rowOf(store, "child");
      deepStrictEqual(
        (await store.reading((read) => read.records(row, { from: 2, to: 3, limit: 9, reverse: true }))).map(
          ({ body }) => body,
        ),
        ['"c3"', '"2"'],
      );
      await store.close();
    },
  ],
  [
    "[STORE-12] a fork needs a record of its origin to stand on and a name of its own",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const [first] = await write(origin, '"1"', '"2"');
      const at = (after: Link, as = "child") =>
        store.commit({ kind: "fork", from: origin.session, after, session: toSessionId(as), at: AT });
      refused(await at({ seq: 1, hash: "0".repeat(64) }), "link-unknown");
      refused(await at({ seq: 3, hash: origin.head.hash }), "link-unknown");
      refused(await at({ seq: 0, hash: linkOf(first as SealedRecord).hash }), "link-unknown");
      refused(await at(origin.head, "origin"), "session-exists");
      strictEqual(await store.reading((read) => read.session(toSessionId("child"))), undefined);
      await store.close();
    },
  ],
  [
    "[STORE-12] a fork keeps a checkpoint only when it lies before the fork's point",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = sealed(origin.head, '"1"', '"2"', '"3"');
      applied(await store.commit(appendOf(origin, records, { checkpoint: 2 })));
      strictEqual((await rowOf(store, "origin")).checkpoint, 2);
      for (const [index, expected] of [0, 2, 2].entries()) {
        const after = linkOf(records[index] as SealedRecord);
        const session = toSessionId(`child-${index}`);
        const { row } = applied(await store.commit({ kind: "fork", from: origin.session, after, session, at: AT }));
        strictEqual(row.checkpoint, expected);
      }
      await store.close();
    },
  ],
  [
    "[STORE-41] a fork has the first records it was given from the moment it is there, and the checkpoint it was told of",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = sealed(origin.head, '"1"', '"2"', '"3"');
      applied(await store.commit(appendOf(origin, records, { checkpoint: 3 })));
      const after = linkOf(records[1] as SealedRecord);
      const own = sealed(after, '"mine"', '"too"');
      const fork = { kind: "fork", from: origin.session, after, session: toSessionId("child"), at: AT } as const;
      const { row } = applied(await store.commit({ ...fork, records: own, checkpoint: 2 }));
      deepStrictEqual([row.head, row.checkpoint], [linkOf(own[1] as SealedRecord), 2]);
      await expectBodies(store, "child", ['"1"', '"2"', '"mine"', '"too"']);
      await expectBodies(store, "origin", ['"1"', '"2"', '"3"']);
      await write(await take(store, "child"), '"goes on"');
      await expectBodies(store, "child", ['"1"', '"2"', '"mine"', '"too"', '"goes on"']);
      await store.close();
    },
  ],
  [
    "[STORE-13] an anchor makes the session forget everything up to it, and only a record of the session can be one",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const records = await write(pen, '"1"', '"2"', '"3"', '"4"');
      const anchor = linkOf(records[1] as SealedRecord);
      const cut = (link: Link) => store.commit(appendOf(pen, sealed(pen.head, '"cut"'), { anchor: link }));
      refused(await cut({ seq: 2, hash: "0".repeat(64) }), "link-unknown");
      refused(await cut({ seq: 9, hash: anchor.hash }), "link-unknown");
      strictEqual((await rowOf(store, "session")).head.seq, 4);
      applied(await cut(anchor));
      pen.head = (await rowOf(store, "session")).head;
      await expectBodies(store, "session", ['"3"', '"4"', '"cut"']);
      deepStrictEqual((await rowOf(store, "session")).anchor, anchor);
      refused(await cut(linkOf(records[0] as SealedRecord)), "link-unknown");
      const fork = { kind: "fork", from: pen.session, session: toSessionId("child"), at: AT } as const;
      refused(await store.commit({ ...fork, after: linkOf(records[0] as SealedRecord) }), "link-unknown");
      applied(await store.commit({ ...fork, after: anchor }));
      await expectBodies(store, "child", []);
      await store.close();
    },
  ],
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
      applied(
        await store.commit({ kind: "fork", from: pen.session, after: shared, session: toSessionId("child"), at: AT }),
      );
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
  [
    "[STORE-17] a deleted session is gone and its name is free, while a fork keeps what it shares",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store, "origin");
      await write(pen, '"1"', '"2"');
      const fork = { kind: "fork", from: pen.session, after: pen.head, session: toSessionId("child"), at: AT } as const;
      applied(await store.commit(fork));
      applied(await store.commit({ kind: "delete", session: pen.session, epoch: pen.epoch }));
      strictEqual(await store.reading((read) => read.session(pen.session)), undefined);
      await sweepAll(store);
      await expectBodies(store, "child", ['"1"', '"2"']);
      const young = await begin(store, "origin");
      await expectBodies(store, "origin", []);
      await write(young, '"new"');
      await expectBodies(store, "origin", ['"new"']);
      await store.close();
    },
  ],
  [
    "[STORE-40] a renamed session is the same under another name, its writer has let it go, and the old name is free",
    async ({ open }) => {
      const store = await open();
      const old = await begin(store, "old");
      await write(old, '"1"', '"2"');
      const { head, anchor, segments } = await rowOf(store, "old");
      const [session, to] = [old.session, toSessionId("new")];
      const { row } = applied(await store.commit({ kind: "rename", session, epoch: old.epoch, to }));
      deepStrictEqual(await rowOf(store, "new"), row);
      deepStrictEqual({ ...row, owner: null, leaseUntil: 0 }, row);
      deepStrictEqual({ ...row, head, anchor, segments }, row);
      strictEqual(await store.reading((read) => read.session(session)), undefined);
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "session-unknown");
      const pen = await take(store, "new");
      await write({ ...pen, head }, '"3"');
      await begin(store, "old");
      await sweepAll(store);
      await expectBodies(store, "new", ['"1"', '"2"', '"3"']);
      await expectBodies(store, "old", []);
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "lease-lost");
      await store.close();
    },
  ],
  [
    "[STORE-40] no session takes the name of another, and neither changes",
    async ({ open }) => {
      const store = await open();
      const [one, other] = [await begin(store, "one"), await begin(store, "other")];
      await write(one, '"1"');
      await write(other, '"2"');
      const before = [await rowOf(store, "one"), await rowOf(store, "other")];
      for (const to of [other.session, one.session])
        refused(await store.commit({ kind: "rename", session: one.session, epoch: one.epoch, to }), "session-exists");
      deepStrictEqual([await rowOf(store, "one"), await rowOf(store, "other")], before);
      await store.close();
    },
  ],
  [
    "[STORE-44] a session that is whole is never forgotten, whether or not somebody has it",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, '"1"');
      const { session, epoch } = pen;
      refused(await store.commit({ kind: "forget", session }), "session-sound");
      await write(pen, '"2"');
      applied(await store.commit({ kind: "release", session, epoch }));
      const before = await rowOf(store, "session");
      refused(await store.commit({ kind: "forget", session }), "session-sound");
      deepStrictEqual(await rowOf(store, "session"), before);
      await expectBodies(store, "session", ['"1"', '"2"']);
      await store.close();
    },
  ],
  [
    "[STORE-17] a writer of a deleted session is fenced off from a new one of the same name",
    async ({ open }) => {
      const store = await open();
      const old = await begin(store, "origin");
      applied(await store.commit({ kind: "delete", session: old.session, epoch: old.epoch }));
      await begin(store, "origin");
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "lease-lost");
      await expectBodies(store, "origin", []);
      await store.close();
    },
  ],
];
