import { describe, expect, test } from "vitest";
import { call, output, user } from "../../test/histories/items.ts";
import type { CallItem, Item } from "../wire/item.ts";
import { Batch } from "./batch.ts";
import { type Decision, planRepair } from "./plan.ts";

/** The batch of calls that stand in a row from this place on, none of them answered. */
function batchAt(start: number, calls: readonly CallItem[]): Batch {
  const batch = new Batch();
  batch.start = start;
  for (const [nth, item] of calls.entries()) batch.add(start + nth, item);
  batch.lastModel = start + calls.length - 1;
  return batch;
}

function anonymous({ callId: _callId, ...rest }: CallItem): CallItem {
  return rest;
}

const actionsOf = (decisions: readonly Decision[]) => decisions.map(({ action }) => action);

// The scan tells more than this of every fault it finds. A planner that needs to be told would fail with the first fault
// that somebody else finds.
describe("[WIRE-22] a fault of which little is known is mended all the same", () => {
  test("a missing output that nobody gave a reason for is canceled and interrupted", () => {
    const items = [user(), call("c1")];
    const batch = batchAt(1, [items[1] as CallItem]);
    const { decisions, insertions } = planRepair(items, [{ kind: "missing-output", at: 1, batch, ordinal: 0 }]);
    expect(decisions).toMatchObject([{ action: "answered", item: { callId: "c1", status: "canceled" } }]);
    expect([...insertions.values()].flat()).toMatchObject([{ kind: "output", reason: "interrupted" }]);
  });

  test("a call whose answer is not known is renamed alone", () => {
    const items = [user(), call("c1"), output("c1"), call("c1")];
    const { renamed, replacements } = planRepair(items, [{ kind: "duplicate-call-id", at: 3 }]);
    expect([...renamed.keys()]).toEqual([3]);
    expect([...replacements.keys()]).toEqual([3]);
  });

  test("a call in pieces goes alone when its answer is not known", () => {
    const { drops, decisions } = planRepair([user(), call("c1")], [{ kind: "partial-call", at: 1 }]);
    expect([...drops]).toEqual([1]);
    expect(actionsOf(decisions)).toEqual(["left-out"]);
  });

  test("a call of a tool that is gone, unknown to its own answer, is noted without an output", () => {
    const items = [user(), call("c1")];
    const batch = batchAt(1, []);
    batch.lastModel = 1;
    const { drops, notes } = planRepair(items, [{ kind: "unknown-tool", at: 1, batch, ordinal: 0 }]);
    expect([...drops]).toEqual([1]);
    expect([...notes.keys()]).toEqual([1]);
  });

  test("an output that belongs to a call without an id keeps its own", () => {
    const bare = anonymous(call("c1"));
    const items: readonly Item[] = [user(), bare, user(), output("c9", { name: "elsewhere" })];
    const batch = batchAt(1, [bare]);
    const finding = { kind: "displaced-output", at: 3, call: 1, batch, ordinal: 0 } as const;
    const { drops, decisions } = planRepair(items, [finding]);
    expect([...drops]).toEqual([3]);
    expect(decisions).toMatchObject([{ action: "moved", item: { callId: "c9", name: bare.name } }]);
  });
});
