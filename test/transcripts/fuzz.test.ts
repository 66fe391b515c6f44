import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bytesSource } from "../../src/base/text/source.ts";
import { examine } from "../../src/transcripts/doctor.ts";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { fuzzSpan } from "../chaos/fuzz.ts";
import { campaign } from "../chaos/fuzz-campaign.ts";
import type { Examine } from "../chaos/fuzz-case.ts";
import { CaseRandom } from "../chaos/fuzz-random.ts";
import { sampleOf, wounded } from "../chaos/fuzz-wounds.ts";
import { examined, repaired } from "./in-memory.ts";

/** CI gives it two minutes; everybody else a few seconds. The millions are in `npm run chaos -- fuzz`. */
const SECONDS = Number(process.env["HOLDFAST_FUZZ_SECONDS"] ?? 8);

test(
  "[DOC-24] wounded sessions of every format neither crash nor hang nor come out of a repair unreadable",
  async () => {
    const { done, violations } = await campaign({ seed: "test", cases: 1_000_000, seconds: SECONDS, workers: 2 });
    expect(violations).toEqual([]);
    expect(Object.values(done).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
  },
  SECONDS * 1000 + 120_000,
);

test("[DOC-24] a log that damage left without one record is repaired to a log that can still be read", async () => {
  const torn = '{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user",\n"call_1"\n"call_1"\n';
  const found = await examined(torn, { format: "claude-code" });
  const again = await examined(await repaired(found), { format: "claude-code" });
  expect(again.findings).toEqual([]);
});

test("[DOC-24] an output that leaves its message for a place right before it is parted from it", async () => {
  const use = (id: string) => ({ type: "tool_use", id, name: "bash", input: {} });
  const messages = [
    { role: "user", content: "begin" },
    { role: "assistant", content: [use("a")] },
    { role: "assistant", content: [use("b"), { type: "tool_result", tool_use_id: "a", content: "done" }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "b", content: "done" }] },
  ];
  const found = await examined(JSON.stringify({ model: "claude-m", max_tokens: 9, messages }));
  const again = await examined(await repaired(found));
  expect(found.findings.map(({ code }) => code)).toEqual(["displaced-output"]);
  expect(again.findings).toEqual([]);
});

test("[DOC-24] the rig has teeth: its wounds reach findings of every kind, not only files that nobody knows", async () => {
  const seen = new Set<string>();
  let known = 0;
  for (let nth = 0; nth < 1_500; nth += 1) {
    const random = new CaseRandom(`teeth/${nth}`);
    const found = await examine(bytesSource("x", wounded(sampleOf("claude-code", random), random)));
    if ("unrecognised" in found) continue;
    known += 1;
    for (const { code } of found.findings) seen.add(code);
  }
  expect(known).toBeGreaterThan(750);
  expect(seen.size).toBeGreaterThanOrEqual(14);
});

/** Readers with a bug, each of which the rig must see within a few hundred cases. */
const PLANTED: Readonly<Record<string, { readonly under: Examine; readonly seen: RegExp }>> = {
  "throws at a line separator": {
    under: async (source, options) => {
      for await (const chunk of source.chunks()) if (chunk.includes(0xe2)) throw new Error("no reader for it");
      return examine(source, options);
    },
    seen: /threw .*no reader/,
  },
  "changes a sound file": {
    under: async (source, options) => {
      const found = await examine(source, options);
      if ("unrecognised" in found || found.findings.length > 0) return found;
      return { ...found, repaired: () => bytesSource("x", new Uint8Array([123, 125])).chunks() };
    },
    seen: /a sound file came back changed/,
  },
  "writes what it cannot read": {
    under: async (source, options) => {
      const found = await examine(source, options);
      if ("unrecognised" in found) return found;
      return { ...found, repaired: () => bytesSource("x", new Uint8Array([125])).chunks() };
    },
    seen: /accepted, then unreadable/,
  },
  "repairs nothing": {
    under: async (source, options) => {
      const found = await examine(source, options);
      return "unrecognised" in found ? found : { ...found, repaired: () => source.chunks() };
    },
    seen: /still broken after the repair/,
  },
  "leaves what a provider refuses": {
    under: async (source, options) => {
      const found = await examine(source, options);
      return "unrecognised" in found ? found : { ...found, refused: () => ["WIRE-1: planted"] };
    },
    seen: /the repair would be refused/,
  },
  "writes through a prototype": {
    under: (source, options) => {
      (Object.prototype as Record<string, unknown>)["polluted"] = 1;
      return examine(source, options);
    },
    seen: /a prototype changed/,
  },
};

test.each(Object.entries(PLANTED))("[DOC-24] the rig sees a reader that %s", async (_, { under, seen }) => {
  try {
    const { violations } = await fuzzSpan({ seed: "planted", format: "openai-chat", from: 0, to: 400 }, { under });
    expect(violations.join("\n")).toMatch(seen);
  } finally {
    delete (Object.prototype as Record<string, unknown>)["polluted"];
  }
});

test("[DOC-24] a campaign goes on where it stopped, and counts every format for itself", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-campaign-"));
  const state = join(folder, "state.json");
  try {
    const first = await campaign({ seed: "a", cases: 20, workers: 2, state, formats: ["pi-session"] });
    expect(first.done).toEqual({ "pi-session": 20 });
    const second = await campaign({ seed: "other", cases: 30, workers: 2, state });
    expect(second.seed).toBe("a");
    expect(second.done).toEqual(Object.fromEntries(FORMAT_IDS.map((format) => [format, 30])));
    expect(second.violations).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
