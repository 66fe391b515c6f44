import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { PROFILE_IDS } from "../../src/transcripts/profiles.ts";
import { codesOf, examined, lostLines, repaired } from "./in-memory.ts";

/** Real sessions of real people: never in this repository, only named by the environment. */
const CORPUS = process.env["HOLDFAST_CORPUS"] ?? "";
const TABLE = join(CORPUS, "README.md");
const here = CORPUS !== "" && existsSync(TABLE);

interface Row {
  readonly file: string;
  readonly messages: number;
  readonly calls: number;
  readonly marks: string;
}

/** The published table: file, …, messages, calls, known defects. */
function rows(): readonly Row[] {
  if (!here) return [];
  const lines = readFileSync(TABLE, "utf8")
    .split("\n")
    .filter((line) => /^\| [a-z-]+\/[^ ]+ \|/.test(line));
  return lines.map((line) => {
    const cells = line.split("|").map((cell) => cell.trim());
    return { file: cells[1]!, messages: Number(cells[7]), calls: Number(cells[8]), marks: cells[9]! };
  });
}

function published({ marks }: Row) {
  const count = (pattern: RegExp) => Number(pattern.exec(marks)?.[1] ?? 0);
  const missingAtTail = count(/(\d+) unanswered call\(s\) at the end/);
  return {
    missing: missingAtTail + count(/(\d+) call\(s\) never answered mid-history/),
    missingAtTail,
    orphan: count(/(\d+) orphan output/),
    duplicateCallIds: count(/(\d+) repeated call id/),
    duplicateOutputs: count(/(\d+) repeated output id/),
    outputBeforeCall: count(/(\d+) output\(s\) before their call/),
    displaced: count(/(\d+) output\(s\) not adjacent/),
    gluedLines: count(/(\d+) line\(s\) with two records glued/),
  };
}

function bytesOf(file: string): Uint8Array {
  const bytes = readFileSync(join(CORPUS, file));
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}

describe.skipIf(!here)("the real transcripts (HOLDFAST_CORPUS)", () => {
  test.for(rows().map((row) => [row.file, row] as const))("[DOC-25] %s", async ([file, row]) => {
    const bytes = bytesOf(file);
    const found = await examined(bytes);
    expect(found).toMatchObject({ messages: row.messages, calls: row.calls, counts: published(row) });
    const after = await repaired(found);
    if (found.findings.length === 0) expect(Buffer.compare(after, bytes)).toBe(0);
    if (file.includes(".jsonl") && found.format !== "openhands-output") {
      expect(lostLines(new TextDecoder().decode(bytes), new TextDecoder().decode(after), found)).toEqual([]);
    }
    const again = await examined(after);
    expect(codesOf(again)).toEqual([]);
    expect(Buffer.compare(await repaired(again), after)).toBe(0);
    for (const profile of PROFILE_IDS) expect((await examined(after, { profile })).refused()).toEqual([]);
  });
});

test.skipIf(here)("[DOC-25] needs real transcripts: set HOLDFAST_CORPUS to their folder", () => {
  expect(here).toBe(false);
});
