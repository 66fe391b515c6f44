import { expect, test } from "vitest";
import { bytesSource } from "../../src/base/text/source.ts";
import { examine } from "../../src/transcripts/doctor.ts";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { everyField } from "../support/every-field.ts";
import { bytesOf, repaired } from "./in-memory.ts";
import { SAMPLES, type Step } from "./samples.ts";

const STEPS: readonly Step[] = [
  { say: "user", text: "hello" },
  { call: [{ id: "c1", name: "read" }], text: "I look." },
  { output: "c1", name: "read", text: "one" },
  { call: [{ id: "c2", name: "write" }] },
  { output: "c2", name: "write", text: "two" },
  { say: "assistant", text: "done" },
];

test.each(FORMAT_IDS)(
  "[DOC-24] %s: whatever field is missing or something else, the file is judged, and what can be repaired is then clean",
  async (format) => {
    const { lines, write } = SAMPLES[format];
    const text = write(STEPS);
    const whole: unknown = lines
      ? text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown)
      : JSON.parse(text);
    const written = (value: unknown) =>
      lines ? (value as unknown[]).map((line) => `${JSON.stringify(line)}\n`).join("") : JSON.stringify(value);
    let known = 0;
    for (const { where, odd } of everyField(whole)) {
      const found = await examine(bytesSource("odd", bytesOf(written(odd))), { format });
      if ("unrecognised" in found) continue;
      known += 1;
      if (found.findings.length === 0) continue;
      const again = await examine(bytesSource("mended", await repaired(found)), { format });
      const left = "unrecognised" in again ? again.unrecognised : again.findings.map(({ code }) => code);
      expect([where, left]).toEqual([where, []]);
    }
    expect(known).toBeGreaterThan(50);
  },
);
