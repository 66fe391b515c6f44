import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { PROFILE_IDS } from "../../src/transcripts/profiles.ts";
import { bytesOf, codesOf, examined, lostLines, repaired } from "../transcripts/in-memory.ts";
import { SAMPLES, type Step } from "../transcripts/samples.ts";

/** Laws that every format keeps. A new format is one row in the table of samples. */

const NAMES = ["read_file", "bash", "edit"] as const;

/** A sound conversation: users ask, models answer, every call is followed by its output. */
const soundTurn = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("user", "assistant").map((say) => [{ say: say as "user", text: "hello" }]) },
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((names) => [{ names }]),
  },
);
type Turn = { readonly say: "user" | "assistant"; readonly text: string } | { readonly names: readonly string[] };

const soundScript = fc.array(soundTurn, { minLength: 1, maxLength: 8 }).map((turns): readonly Step[] => {
  let id = 0;
  const steps = (turns.flat() as readonly Turn[]).flatMap((turn): readonly Step[] => {
    if ("say" in turn) return [turn];
    const call = turn.names.map((name) => ({ id: `call_${id++}`, name }));
    return [{ call, text: "so" }, ...call.map((one) => ({ output: one.id, name: one.name, text: `did ${one.id}` }))];
  });
  // Something every format knows itself by.
  const call = { id: "call_last", name: "bash" };
  return [
    { say: "user", text: "begin" },
    ...steps,
    { call: [call] },
    { output: call.id, name: call.name, text: "done" },
  ];
});

/** The same with steps lost, doubled and moved, as crashes, retries and trimming do it. */
const brokenScript = fc
  .tuple(
    soundScript,
    fc.array(fc.tuple(fc.constantFrom("lose", "double", "move"), fc.nat(), fc.nat()), { maxLength: 4 }),
  )
  .map(([script, harms]) => {
    const steps = [...script];
    for (const [harm, from, to] of harms) {
      const at = 1 + (from % (steps.length - 1));
      const step = steps[at] as Step;
      if (harm !== "double") steps.splice(at, 1);
      if (harm !== "lose") steps.splice(1 + (to % steps.length), 0, step);
      if (steps.length < 3) break;
    }
    return steps as readonly Step[];
  });

/** Outputs inside their calls cannot stand apart or twice; there only losing one says something. */
function scriptFor(format: keyof typeof SAMPLES) {
  return SAMPLES[format].apart ? brokenScript : soundScript.map((steps) => steps.filter((_, nth) => nth % 5 !== 2));
}

const RUNS = { numRuns: 60 };

describe.each(FORMAT_IDS)("%s", (format) => {
  const sample = SAMPLES[format];

  test("[DOC-1] is recognised by what is inside, and a sound session of it is clean", () =>
    fc.assert(
      fc.asyncProperty(soundScript, async (steps) => {
        const found = await examined(sample.write(steps));
        expect(found.format).toBe(format);
        expect(codesOf(found)).toEqual([]);
        expect(found.calls).toBe(steps.flatMap((step) => ("call" in step ? step.call : [])).length);
        expect(found.outputs).toBe(found.calls);
      }),
      RUNS,
    ));

  test("[DOC-2] a sound session comes back byte for byte", () =>
    fc.assert(
      fc.asyncProperty(soundScript, async (steps) => {
        const text = sample.write(steps);
        expect(await repaired(await examined(text))).toEqual(bytesOf(text));
      }),
      RUNS,
    ));

  test("[DOC-3] a repaired session is clean, and repairing it again changes nothing", () =>
    fc.assert(
      fc.asyncProperty(scriptFor(format), async (steps) => {
        const once = await repaired(await examined(sample.write(steps), { format }));
        const again = await examined(once, { format }); // it may have lost the last thing its format shows itself by
        expect(codesOf(again)).toEqual([]);
        expect(await repaired(again)).toEqual(once);
        expect(again.calls).toBe(again.outputs);
        const left = Object.entries(again.counts).filter(([, count]) => count > 0);
        expect(left).toEqual([]);
      }),
      RUNS,
    ));

  test("[DOC-4] two repairs of one file give the same bytes", () =>
    fc.assert(
      fc.asyncProperty(scriptFor(format), async (steps) => {
        const text = sample.write(steps);
        const once = await repaired(await examined(text, { format }));
        expect(await repaired(await examined(text, { format }))).toEqual(once);
      }),
      { numRuns: 20 },
    ));

  test("[DOC-5] a repair keeps every word that was said and every output of a call", () =>
    fc.assert(
      fc.asyncProperty(scriptFor(format), async (steps) => {
        const found = await examined(sample.write(steps), { format });
        const text = new TextDecoder().decode(await repaired(found));
        const calls = new Set(steps.flatMap((step) => ("call" in step ? step.call.map(({ id }) => id) : [])));
        for (const step of steps) {
          if ("say" in step) expect(text).toContain(step.text);
          const stray = found.findings.some(
            (one) => one.code === "orphan-output" && one.call === ("output" in step ? step.output : ""),
          );
          if ("output" in step && sample.apart && calls.has(step.output) && !stray) expect(text).toContain(step.text);
        }
      }),
      RUNS,
    ));

  test("[DOC-6] what a provider would be sent after the repair passes its rules, whoever the provider is", () =>
    fc.assert(
      fc.asyncProperty(scriptFor(format), fc.constantFrom(...PROFILE_IDS), async (steps, profile) => {
        const found = await examined(sample.write(steps), { profile, format });
        expect(found.refused()).toEqual([]);
      }),
      RUNS,
    ));
});

describe.each(FORMAT_IDS.filter((format) => SAMPLES[format].lines))("a log: %s", (format) => {
  test("[DOC-26] only lines that the report names are touched", () =>
    fc.assert(
      fc.asyncProperty(scriptFor(format), async (steps) => {
        const text = SAMPLES[format].write(steps);
        const found = await examined(text, { format });
        const after = new TextDecoder().decode(await repaired(found));
        expect(lostLines(text, after, found)).toEqual([]);
      }),
      RUNS,
    ));
});
