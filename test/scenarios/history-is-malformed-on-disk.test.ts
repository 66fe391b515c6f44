import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createHoldfast, type TelemetryOptions } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { jsonLines, structuredLog } from "../../src/telemetry/entry.ts";
import { writes } from "../support/calls.ts";
import { scratchFolder } from "../support/places.ts";

// A record in the middle of the history was written over. Nobody asked for debugging output, and nobody looks for the fault.
const MALFORMED = '{"kind":"call-closed","output":';

test("[TELEMETRY-6] [R05] [K49] what is malformed is set aside where it is, and reported in the log of anybody who has one", async () => {
  const path = join(scratchFolder(), "malformed.db");
  const tools = [writes<string>("say", async (word) => `said ${word}`)];
  const at = (telemetry?: TelemetryOptions) =>
    createHoldfast({ store: sqlite(path), tools, ...(telemetry === undefined ? {} : { telemetry }) });
  const before = await at();
  const session = await before.open("s");
  for (const input of ["one", "two", "three"]) await session.runTool({ name: "say", input });
  const seqs = (await session.callRecords()).map(({ outcome_summary }) => outcome_summary.value?.seq ?? 0);
  await session.close();
  await before.close();

  const bodyOf = (seq: number, put?: string) => {
    const database = new DatabaseSync(path);
    const where = "WHERE key & 4294967295 = ? AND key >> 32 = 1";
    if (put !== undefined) database.prepare(`UPDATE records SET body = ? ${where}`).run(put, seq);
    const row = database.prepare(`SELECT body FROM records ${where}`).get(seq);
    database.close();
    return row?.["body"];
  };
  const second = seqs[1] ?? 0;
  bodyOf(second, MALFORMED);

  const lines: string[] = [];
  const log = structuredLog(jsonLines((line) => void lines.push(line)));
  const after = await at({ sinks: [log] });
  const again = await after.open("s");
  expect(again.recovered.damaged).toEqual([second]);
  const warnings = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
  expect(warnings).toMatchObject([
    { event: "call-closed", reason: "interrupted", effects: "unknown" }, // nothing else says any more that it ended
    { event: "session-recovered", session: "s", damaged: [second] },
  ]);

  // The rest of the history is there, and goes on; of the call in question it tells that nobody knows.
  await again.runTool({ name: "say", input: "four" });
  const records = await again.callRecords();
  expect(records.map(({ outcome_summary: { ok, value } }) => [ok, value?.seq ?? 0])).toEqual([
    [true, seqs[0]],
    [true, seqs[2]],
    [false, 0],
    [true, expect.any(Number)],
  ]);
  expect((await after.verify()).ok).toBe(false);
  await again.close();
  await after.close();
  // And whoever wants to find out what it was still can.
  expect(bodyOf(second)).toBe(MALFORMED);
});
