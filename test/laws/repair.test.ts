import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FAULT_KINDS } from "../../src/history/faults.ts";
import { HistoryIndex } from "../../src/history/history-index.ts";
import { type Repair, type RepairOptions, repairHistory, validateHistory } from "../../src/history/repair.ts";
import { trimOldHistory } from "../../src/history/trim.ts";
import type { Item, OutputItem } from "../../src/wire/item.ts";
import { PROFILES, type ProfileId } from "../../src/wire/profiles.ts";
import { checkWire } from "../../src/wire/check.ts";
import { writeMessages } from "../../src/wire/project.ts";
import { brokenHistory, wholeHistory } from "../histories/generate.ts";

const RUNS = 10_000;
const profiles = Object.keys(PROFILES) as ProfileId[];

describe.each([
  { steps: true, own: true },
  { steps: false, own: true },
])("histories with steps: $steps", (shape) => {
  const broken = brokenHistory(shape);
  const whole = wholeHistory(shape);
  const hold = <T>(any: fc.Arbitrary<T>, law: (value: T) => void, numRuns = RUNS) =>
    fc.assert(
      fc.property(any, (value) => {
        law(value);
      }),
      { numRuns },
    );

  test("[PAIR-3] repair leaves no fault behind, and a second pass returns the same reference", () => {
    hold(broken, (items) => {
      const { history } = repairHistory(items);
      const left = validateHistory(history);
      expect(left.faults).toEqual([]);
      expect(repairHistory(history).history).toBe(history);
    });
  });

  test("[PAIR-1] a whole history comes back as the same reference", () => {
    hold(whole, (items) => expect(repairHistory(items).history).toBe(items));
  });

  test("[PAIR-17] repair is minimal: every repair has a fault, and what no fault names stays, in its order", () => {
    hold(broken, (items) => {
      const { history, repairs, report } = repairHistory(items);
      const touched = new Set(repairs.flatMap(({ fault }) => [fault.at, fault.related]));
      const stays = items.filter((_, at) => !touched.has(at) && !isPaired(items, at, touched));
      const kept = new Set<Item>(stays);
      expect(history.filter((item) => kept.has(item))).toEqual(stays);
      expect(repairs.length).toBeGreaterThanOrEqual(report.faults.length);
    });
  });

  test("[PAIR-18] no real result of an answered call is lost", () => {
    hold(broken, (items) => {
      const { history, repairs } = repairHistory(items);
      const gone = new Set(repairs.filter(({ action }) => action === "left-out").map(({ fault }) => fault.at));
      const texts = new Set(history.filter((item) => item.kind === "output").map((item) => JSON.stringify(item.parts)));
      for (const [at, item] of items.entries()) {
        if (item.kind !== "output" || item.synthetic === true || gone.has(at)) continue;
        expect(texts.has(JSON.stringify((item as OutputItem).parts))).toBe(true);
      }
      for (const { fault, action } of repairs) {
        if (action === "left-out") expect(fault.kind).not.toBe("displaced-output");
      }
    });
  });

  test("[PAIR-19] the same log gives the same bytes", () => {
    hold(
      broken,
      (items) => {
        const copy = JSON.parse(JSON.stringify(items)) as Item[];
        expect(JSON.stringify(repairHistory(copy).history)).toBe(JSON.stringify(repairHistory(items).history));
      },
      2000,
    );
  });

  test("[PAIR-20] an index kept at append sees what a cold pass sees, after every append", () => {
    hold(
      fc.tuple(broken, fc.array(fc.nat(5), { minLength: 1, maxLength: 8 })),
      ([items, strides]) => {
        const index = new HistoryIndex();
        const log: Item[] = [];
        let stride = 0;
        while (log.length < items.length) {
          log.push(...items.slice(log.length, log.length + 1 + (strides[stride % strides.length] as number)));
          stride += 1;
          const warm = repairHistory(log, { index });
          const cold = repairHistory(log);
          expect(warm.report).toEqual(cold.report);
          expect(warm.history).toEqual(cold.history);
        }
      },
      2000,
    );
  });

  test("[PAIR-20] [PAIR-33] an index gives what a cold pass gives, the same items again where they are equal, whatever is asked", () => {
    hold(
      fc.tuple(broken, fc.array(anyQuestion, { minLength: 1, maxLength: 8 })),
      ([items, questions]) => {
        const index = new HistoryIndex();
        let log: Item[] = [];
        let before: readonly Repair[] = [];
        for (let nth = 0; log.length < items.length && nth < 40; nth += 1) {
          const question = questions[nth % questions.length] as Question;
          if (question.shrinks && nth % 5 === 0) log = log.slice(0, log.length >> 1);
          log.push(...items.slice(log.length, log.length + 1 + question.stride));
          const options = optionsOf(question, items);
          const warm = repairHistory(log, { ...options, index });
          expect(warm).toEqual(repairHistory(log, options));
          const again = repairHistory(log, { ...options, index }).history;
          expect(again.every((item, at) => item === warm.history[at])).toBe(true);
          for (const repair of warm.repairs) expect(madeAgain(repair, before)).toBe(false);
          before = warm.repairs;
        }
      },
      2000,
    );
  });

  test("[PAIR-21] whatever is trimmed, the rest is whole and no group is parted", () => {
    hold(
      fc.tuple(broken, fc.nat(20)),
      ([items, keep]) => {
        const { history } = trimOldHistory(items, keep);
        expect(validateHistory(history).faults).toEqual([]);
      },
      2000,
    );
  });

  test("[WIRE-1] a repaired history is clean for every profile", () => {
    hold(broken, (items) => {
      const { history, report } = repairHistory(items);
      if (report.inFlight.length > 0) return;
      for (const profile of profiles) {
        const { messages } = writeMessages(history, profile);
        expect({ profile, faults: checkWire(messages, profile) }).toEqual({ profile, faults: [] });
      }
    });
  });
});

/** Whether an item is the other half of one that a fault names: it may have been renamed with it. */
function isPaired(items: readonly Item[], at: number, touched: ReadonlySet<number | undefined>): boolean {
  const item = items[at] as Item;
  if (item.kind !== "output" && item.kind !== "reasoning" && !item.kind.startsWith("approval")) return false;
  return (
    item.kind !== "output" ||
    items.some((other, where) => touched.has(where) && other.kind === "call" && other.callId === item.callId)
  );
}

/** One repair of a growing log: how much of it is new, and what is asked about it. */
interface Question {
  readonly stride: number;
  readonly shrinks: boolean;
  /** Every third tool is not offered, or every third call still runs: counted from here; 0 for none. */
  readonly gone: number;
  readonly running: number;
  readonly now: number | undefined;
  readonly only: RepairOptions["only"];
}

const anyQuestion: fc.Arbitrary<Question> = fc.record({
  stride: fc.nat(5),
  shrinks: fc.boolean(),
  gone: fc.nat(3),
  running: fc.nat(3),
  now: fc.constantFrom(undefined, 1, 9),
  only: fc.option(fc.subarray([...FAULT_KINDS]), { nil: undefined, freq: 4 }),
});

function optionsOf({ gone, running, now, only }: Question, items: readonly Item[]): RepairOptions {
  const calls = items.flatMap((item) => (item.kind === "call" ? [item] : []));
  const names = [...new Set(calls.map(({ name }) => name))];
  const ids = [...new Set(calls.flatMap(({ callId }) => (callId === undefined ? [] : [callId])))];
  const inFlight = ids.flatMap((id, nth) =>
    nth % 3 === running - 1 ? [[id, nth % 2 === 0 ? {} : { deadline: 5 }] as const] : [],
  );
  return {
    ...(gone === 0 ? {} : { tools: new Set(names.filter((_, nth) => nth % 3 !== gone - 1)) }),
    ...(running === 0 ? {} : { inFlight: new Map(inFlight) }),
    ...(now === undefined ? {} : { now }),
    ...(only === undefined ? {} : { only }),
  };
}

/** Whether a repair made another object where the one before it had made an equal one of the same item. */
function madeAgain({ fault, action, item }: Repair, before: readonly Repair[]): boolean {
  return before.some(
    (one) =>
      one.item !== item && JSON.stringify([one.fault, one.action, one.item]) === JSON.stringify([fault, action, item]),
  );
}
