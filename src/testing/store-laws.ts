import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { HoldfastError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import type { Store, Swept } from "../contracts/store.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { genesisOf, type Link, type SealedRecord } from "../records/chain.ts";
import { toSessionId } from "../records/ids.ts";
import { type Law, type LawBook, lawsOf } from "./law.ts";
import {
  AT,
  appendOf,
  applied,
  begin,
  expectBodies,
  linkOf,
  type Pen,
  recordsOf,
  refused,
  rowOf,
  sealed,
  smallBlob,
  take,
  write,
  writeWithBlobs,
} from "./pen.ts";

export interface StoreUnderLaw {
  /**
   * Opens the store at a place. A place that was never named before is empty; the same place again is the same store once
   * more, as another process would open it, while the first is open or after it was closed.
   */
  readonly open: (place: string) => Promise<Store>;
  readonly can: {
    /** Others commit while somebody reads. Without it a commit waits for the readers. */
    readonly commitDuringRead: boolean;
  };
}

/** What every store must do, whoever wrote it. Laws are data: `register(storeLaws("mine", { … }), test)` runs them. */
export function storeLaws(name: string, store: StoreUnderLaw): readonly Law[] {
  let places = 0;
  return lawsOf(name, BOOK, () => {
    places += 1;
    const place = `${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${places}`;
    return { can: store.can, open: () => store.open(place) };
  });
}

interface Context {
  readonly can: StoreUnderLaw["can"];
  /** The law's own place, once more with every call. */
  readonly open: () => Promise<Store>;
}

const BOOK: LawBook<Context> = [
  [
    "[STORE-1] a session is created once, and a second creation changes nothing",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, "{}");
      const before = await rowOf(store, "session");
      const again = { kind: "create", session: pen.session, at: AT, genesis: genesisOf(pen.session) } as const;
      refused(await store.commit(again), "session-exists");
      deepStrictEqual(await rowOf(store, "session"), before);
      await store.close();
    },
  ],
  [
    "[STORE-1] a new session is empty, hangs on its genesis and has no writer",
    async ({ open }) => {
      const store = await open();
      const session = toSessionId("new");
      const genesis = genesisOf(session);
      const { row } = applied(await store.commit({ kind: "create", session, at: AT, genesis }));
      const { segments, ...plain } = row;
      const lease = { epoch: 0, owner: null, leaseUntil: 0 };
      const chain = { head: genesis, anchor: genesis, checkpoint: 0 };
      deepStrictEqual(plain, { id: session, createdAt: AT, ...lease, ...chain });
      strictEqual(segments.length, 1);
      deepStrictEqual(await rowOf(store, "new"), row);
      await expectBodies(store, "new", []);
      await store.close();
    },
  ],
  [
    "[STORE-2] every write to a session that is not there is refused as unknown",
    async ({ open }) => {
      const store = await open();
      const session = toSessionId("nobody");
      const fence = { session, epoch: 1 };
      const pen: Pen = { store, session, epoch: 1, head: genesisOf(session) };
      refused(await store.commit({ kind: "lease", session, owner: store.owner, now: 0, until: 9 }), "session-unknown");
      refused(await store.commit({ kind: "renew", ...fence, until: 9 }), "session-unknown");
      refused(await store.commit({ kind: "release", ...fence }), "session-unknown");
      refused(await store.commit(appendOf(pen, sealed(pen.head, "{}"))), "session-unknown");
      refused(await store.commit({ kind: "drop", ...fence, seqs: [1], reason: "r" }), "session-unknown");
      refused(await store.commit({ kind: "delete", ...fence }), "session-unknown");
      const fork = { kind: "fork", from: session, after: pen.head, session: toSessionId("child"), at: AT } as const;
      refused(await store.commit(fork), "session-unknown");
      strictEqual(await store.reading((read) => read.session(session)), undefined);
      await store.close();
    },
  ],
  [
    "[STORE-3] a lease raises the epoch by one and tells how the previous writer ended",
    async ({ open }) => {
      const store = await open();
      const session = toSessionId("s");
      applied(await store.commit({ kind: "create", session, at: AT, genesis: genesisOf(session) }));
      const lease = (now: number, over?: number) =>
        store.commit({
          kind: "lease",
          session,
          owner: store.owner,
          now,
          until: now + 10,
          ...(over === undefined ? {} : { over }),
        });
      const first = applied(await lease(0));
      deepStrictEqual([first.row.epoch, first.previousWriter], [1, "none"]);
      applied(await store.commit({ kind: "release", session, epoch: 1 }));
      const second = applied(await lease(0));
      deepStrictEqual([second.row.epoch, second.previousWriter], [2, "closed"]);
      const third = applied(await lease(10));
      deepStrictEqual([third.row.epoch, third.previousWriter], [3, "expired"]);
      const fourth = applied(await lease(11, 3));
      deepStrictEqual([fourth.row.epoch, fourth.previousWriter], [4, "died"]);
      deepStrictEqual(await rowOf(store, "s"), fourth.row);
      strictEqual(fourth.row.owner, store.owner);
      await store.close();
    },
  ],
  [
    "[STORE-4] a held lease is refused to everyone, also to its own holder, and says until when",
    async ({ open }) => {
      const store = await open();
      const other = await open();
      const pen = await begin(store);
      const { leaseUntil } = await rowOf(store, "session");
      for (const asker of [store, other]) {
        const batch = {
          kind: "lease",
          session: pen.session,
          owner: asker.owner,
          now: leaseUntil - 1,
          until: 2 * leaseUntil,
        } as const;
        const conflict = refused(await asker.commit(batch), "lease-held");
        deepStrictEqual(conflict, { kind: "lease-held", owner: store.owner, epoch: 1, until: leaseUntil });
        // Death is claimed for one holder, by its epoch: a claim about an earlier one takes nothing from this one.
        refused(await asker.commit({ ...batch, over: 0 }), "lease-held");
      }
      await write(pen, "{}");
      await other.close();
      await store.close();
    },
  ],
  [
    "[STORE-4] renewing and appending put off the expiry, and nothing else of the session",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const before = await rowOf(store, "session");
      const renewed = applied(await store.commit({ kind: "renew", session: pen.session, epoch: 1, until: 5_000_000 }));
      strictEqual(renewed.until, 5_000_000);
      deepStrictEqual(await rowOf(store, "session"), { ...before, leaseUntil: 5_000_000 });
      const records = sealed(pen.head, "{}");
      applied(await store.commit(appendOf(pen, records, { leaseUntil: 6_000_000 })));
      strictEqual((await rowOf(store, "session")).leaseUntil, 6_000_000);
      await store.close();
    },
  ],
  [
    "[STORE-5] a writer with another epoch is fenced off from every kind of write, and nothing changes",
    async ({ open }) => {
      const store = await open();
      const old = await begin(store);
      await write(old, '{"by":"old"}');
      const young = await take(store, "session", { now: 2_000_000 });
      const before = await rowOf(store, "session");
      for (const epoch of [old.epoch, young.epoch + 1]) {
        const fence = { session: old.session, epoch };
        const stale: Pen = { ...old, epoch };
        const conflict = refused(await store.commit(appendOf(stale, sealed(old.head, "{}"))), "lease-lost");
        deepStrictEqual(conflict, { kind: "lease-lost", epoch: young.epoch });
        refused(await store.commit({ kind: "renew", ...fence, until: 9e6 }), "lease-lost");
        refused(await store.commit({ kind: "release", ...fence }), "lease-lost");
        refused(await store.commit({ kind: "drop", ...fence, seqs: [1], reason: "r" }), "lease-lost");
        refused(await store.commit({ kind: "delete", ...fence }), "lease-lost");
      }
      deepStrictEqual(await rowOf(store, "session"), before);
      await write(young, '{"by":"young"}');
      await expectBodies(store, "session", ['{"by":"old"}', '{"by":"young"}']);
      await store.close();
    },
  ],
  [
    "[STORE-5] whoever has released can write no more, although nobody came after",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      applied(await store.commit({ kind: "release", session: pen.session, epoch: pen.epoch }));
      refused(await store.commit(appendOf(pen, sealed(pen.head, "{}"))), "lease-lost");
      refused(await store.commit({ kind: "renew", session: pen.session, epoch: pen.epoch, until: 9 }), "lease-lost");
      const row = await rowOf(store, "session");
      deepStrictEqual([row.owner, row.leaseUntil, row.head.seq], [null, 0, 0]);
      await store.close();
    },
  ],
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
        store.commit({ kind: "renew", session: good.session, epoch: 1, until: 7_000_000 }),
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
      const heir = await take(store, "session", { now: 2_000_000 });
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
    "[STORE-12] a fork shares the records up to its point, and neither side sees the other's later ones",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = await write(origin, '"1"', '"2"', '"3"', '"4"');
      const fork = (from: string, after: Link, as: string) =>
        store.commit({ kind: "fork", from: toSessionId(from), after, session: toSessionId(as), at: AT });
      applied(await fork("origin", linkOf(records[1] as SealedRecord), "child"));
      const child = await take(store, "child", { now: 0 });
      await write(child, '"c3"');
      await write(origin, '"5"');
      applied(await fork("child", child.head, "grandchild"));
      const grandchild = await take(store, "grandchild", { now: 0 });
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
    "[STORE-16] dropping takes bodies and the content they named, leaves headers and a reason, and spares what a fork shows",
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
  [
    "[STORE-18] what was acknowledged is there for whoever opens next",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await writeWithBlobs(pen, '"small"', new Uint8Array([1]));
      const ref = await store.blobs.put(new Uint8Array(200_000).fill(3));
      const references = [{ seq: 2, name: ref.name }];
      applied(await store.commit(appendOf(pen, sealed(pen.head, '"large"'), { references, blobs: [{ ref }] })));
      applied(await store.commit({ kind: "drop", session: pen.session, epoch: 1, seqs: [1], reason: "r" }));
      const expected = await everything(store);
      const beside = await open();
      deepStrictEqual(await everything(beside), expected);
      await beside.close();
      await store.close();
      const later = await open();
      deepStrictEqual(await everything(later), expected);
      ok(later.blobs.holds(ref.name));
      await later.close();
    },
  ],
  [
    "[STORE-19] an owner is dead once its store has closed, and never before",
    async ({ open }) => {
      const store = await open();
      const other = await open();
      notStrictEqual(store.owner, other.owner);
      strictEqual(store.isDead(store.owner), false);
      strictEqual(other.isDead(store.owner), false);
      const pen = await begin(store);
      await store.close();
      strictEqual(other.isDead(store.owner), true);
      strictEqual(other.isDead(store.owner), true);
      const heir = await take(other, "session", { now: 1, over: pen.epoch });
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
      ok((await store.shrink()) >= 0);
      deepStrictEqual(await everything(store), expected);
      await write(pen, '"goes on"');
      await store.close();
    },
  ],
];

async function changeEverything(pen: Pen): Promise<void> {
  const { store, session, epoch } = pen;
  const [first] = await recordsOf(store, "session");
  await writeWithBlobs(pen, '"three"', new Uint8Array([2]));
  await begin(store, "another");
  const batch = appendOf(pen, sealed(pen.head, '"four"'), { anchor: linkOf(first as SealedRecord) });
  applied(await store.commit(batch));
  pen.head = linkOf(batch.records[0] as SealedRecord);
  applied(await store.commit({ kind: "drop", session, epoch, seqs: [2], reason: "r" }));
  await sweepAll(store);
  applied(await store.commit({ kind: "drop", session, epoch, seqs: [], reason: "r" }));
}

async function sweepAll(store: Store, limit = 100): Promise<Omit<Swept, "more">> {
  const total = { records: 0, blobs: 0, bytes: 0 };
  for (;;) {
    const { records, blobs, bytes, more } = applied(await store.commit({ kind: "sweep", limit, candidates: [] }));
    total.records += records;
    total.blobs += blobs;
    total.bytes += bytes;
    if (!more) return total;
  }
}

/** All that can be read of a store through its contract. */
async function everything(store: Store) {
  const sessions = await store.reading((read) => read.sessions("", 1_000));
  const records: (readonly SealedRecord[])[] = [];
  for (const row of sessions) if (!("damaged" in row)) records.push(await recordsOf(store, row.id, 50));
  const references = await store.reading((read) => read.references("", 1_000));
  const blobs = [];
  for (const { name } of references) {
    const bytes = await store.reading((read) => read.smallBlob(name));
    blobs.push(bytes === undefined ? "outside" : Buffer.from(bytes).toString("hex"));
  }
  return { sessions, records, references, blobs };
}

async function sweepRandomly(store: Store, random: SeededRandom, prefix: string): Promise<void> {
  const pens = [await begin(store, `${prefix}-first`)];
  for (let step = 0; step < 60; step += 1) {
    const pen = random.pick(pens);
    const action = random.below(10);
    if (action < 5) {
      const byte = random.below(12);
      await writeWithBlobs(pen, `{"at":"${prefix}/${step}","names":${byte}}`, new Uint8Array([byte]));
    } else if (action < 7) {
      const points = [(await rowOf(store, pen.session)).anchor, ...(await recordsOf(store, pen.session))];
      const session = toSessionId(`${prefix}-${step}`);
      const after = linkOf(random.pick(points));
      applied(await store.commit({ kind: "fork", from: pen.session, after, session, at: AT }));
      pens.push(await take(store, session, { now: 0 }));
    } else if (action === 7) {
      const records = await recordsOf(store, pen.session);
      if (records.length === 0) continue;
      const anchor = linkOf(random.pick(records));
      applied(await store.commit(appendOf(pen, [], { anchor })));
    } else if (action === 8 && pens.length > 1) {
      applied(await store.commit({ kind: "delete", session: pen.session, epoch: pen.epoch }));
      pens.splice(pens.indexOf(pen), 1);
    } else {
      await sweepIsInvisible(store, 1 + random.below(5));
    }
  }
  await sweepIsInvisible(store, 3);
  strictEqual((await sweepAll(store)).records, 0);
}

async function sweepIsInvisible(store: Store, limit: number): Promise<void> {
  const before = await everything(store);
  await sweepAll(store, limit);
  const after = await everything(store);
  deepStrictEqual({ ...after, references: [], blobs: [] }, { ...before, references: [], blobs: [] });
  for (const { seq, body } of after.records.flat()) {
    const { names } = JSON.parse(body ?? "{}") as { readonly names: number };
    const content = await store.reading((read) => read.smallBlob(nameOfBytes(new Uint8Array([names]))));
    ok(content !== undefined, `the content that record ${seq} names is gone`);
  }
}
