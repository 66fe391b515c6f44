import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repairMessages } from "../../src/history/messages.ts";
import { repairHistory } from "../../src/history/repair.ts";
import { checkWire } from "../../src/wire/check.ts";
import type { Item } from "../../src/wire/item.ts";
import { PROFILES, type ProfileId } from "../../src/wire/profiles.ts";
import { readMessages, writeMessages } from "../../src/wire/project.ts";
import { brokenHistory, wholeHistory } from "../histories/generate.ts";
import { oddMessages } from "../histories/odd-messages.ts";
import { wounded } from "../histories/wound-messages.ts";

const RUNS = 10_000;
const profiles = Object.values(PROFILES);

describe.each(profiles)("$id", (profile) => {
  const { format } = profile;
  const hold = <T>(any: fc.Arbitrary<T>, law: (value: T) => void, numRuns = RUNS) =>
    fc.assert(
      fc.property(any, (value) => {
        law(value);
      }),
      { numRuns },
    );

  test("[WIRE-21] valid messages come back as the same array of the same objects", () => {
    hold(
      fc.boolean().chain((steps) => wholeHistory({ steps })),
      (items) => {
        const { messages } = writeMessages(items, profile);
        expect(checkWire(messages, profile)).toEqual([]);
        const again = repairMessages(messages, { format, profile });
        expect(again.messages).toBe(messages);
        expect(again.report.faults).toEqual([]);
        expect(again.adjustments).toEqual([]);
      },
      3000,
    );
  });

  test("[WIRE-22] whatever was done to messages, the repaired ones are clean and a second repair returns them", () => {
    hold(wounded(profile), (messages) => {
      const before = JSON.stringify(messages);
      const { messages: mended, report } = repairMessages(messages, { format, profile });
      expect(JSON.stringify(messages)).toBe(before);
      if (report.inFlight.length > 0) return;
      expect(checkWire(mended, profile)).toEqual([]);
      const again = repairMessages(mended, { format, profile });
      expect(again.report.faults).toEqual([]);
      expect(again.messages).toBe(mended);
    });
  });

  test("[WIRE-22] however odd a list is, what repair makes of it is returned by a second repair", () => {
    hold(oddMessages(profile), (messages) => {
      const { messages: mended } = repairMessages(messages, { format, profile });
      expect(repairMessages(mended, { format, profile }).messages).toBe(mended);
    });
  });

  test("[WIRE-1] whatever of an answer was shortened stays in it, and every call keeps its result beside it", () => {
    const shortened = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });
    hold(
      fc.tuple(wholeHistory({ steps: true }), shortened),
      ([items, which]) => {
        const { items: read } = readMessages(writeMessages(items, profile).messages, format);
        // As under pressure: what is shown shorter than it came is no longer the provider's own piece.
        const shown = read.map((item, at) => (which[at % which.length] === true ? withoutOrigin(item) : item));
        expect(checkWire(writeMessages(shown, profile).messages, profile)).toEqual([]);
      },
      3000,
    );
  });

  test("[WIRE-23] tools that are gone leave no call behind", () => {
    hold(
      fc.tuple(wounded(profile), fc.subarray(["read_file", "write_file", "shell", "grep"])),
      ([messages, offered]) => {
        const tools = new Set(offered);
        const { messages: mended, report } = repairMessages(messages, { format, profile, tools });
        if (report.inFlight.length > 0) return;
        expect(checkWire({ messages: mended, tools: offered }, profile)).toEqual([]);
      },
      2000,
    );
  });
});

function withoutOrigin(item: Item): Item {
  if (item.kind !== "call" && item.kind !== "assistant" && item.kind !== "output") return item;
  const { origin: _origin, ...rest } = item;
  return rest;
}

test("[WIRE-24] [N39] one log tells the same story to every provider: same decisions, same reasons", () => {
  fc.assert(
    fc.property(brokenHistory({ steps: true }), (items) => {
      const told = (Object.keys(PROFILES) as ProfileId[]).map((profile) => {
        const { history, repairs } = repairHistory(items, { profile });
        return JSON.stringify([history, repairs.map(({ fault, ...rest }) => [{ ...fault, severity: "" }, rest])]);
      });
      expect(new Set(told).size).toBe(1);
    }),
    { numRuns: 2000 },
  );
});

test("[WIRE-25] messages written in one format and read again hold the same calls and results", () => {
  fc.assert(
    fc.property(wholeHistory({ steps: true }), fc.constantFrom(...profiles), (items, profile) => {
      const { messages } = writeMessages(items, profile);
      const { items: read, malformed } = readMessages(messages, profile.format);
      const calls = (list: readonly { kind: string; callId?: string }[]) =>
        list.filter(({ kind }) => kind === "call" || kind === "output").map(({ kind, callId }) => `${kind} ${callId}`);
      expect(malformed).toEqual([]);
      expect(calls(read as never).toSorted()).toEqual(calls(items as never).toSorted());
    }),
    { numRuns: 5000 },
  );
});
