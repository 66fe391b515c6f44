import { describe, expect, test } from "vitest";
import { PinnedRules, type Rule } from "../../src/index.ts";
import type { Session } from "../../src/turn/session.ts";
import { writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";

/** Somebody pins half a rule. It must not become what every later request is made of. */
const RULE: Rule = { id: "R1", text: "Never push.", scope: "session", source: "the user" };
const without = (name: keyof Rule): unknown => {
  const { [name]: _left, ...rest } = RULE;
  return rest;
};
/** What is given, what of it is refused, and what a session that holds it shows. */
const WRONG: Readonly<Record<string, readonly [given: unknown, option: string, shown: string]>> = {
  "a rule without a text": [without("text"), "text", "Rule R1 (session, from the user):"],
  "a rule whose text is a number": [{ ...RULE, text: 5 }, "text", "Rule R1 (session, from the user):"],
  "a rule without an id": [without("id"), "id", "Never push."],
  "a rule without a source": [without("source"), "source", "Never push."],
  "a rule for a scope that does not exist": [{ ...RULE, scope: "galaxy" }, "scope", "Never push."],
  "a rule with a field that does not exist": [{ ...RULE, txt: "x" }, "txt", "Never push."],
  "a text": ["Never push.", "options", "Never push."],
  nothing: [null, "options", "Rule unnamed-"],
};
const pinning = writes<{ readonly rule: unknown }>("pin", ({ rule }, call) => {
  call.dispatch(PinnedRules.pinned(rule as never));
  return "pinned";
});
const requestOf = async (session: Session) => {
  const { end } = await watch(session.run("go on", { model: scripted([{ text: "ok" }]) }));
  expect(end.status).toBe("done");
  return JSON.stringify(session.context.view?.items);
};

describe.each(Object.entries(WRONG))("%s", (_, [given, option, shown]) => {
  test("[ID-16] [PAGE-21] is refused by name, by pin and inside a call, and nothing is pinned", async () => {
    const { session } = await opened(undefined, { tools: [pinning] });
    const before = session.journal.head.seq;
    await expect(session.context.pin(given as never)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option },
    });
    expect(session.journal.head.seq).toBe(before);
    expect(await session.runTool({ name: "pin", input: { rule: given } })).toMatchObject({ status: "failed" });
    expect(session.state.session.get(PinnedRules)).toEqual([]);
    await session.context.pin(RULE);
    expect(await requestOf(session)).toContain("Never push.");
    await session.close();
  });

  test("[PAGE-21] that a journal holds already is shown, and goes when it is unpinned; the session goes on", async () => {
    const { disk, session } = await opened();
    await session.state.session.seed(PinnedRules, [given as never]);
    expect(await requestOf(session)).toContain(shown);
    await session.close();
    const { holdfast, session: again } = await opened(disk);
    expect(await requestOf(again)).toContain(shown);
    expect((await again.compact({ tail: 0, said: 0 })).crossed).toBe(true);
    const request = await requestOf(again);
    expect(request).toContain(shown);
    expect(JSON.stringify((await (await holdfast.look("s")).view())?.view?.items)).toContain(shown);
    await again.context.pin({ ...RULE, id: "R2", text: "Be kind." });
    await again.context.unpin(/Rule ([\w-]+) \(/.exec(request)?.[1] ?? "");
    expect(again.state.session.get(PinnedRules)).toMatchObject([{ id: "R2" }]);
    expect(await requestOf(again)).toContain("Be kind.");
    await again.close();
  });
});

test("[ID-16] [PAGE-21] what is no id is refused by unpin", async () => {
  const { session } = await opened();
  await session.context.pin(RULE);
  for (const id of [undefined, 5, RULE])
    await expect(session.context.unpin(id as never)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option: "id" },
    });
  await session.close();
});
