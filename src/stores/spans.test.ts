import fc from "fast-check";
import { expect, test } from "vitest";
import type { SessionRow } from "../contracts/store.ts";
import { genesisOf } from "../records/chain.ts";
import { toSessionId } from "../records/ids.ts";
import { growing, holesIn, type Run, runsOf, sharedUpTo } from "./spans.ts";

const id = toSessionId("s");
const row = (segments: SessionRow["segments"], head: number, anchor = 0): SessionRow => ({
  id,
  createdAt: "",
  epoch: 0,
  owner: null,
  leaseUntil: 0,
  head: { seq: head, hash: "" },
  anchor: { ...genesisOf(id), seq: anchor },
  checkpoint: 0,
  segments,
});

/** Sessions with forks of forks: segments of random lengths, some of them empty, cut somewhere. */
const anyRow = fc
  .record({
    lengths: fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 5 }),
    own: fc.integer({ min: 0, max: 9 }),
    cut: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ lengths, own, cut }) => {
    let through = 0;
    const shared = lengths.map((length, index) => {
      through += length;
      return { segment: index + 1, through };
    });
    const head = through + own;
    return row([...shared, { segment: 99, through: null }], head, Math.min(cut, head));
  });

const seqsOf = (runs: readonly Run[]) =>
  runs.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));

test("[STORE-12] a session's runs are its kept sequence numbers, each once and in order", () => {
  fc.assert(
    fc.property(anyRow, fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), (session, from, to) => {
      const all = Array.from({ length: session.head.seq }, (_, index) => index + 1);
      const kept = all.filter((seq) => seq > session.anchor.seq);
      expect(seqsOf(runsOf(session))).toEqual(kept);
      expect(seqsOf(runsOf(session, from, to))).toEqual(kept.filter((seq) => from <= seq && seq <= to));
    }),
  );
});

test("[STORE-12] a fork's shared segments hold the same records in the same places, up to its point", () => {
  fc.assert(
    fc.property(anyRow, fc.nat(), (session, pick) => {
      const { head, anchor } = session;
      const after = anchor.seq + (pick % (head.seq - anchor.seq + 1));
      const fork = row([...sharedUpTo(session, after), { segment: 1_000, through: null }], after, anchor.seq);
      expect(runsOf(fork)).toEqual(runsOf(session, 1, after));
      expect(growing(fork)).toBe(1_000);
      expect(growing(session)).toBe(99);
    }),
  );
});

test("[STORE-14] runs and holes are all of a segment, and have nothing in common", () => {
  const run = fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 1, max: 2 }))
    .map(([from, length, segment]) => ({ segment, from, to: from + length }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 8 }), fc.integer({ min: 0, max: 60 }), (runs, last) => {
      const mine = runs.filter(({ segment, to }) => segment === 1 && to <= last);
      const reached = new Set(seqsOf(mine));
      const holes = seqsOf(holesIn(1, mine, last));
      expect(holes).toEqual(Array.from({ length: last }, (_, index) => index + 1).filter((seq) => !reached.has(seq)));
      expect(holesIn(1, mine, last).every(({ segment }) => segment === 1)).toBe(true);
    }),
  );
});

test("a row without a segment is a bug that says so", () => {
  expect(() => growing(row([], 0))).toThrow(TypeError);
});
