import { describe, expect, test } from "vitest";
import { between, brief, collect, memoryDeps, said } from "../../test/support/stores.ts";
import type { SealedRecord } from "../records/chain.ts";
import { seal } from "../records/chain.ts";
import { openJournal } from "./open.ts";
import { readEntries } from "./read.ts";
import { retain } from "./retention.ts";
import { sweep } from "./sweep.ts";

/** More than two pages, so that every edge of a page is inside. */
const COUNT = 600;

async function longJournal() {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s");
  await journal.append(Array.from({ length: COUNT }, (_, n) => said(`${n + 1}`)));
  return { deps, journal };
}

const seqs = (entries: Awaited<ReturnType<typeof collectAll>>) => entries.map((entry) => entry.seq);
const collectAll = (source: ReturnType<typeof readEntries>) => collect(source);

describe("[JOURNAL-10] reading", () => {
  test("gives exactly the range asked for, in either direction, across pages", async () => {
    const { deps, journal } = await longJournal();
    const all = Array.from({ length: COUNT }, (_, n) => n + 1);
    for (const [from, to] of [
      [1, COUNT],
      [0, 3],
      [255, 258],
      [256, 256],
      [257, 513],
      [COUNT, COUNT],
      [COUNT, COUNT + 50],
      [10, 9],
      [COUNT + 1, COUNT + 9],
    ] as const) {
      const expected = all.filter((seq) => from <= seq && seq <= to);
      expect(seqs(await collectAll(journal.read({ from, to })))).toEqual(expected);
      expect(seqs(await collectAll(journal.read({ from, to, reverse: true })))).toEqual(expected.toReversed());
    }
    expect(seqs(await collectAll(readEntries(deps.store, journal.session)))).toEqual(all);
    expect(seqs(await collectAll(journal.read({ from: 590 })))).toEqual(all.slice(589));
    expect(seqs(await collectAll(journal.read({ to: 2, reverse: true })))).toEqual([2, 1]);
  });

  test("sees the session as it was when the reading began", async () => {
    const { journal } = await longJournal();
    const seen: number[] = [];
    for await (const entry of journal.read()) {
      if (seen.length % 100 === 0) await journal.append(said("meanwhile"));
      seen.push(entry.seq);
    }
    expect(seen.length).toBe(COUNT);
  });

  test.each([
    ["from", -1],
    ["from", 1.5],
    ["to", Number.NaN],
    ["to", Number.POSITIVE_INFINITY],
    ["from", "1"],
  ])("refuses %s %s", async (option, value) => {
    const { journal } = await longJournal();
    await expect(collect(journal.read({ [option]: value as number }))).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option },
    });
  });

  test("ends with the signal's reason when it is aborted", async () => {
    const { journal } = await longJournal();
    const stop = new AbortController();
    const seen: number[] = [];
    const reading = async () => {
      for await (const entry of journal.read({ signal: stop.signal })) {
        seen.push(entry.seq);
        if (seen.length === 10) stop.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(seen.length).toBeLessThan(COUNT);
    await expect(collect(journal.read({ signal: AbortSignal.abort(new Error("no")), reverse: true }))).rejects.toThrow(
      "no",
    );
  });

  test("of an unknown session is refused", async () => {
    const { deps } = await longJournal();
    await expect(collect(readEntries(deps.store, "nobody" as never))).rejects.toMatchObject({
      code: "SESSION_UNKNOWN",
    });
  });

  test.each([false, true])(
    "goes on where retention cuts and a sweep removes meanwhile, without calling it damage (reverse: %s)",
    async (reverse) => {
      const { deps, journal } = await longJournal();
      await journal.append({ kind: "checkpoint-kept", openCalls: [] });
      await journal.append(said("tail"));
      const seen = [];
      for await (const entry of journal.read({ reverse })) {
        seen.push(entry);
        if (seen.length !== 1) continue;
        await retain(deps, journal, { records: 5 });
        await sweep(deps, { graceMs: 0, shrink: false });
      }
      expect(seen.filter((entry) => entry.kind === "damaged")).toEqual([]);
      expect(seqs(seen).slice(-2)).toEqual(reverse ? [348, 347] : [601, 602]);
    },
  );
});

describe("[JOURNAL-11] [K43] a damaged record is named at its place and costs no other", () => {
  /** What a flipped bit, a lost row or a foreign row looks like to a reader. */
  const harms: Readonly<Record<string, { harm: (record: SealedRecord) => readonly SealedRecord[]; detail: string }>> = {
    "a flipped body": { harm: (r) => [{ ...r, body: `${r.body} ` }], detail: "body-altered" },
    "a flipped time": { harm: (r) => [{ ...r, at: "1999-01-01T00:00:00.000Z" }], detail: "header-altered" },
    "a flipped kind": { harm: (r) => [{ ...r, kind: "model-said" }], detail: "header-altered" },
    "a flipped version": { harm: (r) => [{ ...r, version: 2 }], detail: "header-altered" },
    "a flipped salt": { harm: (r) => [{ ...r, salt: "00" }], detail: "header-altered" },
    "a flipped hash": { harm: (r) => [{ ...r, hash: "0".repeat(64) }], detail: "header-altered" },
    "a flipped prev": { harm: (r) => [{ ...r, prev: "0".repeat(64) }], detail: "header-altered" },
    "a lost body": { harm: (r) => [{ ...r, body: null }], detail: "body-missing" },
    "a lost row": { harm: () => [], detail: "missing" },
    "a body that is no record": {
      harm: (r) => [seal({ seq: r.seq - 1, hash: r.prev }, { ...r, body: '{"no":"text"}' })],
      detail: "malformed: text must be a string",
    },
    "a body that is no JSON": {
      harm: (r) => [seal({ seq: r.seq - 1, hash: r.prev }, { ...r, body: "{" })],
      detail: "malformed",
    },
    "a kind that is none": {
      harm: (r) => [seal({ seq: r.seq - 1, hash: r.prev }, { ...r, kind: "no-such", body: "{}" })],
      detail: "malformed: unknown kind no-such",
    },
  };
  const cases = Object.entries(harms).flatMap(([name, { harm, detail }]) =>
    [1, 2, 256, 257, 512, 599, COUNT].map((seq) => [name, seq, harm, detail] as const),
  );

  test.each(cases)("%s at %i", async (_, seq, harm, detail) => {
    const { deps, journal } = await longJournal();
    const store = between(deps.store, {
      records: (records) => records.flatMap((record) => (record.seq === seq ? harm(record) : [record])),
    });
    for (const reverse of [false, true]) {
      const entries = await collect(readEntries(store, journal.session, { reverse }));
      const damaged = entries.filter((entry) => entry.kind === "damaged");
      expect(damaged).toMatchObject([{ seq, through: seq }]);
      expect(damaged[0]?.kind === "damaged" && damaged[0].detail).toContain(
        detail.startsWith("malformed") && seq === COUNT ? "" : detail,
      );
      expect(entries.length).toBe(COUNT);
      expect(seqs(entries)).toEqual(
        reverse ? Array.from({ length: COUNT }, (__, n) => COUNT - n) : Array.from({ length: COUNT }, (__, n) => n + 1),
      );
    }
  });

  test("a record that is whole but stands in a foreign chain is not served", async () => {
    const { deps, journal } = await longJournal();
    const foreign = (record: SealedRecord) =>
      seal({ seq: record.seq - 1, hash: "f".repeat(64) }, { ...record, body: '{"text":"forged"}' });
    for (const seq of [1, 2, 300, COUNT]) {
      const store = between(deps.store, {
        records: (records) => records.map((record) => (record.seq === seq ? foreign(record) : record)),
      });
      for (const reverse of [false, true]) {
        const entries = await collect(readEntries(store, journal.session, { reverse }));
        expect(JSON.stringify(entries)).not.toContain("forged");
        expect(entries.filter((entry) => entry.kind === "damaged").length).toBeLessThanOrEqual(2);
      }
    }
  });

  test("a forged newest record that hangs on its predecessor is not the one that was acknowledged", async () => {
    const { deps, journal } = await longJournal();
    const store = between(deps.store, {
      records: (records) =>
        records.map((record) =>
          record.seq === COUNT
            ? seal({ seq: record.seq - 1, hash: record.prev }, { ...record, body: '{"text":"forged"}' })
            : record,
        ),
    });
    for (const reverse of [false, true]) {
      const entries = await collect(readEntries(store, journal.session, { from: COUNT - 1, reverse }));
      expect(entries.filter((entry) => entry.kind === "damaged")).toMatchObject([{ seq: COUNT }]);
      expect(JSON.stringify(entries)).not.toContain("forged");
    }
  });

  test("a run of lost rows is one entry, cut to the range asked for", async () => {
    const { deps, journal } = await longJournal();
    const store = between(deps.store, { records: (records) => records.filter(({ seq }) => seq < 10 || seq > 200) });
    const entries = await collect(readEntries(store, journal.session));
    expect(brief(entries).filter((line) => line.includes("damaged"))).toEqual(["10-200:damaged missing"]);
    const backwards = await collect(readEntries(store, journal.session, { reverse: true }));
    expect(brief(backwards).filter((line) => line.includes("damaged"))).toEqual(["10-200:damaged missing"]);
    expect(brief(await collect(readEntries(store, journal.session, { from: 20, to: 30 })))).toEqual([
      "20-30:damaged missing",
    ]);
    expect(brief(await collect(readEntries(store, journal.session, { from: 199, to: 201 })))).toEqual([
      "199-200:damaged missing",
      "201:user-said",
    ]);
  });

  test("rows out of order are named", async () => {
    const { deps, journal } = await longJournal();
    const store = between(deps.store, { records: (records) => records.toReversed() });
    const entries = await collect(readEntries(store, journal.session, { to: 3 }));
    expect(entries.every((entry) => entry.kind === "damaged" || entry.seq === 3)).toBe(true);
  });
});

test("[JOURNAL-12] a record of a newer version is refused as too new, wherever it stands, and not taken for damage", async () => {
  const { deps, journal } = await longJournal();
  const newer = (record: SealedRecord) =>
    seal({ seq: record.seq - 1, hash: record.prev }, { ...record, body: record.body ?? "", version: 2 });
  const store = between(deps.store, {
    records: (records) => records.map((record) => (record.seq === 300 ? newer(record) : record)),
  });
  for (const reverse of [false, true]) {
    await expect(collect(readEntries(store, journal.session, { reverse }))).rejects.toMatchObject({
      code: "RECORD_TOO_NEW",
      details: { seq: 300, version: 2 },
    });
  }
});
