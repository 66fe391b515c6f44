import { expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import type { Mode } from "../catalog/tool.ts";
import type { Relative } from "./open-sessions.ts";
import { Standings } from "./standings.ts";

type Written = Readonly<Record<string, { readonly mode: Mode; readonly parent?: string }>>;

function standings(written: Written, open: Readonly<Record<string, Pick<Relative, "isPlanning">>> = {}) {
  const find = (id: string) => (open[id] === undefined ? undefined : ({ own: {}, ...open[id] } as Relative));
  return new Standings({ find }, async (id) => {
    const kept = written[id];
    if (kept === undefined) throw new HoldfastError("SESSION_UNKNOWN", { session: id });
    return { mode: async () => kept.mode, parent: async () => kept.parent };
  });
}

test("[MODE-7] a session that is closed plans when whoever it works for plans, open or not", async () => {
  const written: Written = {
    top: { mode: "act" },
    middle: { mode: "act", parent: "top" },
    low: { mode: "act", parent: "middle" },
  };
  expect(await standings(written).of("low")).toEqual({ isPlanning: false, parent: "middle" });
  expect(await standings(written, { top: { isPlanning: true } }).of("low")).toEqual({
    isPlanning: true,
    parent: "middle",
  });
  expect(await standings({ ...written, top: { mode: "plan" } }).of("low")).toEqual({
    isPlanning: true,
    parent: "middle",
  });
});

test("[MODE-7] where nobody can tell whom a session works for, nothing is said of it", async () => {
  expect(await standings({ low: { mode: "act", parent: "gone" } }).of("low")).toBeUndefined();
});

test("[MODE-7] two that each say that they work for the other are asked once each", async () => {
  const round = standings({ one: { mode: "act", parent: "two" }, two: { mode: "act", parent: "one" } });
  expect(await round.of("one")).toEqual({ isPlanning: false, parent: "two" });
});

test("[MODE-7] what is no answer of the store is not taken for one", async () => {
  const broken = new Standings({ find: () => undefined }, () => Promise.reject(new TypeError("a mistake of ours")));
  await expect(broken.of("any")).rejects.toThrow("a mistake of ours");
});
