import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { RECORD_SHAPES } from "../../src/records/kinds.ts";
import { RECORD_VERSION } from "../../src/records/lift.ts";
import { genesisOf, readEntries, seal, type SessionId, toSessionId } from "../../src/index.ts";
import { STORE_VERSION } from "../../src/stores/sqlite/schema.ts";
import { begin } from "../../src/testing/pen.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { collect, said } from "../support/stores.ts";

const fixtures = fileURLToPath(new URL("../fixtures/stores/", import.meta.url));
const folder = scratchFolder();
let copies = 0;

function copyOf(version: string): string {
  copies += 1;
  const place = join(folder, `${copies}`);
  cpSync(join(fixtures, version), place, { recursive: true });
  return join(place, "store.db");
}

const versions = readdirSync(fixtures);

test("[STORE-30] there is a fixture of every released version", () => {
  expect(versions).toEqual(Array.from({ length: STORE_VERSION }, (_, index) => `v${index + 1}`));
});

test.each(versions)("[STORE-30] a store of version %s opens, verifies and reads as it was written", async (version) => {
  const holdfast = await holdfastAt(copyOf(version));
  const expected = JSON.parse(readFileSync(join(fixtures, version, "expected.json"), "utf8")) as Record<
    string,
    unknown[]
  >;
  const kinds = new Set<string>();
  for (const [id, entries] of Object.entries(expected)) {
    const read = await collect(readEntries(holdfast.store, id as SessionId));
    expect(read).toEqual(entries);
    for (const entry of read) kinds.add(entry.kind);
  }
  expect(kinds).toEqual(new Set([...Object.keys(RECORD_SHAPES), "dropped"]));
  expect(await holdfast.verify()).toMatchObject({ ok: true, blobs: { checked: 2 } });
  await holdfast.close();
});

test.each(versions)(
  "[STORE-30] a store of version %s can be continued, recovered, cut, swept and forked",
  async (version) => {
    const path = copyOf(version);
    const holdfast = await holdfastAt(path);
    const session = await holdfast.open("every-kind");
    const before = session.journal.head.seq;
    expect(await session.append(said("again"), { operation: "made-mode-changed-17" })).toMatchObject({
      repeated: true,
    });
    expect(await session.append(said("more"))).toMatchObject({ first: before + 1 });
    for (const [label, size] of [
      ["small", 13],
      ["large", 70_000],
    ] as const) {
      const entries = await collect(session.read());
      const refs = entries.flatMap((entry) => ("blobs" in entry ? (entry.blobs ?? []) : []));
      const ref = refs.find((other) => other.size === size);
      const bytes = Buffer.concat(await collect(session.journal.readBlob(ref!.name)));
      expect(bytes.equals(Buffer.alloc(size, `${label} content${label === "large" ? " " : ""}`))).toBe(true);
    }
    const open = await holdfast.open("left-open");
    expect(open.recovered.closedCalls.length).toBe(1);
    const cut = await holdfast.open("cut");
    expect((await storyOf(cut)).slice(0, 2)).toEqual(["checkpoint-kept", "kept"]);
    await (await holdfast.fork("fork", { as: "fork-of-fork" })).close();
    for (const each of [session, open, cut]) await each.close();
    await holdfast.retain(await holdfast.open("every-kind"), { records: 5 });
    expect((await holdfast.sweep({ graceMs: 0 })).records).toBeGreaterThan(0);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    await holdfast.close();
  },
);

test("[STORE-21] [STORE-30] a store of a newer version is refused and not one byte of it is written", async () => {
  const path = copyOf(versions.at(-1)!);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = ${STORE_VERSION + 1}`);
  database.close();
  const before = readFileSync(path);
  const files = readdirSync(join(path, ".."));
  await expect(holdfastAt(path)).rejects.toMatchObject({ code: "STORE_TOO_NEW" });
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(join(path, ".."))).toEqual(files);
});

test("[JOURNAL-12] a session with a record of a newer version is refused, not one byte is written, and the others open", async () => {
  const path = copyOf(versions.at(-1)!);
  const first = await holdfastAt(path);
  const pen = await begin(first.store, "from-the-future");
  const record = seal(genesisOf(toSessionId("from-the-future")), {
    kind: "mind-read",
    at: "2036-01-01T00:00:00.000Z",
    version: RECORD_VERSION + 1,
    salt: "00",
    body: '{"thought":"new"}',
  });
  const { session, epoch, head: after } = pen;
  await first.store.commit({
    kind: "append",
    session,
    epoch,
    after,
    records: [record],
    blobs: [],
    references: [],
    leaseMs: 1_000,
  });
  await first.store.commit({ kind: "release", session, epoch });
  await first.close();
  const before = readFileSync(path);
  const holdfast = await holdfastAt(path);
  await expect(holdfast.open("from-the-future")).rejects.toMatchObject({ code: "RECORD_TOO_NEW" });
  await holdfast.close();
  expect(readFileSync(path).equals(before)).toBe(true);
  const again = await holdfastAt(path);
  await (await again.open("fork")).append(said("goes on"));
  await again.close();
});
