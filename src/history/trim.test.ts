import { describe, expect, test } from "vitest";
import { call, output, say, sketch, system, think, user } from "../../test/histories/items.ts";
import type { CallKind, Item } from "../wire/item.ts";
import { protocolGroups } from "./groups.ts";
import { validateHistory } from "./repair.ts";
import { compactTail, cutThenPair, removeOldest, safeCut, trimOldHistory } from "./trim.ts";

const two = [user("1"), call("A"), output("A"), call("B"), output("B")];

describe("groups", () => {
  test("[PAIR-21] an answer, its reasoning, its calls and all their outputs are one group, wherever they stand", () => {
    const items = [user(), think(), call("A"), call("B"), output("A"), user(), output("B")];
    expect(protocolGroups(items).map((group) => group.members)).toEqual([[0], [1, 2, 3, 4, 6], [5]]);
    expect(protocolGroups([user(), call("A")]).at(-1)).toMatchObject({ kind: "answer", complete: false });
    expect(protocolGroups([output("Z")])).toMatchObject([{ kind: "stray", complete: true }]);
  });
});

describe("groups among displaced outputs", () => {
  test("[PAIR-21] an output of an older call does not part the answer it stands in", () => {
    const items = [call("A"), user(), call("B"), output("A"), call("C"), output("B"), output("C")];
    expect(protocolGroups(items).map((group) => group.members)).toEqual([[0, 3], [1], [2, 4, 5, 6]]);
  });
});

describe("removing the oldest", () => {
  test.each<CallKind>(["function", "custom", "shell"])("[T01] a %s pair at the front goes as a whole", (callKind) => {
    const reply = output("A", { callKind: callKind === "shell" ? "function" : callKind });
    const { history, removed } = removeOldest([call("A", { callKind }), reply, user()]);
    expect(sketch(history)).toEqual(["user"]);
    expect(removed).toEqual([0, 1]);
  });

  test("[T02] so does a pair whose output stands first", () => {
    expect(sketch(removeOldest([output("A"), call("A"), say(), user()]).history)).toEqual(["user"]);
  });

  test("[T02] instructions at the front are not the oldest", () => {
    expect(sketch(removeOldest([system(), user(), say()]).history)).toEqual(["system", "assistant"]);
  });
});

describe("trimming", () => {
  test("[T03] a cut inside a pair moves back so that the pair stays whole", () => {
    expect(safeCut(two, 4)).toBe(3);
    expect(safeCut(two, 3)).toBe(3);
    expect(safeCut(two, 2)).toBe(1);
  });

  test("[T04] a parallel batch is kept whole or dropped whole", () => {
    const batch = [user(), call("A"), call("B"), call("C"), output("A"), output("B"), output("C"), say()];
    for (let keep = 0; keep <= batch.length; keep += 1) {
      const ids = sketch(trimOldHistory(batch, keep).history).filter((line) => /^(call|output)/.test(line));
      expect([0, 6]).toContain(ids.length);
    }
  });

  test("[PAIR-23] the seed's trimming keeps at least the newest, and the rest is valid", () => {
    const items: Item[] = [];
    for (let turn = 0; turn < 50; turn += 1) items.push(user(), call(`c${turn}`), output(`c${turn}`), say());
    const { history } = trimOldHistory(items, 20);
    expect(history.length).toBeGreaterThanOrEqual(20);
    expect(history.length).toBeLessThan(25);
    expect(validateHistory(history).isValid()).toBe(true);
    expect(trimOldHistory(items, 500).history).toBe(items);
  });
});

describe("the oldest group", () => {
  test("[PAIR-23] is none when there are only instructions: nothing goes, and the same history comes back", () => {
    for (const items of [[], [system("a"), system("b")]]) {
      const { history, removed } = removeOldest(items);
      expect(history).toEqual(items);
      expect(removed).toEqual([]);
    }
  });

  test("[PAIR-21] what only the model's provider understands stands in the model's answer", () => {
    const opaque = (by: "model" | "host"): Item => ({ kind: "other", by });
    expect(
      protocolGroups([user(), opaque("model"), call("A"), output("A"), opaque("host")]).map(({ kind, members }) => [
        kind,
        members,
      ]),
    ).toEqual([
      ["message", [0]],
      ["answer", [1, 2, 3]],
      ["message", [4]],
    ]);
  });
});

describe("compaction", () => {
  test("[C01] a trailing call without result, or a batch that misses one, is dropped as a whole; the user stays", () => {
    expect(sketch(compactTail([user(), call("A")], 10).history)).toEqual(["user"]);
    const half = [user("1"), say(), user("2"), think(), call("A"), call("B"), output("A")];
    expect(sketch(compactTail(half, 10).history)).toEqual(["user", "assistant", "user"]);
  });

  test("[C12] a clamp that removes a call whose output stays is followed by pairing, after the last cut", () => {
    const clamp = (items: readonly Item[]) => items.slice(2);
    const drop = (items: readonly Item[]) => items.filter((item) => item.kind !== "output" || item.callId !== "B");
    const { history, report } = cutThenPair(two, [clamp, drop]);
    expect(sketch(history)).toEqual(["call B", "syn B"]);
    expect(report.summary()).toBe("1 missing outputs, 1 orphan outputs");
  });
});
