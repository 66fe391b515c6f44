import { expect, test } from "vitest";
import { run } from "../chaos/fuzz.ts";

/** CI gives it two minutes; everybody else a few seconds. The millions are in `npm run chaos -- fuzz`. */
const SECONDS = Number(process.env["HOLDFAST_FUZZ_SECONDS"] ?? 8);

test(
  "[DOC-24] wounded sessions of every format neither crash nor hang nor come out of a repair unreadable",
  async () => {
    const { cases, violations } = await run({ seed: "test", cases: 1_000_000, seconds: SECONDS });
    expect(violations).toEqual([]);
    expect(cases).toBeGreaterThan(100);
  },
  SECONDS * 1000 + 60_000,
);

test("[DOC-24] a log that damage left without one record is repaired to a log that can still be read", async () => {
  const { examined, repaired } = await import("./in-memory.ts");
  const torn = '{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user",\n"call_1"\n"call_1"\n';
  const found = await examined(torn, { format: "claude-code" });
  const again = await examined(await repaired(found), { format: "claude-code" });
  expect(again.findings).toEqual([]);
});

test("[DOC-24] the rig has teeth: its wounds reach findings of every kind, not only files that nobody knows", async () => {
  const { SeededRandom } = await import("../../src/base/random.ts");
  const { sampleOf, wounded } = await import("../chaos/fuzz-wounds.ts");
  const { examine } = await import("../../src/transcripts/doctor.ts");
  const { bytesSource } = await import("../../src/base/text/source.ts");
  const seen = new Set<string>();
  let known = 0;
  for (let nth = 0; nth < 1_500; nth += 1) {
    const random = new SeededRandom(`teeth/${nth}`);
    const found = await examine(bytesSource("x", wounded(sampleOf("claude-code", random), random)));
    if ("unrecognised" in found) continue;
    known += 1;
    for (const { code } of found.findings) seen.add(code);
  }
  expect(known).toBeGreaterThan(750);
  expect(seen.size).toBeGreaterThanOrEqual(14);
});
