import { expect, test } from "vitest";
import { call, output, say, sketch, system, user } from "../../test/histories/items.ts";
import type { Item, Notice } from "../wire/item.ts";
import { rollbackTurns } from "./rollback.ts";

const notice = (kind: Notice) => user(kind, { notice: kind });
const prefix = [system(), notice("environment")];
const turn = (id: string) => [user(id), call(id), output(id), say()];
const log = [...prefix, ...turn("1"), ...turn("2")];
const left = (items: readonly Item[], count: number) => {
  const done = rollbackTurns(items, count);
  return done.ok ? done.history : done.fault;
};

test("[T05] one turn back, all turns back, and nothing back", () => {
  expect(left(log, 1)).toEqual([...prefix, ...turn("1")]);
  expect(rollbackTurns(log, 99)).toMatchObject({ ok: true, removedTurns: 2 });
  expect(left(log, 99)).toEqual(prefix);
  expect(left(log, 0)).toBe("bad-count");
  expect(left(log, 1.5)).toBe("bad-count");
  expect(left(prefix, 1)).toBe("nothing-to-roll-back");
});

test.each<Notice>(["environment", "instructions", "shell-command", "subagent"])(
  "[T06] a %s notice is no turn",
  (kind) => {
    const items = [...turn("1"), ...turn("2"), notice(kind)];
    expect(left(items, 1)).toEqual(turn("1"));
  },
);

test("[T07] context updates directly above the cut go with their turn, and the baseline is kept", () => {
  const items = [...turn("1"), notice("context-update"), notice("context-update"), ...turn("2")];
  expect(rollbackTurns(items, 1)).toMatchObject({ ok: true, history: turn("1"), baseline: "kept" });
});

test("[T07] when a bundle of updates and lasting instructions went, the baseline is cleared", () => {
  const bundle = system("", {
    role: "developer",
    parts: [
      { type: "text", text: "cwd is now /b", notice: "context-update" },
      { type: "text", text: "be good" },
    ],
  });
  const items = [...turn("1"), bundle, ...turn("2")];
  expect(rollbackTurns(items, 1)).toMatchObject({ ok: true, history: turn("1"), baseline: "cleared" });
});

test("[PAIR-24] an output that came late stays with the turn that called for it", () => {
  const items = [user("1"), call("A"), user("2"), output("A"), say()];
  expect(sketch(left(items, 1) as readonly Item[])).toEqual(["user", "call A", "output A"]);
});
