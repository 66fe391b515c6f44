import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type CompositeSnapshot, type Item, type JournalEntry, type KeptItems, unkeepItems } from "../../src/index.ts";
import type { ScriptedAnswer, ScriptStep } from "../../src/records/script.ts";
import { snapshotsEquivalent, startProviderServer } from "../../src/testing/entry.ts";
import { opened } from "../support/durable.ts";
import { WAYS, watch } from "../support/loop.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

let script: readonly ScriptStep[] = [];
let asked = 0;
const next = () => script[asked++] as ScriptStep;
const server = await startProviderServer({ script: next });
afterAll(() => server.close());

interface Lived {
  readonly state: CompositeSnapshot;
  readonly journal: readonly unknown[];
  readonly end: unknown;
}

/** One session, one script, one way of asking. */
async function live(way: keyof typeof WAYS, steps: readonly ScriptStep[]): Promise<Lived> {
  script = steps;
  asked = 0;
  const { session } = await opened(new MemoryDisk(), { commitOrder: "call" });
  const model = (WAYS[way] as (typeof WAYS)[string])(server.url, next);
  const turns: unknown[] = [];
  for (const input of ["Do it.", "And now?"]) {
    const { end } = await watch(session.run(input, { model }));
    turns.push({ ...end, spent: end.spent.steps });
  }
  return {
    state: await session.state.snapshot(),
    journal: (await collect(session.read())).map(essence),
    end: turns,
  };
}

/** A record without ids, times, and what only this provider would say so. */
function essence(entry: JournalEntry): unknown {
  const { seq: _seq, at: _at, ...rest } = entry as JournalEntry & Record<string, unknown>;
  switch (entry.kind) {
    case "model-said": {
      const items = unkeepItems(entry.items as unknown as KeptItems).flatMap(saying);
      return { kind: entry.kind, stop: entry.stop, items };
    }
    case "call-opened":
      return { ...rest, callId: "", alias: "" };
    case "call-closed":
      return { ...rest, callId: "" };
    case "history-repaired":
      return { kind: entry.kind, fault: entry.fault };
    case "view-chosen": // thoughts are pages, too
      return { kind: entry.kind };
    case "state-changed":
      return { kind: entry.kind, parts: Object.keys(entry.delta as object).sort() };
    default:
      return rest;
  }
}

/** Thoughts are left out: chat shows none. */
function saying(item: Item): readonly unknown[] {
  if (item.kind === "assistant") return [item.parts.map((part) => (part.type === "text" ? part.text : part.type))];
  if (item.kind !== "call") return [];
  return [
    { name: item.name, input: item.inputText === undefined ? item.input : (JSON.parse(item.inputText) as unknown) },
  ];
}

const anyCall = fc.record({
  name: fc.constantFrom("step", "step", "gone"),
  input: fc.record({ n: fc.constantFrom("a", "b", "c"), fail: fc.boolean() }),
});
const anyAnswer: fc.Arbitrary<ScriptedAnswer> = fc.record({
  reasoning: fc.constant("Hm."),
  text: fc.constantFrom("Look.", "Zwei 🥊 Schritte", "x\n\ny"),
  calls: fc.array(anyCall, { minLength: 1, maxLength: 3 }),
});
const anyScript = fc
  .tuple(fc.array(anyAnswer, { maxLength: 4 }), fc.array(anyAnswer, { maxLength: 2 }))
  .map(([first, second]) => [...first, { text: "Done." }, ...second, { text: "Again done." }]);

describe("one script", () => {
  test("[LOOP-13] [K60] ends in the same state and the same journal through every adapter", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyScript, async (steps) => {
        const lived: Lived[] = [];
        for (const way of Object.keys(WAYS)) lived.push(await live(way, steps));
        const [reference, ...others] = lived;
        for (const other of others) {
          expect(other.end).toEqual(reference?.end);
          expect(other.journal).toEqual(reference?.journal);
          expect(snapshotsEquivalent(other.state, reference!.state)).toBe(true);
        }
        expect(server.refused).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });
});
