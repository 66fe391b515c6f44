import { describe, expect, test } from "vitest";
import { answer, ask, call, output, say, sketch, system, think, user } from "../../test/histories/items.ts";
import type { ApprovalRequestItem, CallItem, Item } from "../wire/item.ts";
import { repairHistory, validateHistory } from "./repair.ts";
import { rollbackTurns } from "./rollback.ts";

const repaired = (items: readonly Item[]) => sketch(repairHistory(items).history);
const kinds = (items: readonly Item[]) => validateHistory(items).faults.map(({ kind }) => kind);
const unnamed = <I extends CallItem | ApprovalRequestItem>({ callId: _callId, ...rest }: I): I => rest as I;

describe("what a provider runs itself", () => {
  const own = (id: string, step?: number) => call(id, { server: true, ...(step === undefined ? {} : { step }) });

  test("[PAIR-14] beside many others in one answer, it is told apart from calls of ours that share its id", () => {
    const many = Array.from({ length: 17 }, (_, nth) => own(`s${nth}`));
    const results = many.toReversed().map((one) => output(one.callId ?? "", { server: true }));
    const log = [user(), ...many, call("s1"), ...results, output("s1")];
    expect(kinds(log)).toEqual([]);
    expect(kinds(log.slice(0, -1))).toEqual(["missing-output"]);
  });

  test("[PAIR-14] answered in its own answer, it is whole", () => {
    const log = [user(), own("s1"), output("s1", { server: true }), say(), user()];
    expect(repairHistory(log).history).toBe(log);
  });

  test("[PAIR-14] at the very end it is paused, not lost; further up nobody else can answer it, and it goes", () => {
    const paused = [user(), own("s1")];
    expect(repairHistory(paused).history).toBe(paused);
    const lost = [user(), think(), own("s1"), user("go on")];
    expect(kinds(lost)).toEqual(["missing-output"]);
    expect(repaired(lost)).toEqual(["user", "user"]); // the thought led to nothing else
  });

  test("[PAIR-14] without an id it is left as it is, and so are its neighbours", () => {
    const log = [user(), unnamed(own("s1")), call("c1"), output("c1"), say()];
    expect(sketch(repairHistory(log).history)).toContain("output c1");
    expect(repairHistory(repairHistory(log).history).repairs).toEqual([]);
  });
});

describe("approvals that name no call", () => {
  const open = unnamed(ask("a1", "c1"));

  test("[PAIR-11] one at the end waits, one that was passed over is left out, one that was answered binds no call", () => {
    const waiting = [user(), say(), open];
    expect(repairHistory(waiting).history).toBe(waiting);
    const passed = [user(), say(), open, user("never mind")];
    expect(kinds(passed)).toEqual(["broken-bond"]);
    expect(repaired(passed)).toEqual(["user", "assistant", "user"]);
    const answered = [user(), say(), open, answer("a1"), say("thanks")];
    expect(repairHistory(answered).history).toBe(answered);
  });

  test("[PAIR-10] a thought that only led to a question stays with no later answer", () => {
    const log = [user(), say("", { step: 1 }), think("hm", { step: 1 }), { ...open, step: 1 }, say("so", { step: 2 })];
    expect(kinds(log)).toContain("broken-bond");
    expect(repairHistory(repairHistory(log).history).repairs).toEqual([]);
    expect(repaired(log)).not.toContain("reasoning");
  });
});

describe("two answers to one call, in odd places", () => {
  test("[PAIR-5] a real one beats an interrupted one that came late itself, and both end where the call is", () => {
    const cut = output("c1", { status: "canceled", reason: "interrupted" });
    const log = [user(), call("c1"), user("hello?"), cut, output("c1"), say()];
    const { history } = repairHistory(log);
    expect(sketch(history)).toEqual(["user", "call c1", "output c1", "user", "assistant"]);
    expect(history[2]).toMatchObject({ status: "success" });
  });

  test("[PAIR-4] [PAIR-5] a real one that stands before its cut call shows that it ran, whatever stopgap follows", () => {
    const stopgap = output("c1", { synthetic: true, status: "canceled", reason: "interrupted" });
    const log = [user(), output("c1"), call("c1", { partial: true }), stopgap, say()];
    const { history } = repairHistory(log);
    expect(sketch(history)).toEqual(["user", "call c1", "output c1", "assistant"]);
  });
});

describe("a rollback", () => {
  const turn = (text: string): readonly Item[] => [user(text), say()];

  test("[T07] takes an update with it that is told in parts, a picture among them, and keeps the baseline", () => {
    const noted = { type: "text", text: "cwd is now /b", notice: "context-update" } as const;
    const picture = { type: "image", media: { mediaType: "image/png", url: "data:image/png;base64,AA==" } } as const;
    const whole = system("", { parts: [noted, { ...noted, text: "and it rains" }] });
    expect(rollbackTurns([...turn("1"), whole, ...turn("2")], 1)).toMatchObject({
      history: turn("1"),
      baseline: "kept",
    });
    expect(rollbackTurns([...turn("1"), system(), ...turn("2")], 1)).toMatchObject({
      history: [...turn("1"), system()],
    });
    const shown = system("", { parts: [noted, picture] });
    expect(rollbackTurns([...turn("1"), shown, ...turn("2")], 1)).toMatchObject({ baseline: "cleared" });
  });
});
