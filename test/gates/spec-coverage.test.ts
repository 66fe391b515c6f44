import { describe, expect, test } from "vitest";
import { findSpecFaults, rulesOf } from "./spec-coverage.ts";
import { plant, readTree } from "./tree.ts";

/** Rules that can be proven only where something is there that not every machine has. */
const OVERLAY = "a kernel that lets the tests mount an overlay";
const CORPUS = "a folder of real transcripts (HOLDFAST_CORPUS)";
const RUNTIME = "the runtime of the Claude Agent SDK";
const NEEDS: Readonly<Record<string, string>> = {
  "EXEC-14": OVERLAY,
  "EXEC-23": OVERLAY,
  "EXEC-31": OVERLAY,
  "EXEC-39": OVERLAY,
  "LOOP-20": CORPUS,
  "PAGE-13": CORPUS,
  "VIEW-19": CORPUS,
  "VIEW-24": CORPUS,
  "BOUNDARY-13": CORPUS,
  "DOC-25": CORPUS,
  "CLAUDE-9": RUNTIME,
  "PARITY-4": RUNTIME,
};

test("every rule of SPEC.md is worn by a test, and every worn id is a rule", () => {
  const spec = readTree("SPEC.md").get("SPEC.md") ?? "";
  expect(rulesOf(spec).length).toBeGreaterThan(10);
  expect(findSpecFaults(spec, readTree("src", "test"), NEEDS)).toEqual([]);
});

describe("the gate sees", () => {
  const spec = "## TX: calls\n\n- **TX-1** A call ends once.\n- **TX-2** A failed call leaves no trace.\n";
  const tests = { "src/transaction/settle.test.ts": 'test("[TX-1] ends once", …);\ntest("[TX-2] [K07] no trace", …);' };

  test("nothing wrong when rules and tests agree", () => {
    expect(findSpecFaults(spec, plant(tests))).toEqual([]);
    expect(findSpecFaults(spec, plant({ "src/testing/laws.ts": tests["src/transaction/settle.test.ts"] }))).toEqual([]);
  });

  test.each([
    ["a rule without a test", `${spec}- **TX-3** It is told.\n`, tests, ["TX-3: no test wears it"]],
    ["a number given twice", `${spec}- **TX-2** Again.\n`, tests, ["TX-2: given twice"]],
    [
      "a rule without a full stop",
      spec.replace("once.", "once"),
      tests,
      ["TX-1: a rule is one sentence and ends in a full stop"],
    ],
    [
      "a family nobody declared",
      `${spec}- **ZZ-1** Strange.\n`,
      { ...tests, "test/z.test.ts": '"[ZZ-1] z"' },
      ["ZZ-1: SPEC.md has no family ZZ", "ZZ-1: worn in test/z.test.ts, but SPEC.md has no family ZZ"],
    ],
    [
      "a malformed id",
      `${spec}- **TX-02** Padded.\n`,
      { ...tests, "test/z.test.ts": '"[TX-02] z"' },
      ["TX-02: not a rule id such as TX-2"],
    ],
    [
      "a worn id without a rule",
      spec,
      { ...tests, "test/x.test.ts": "test('[TX-9] x')" },
      ["TX-9: worn in test/x.test.ts, not in SPEC.md"],
    ],
    [
      "a rule worn only by a skipped test",
      spec,
      { "a.test.ts": 'test("[TX-1] a");\ntest.skip("[TX-2] b");' },
      ["TX-2: no test wears it"],
    ],
    [
      "a rule worn only by a test that may be skipped",
      spec,
      { "a.test.ts": 'test("[TX-1] a");\ntest.skipIf(no)("[TX-2] b", () => {\n});' },
      ["TX-2: only tests wear it that may be skipped (a.test.ts)"],
    ],
    [
      "a rule worn only inside a block that may be skipped",
      spec,
      { "a.test.ts": 'describe.runIf(yes)("here", () => {\n  test("[TX-2] b");\n});\ntest("[TX-1] a");' },
      ["TX-2: only tests wear it that may be skipped (a.test.ts)"],
    ],
    [
      "a rule named only in code",
      spec,
      { ...tests, "src/transaction/settle.test.ts": 'test("[TX-1] a");', "src/a.ts": '"[TX-2] b"' },
      ["TX-2: no test wears it"],
    ],
    [
      "a rule worn only by a planted test",
      spec,
      { "test/gates/x.test.ts": tests["src/transaction/settle.test.ts"] },
      ["TX-1: no test wears it", "TX-2: no test wears it"],
    ],
  ])("%s", (_name, text, files, faults) => {
    expect(findSpecFaults(text, plant(files as Record<string, string>))).toEqual(faults);
  });
});
