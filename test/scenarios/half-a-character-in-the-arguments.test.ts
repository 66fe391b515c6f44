import { describe, expect, test } from "vitest";
import { startProviderServer } from "../../src/testing/provider-server/server.ts";
import type { Session } from "../../src/turn/session.ts";
import { writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";
import { quickjs, WAYS, watch } from "../support/loop.ts";

const HALF = "\ud800";
const INPUT = { text: `a${HALF}b`, deep: [{ half: HALF }], whole: "😀" };
const GIVEN = { text: "a\ufffdb", deep: [{ half: "\ufffd" }], whole: "😀" };
const COERCED = ["$.kwargs.text", "$.kwargs.deep[0].half"];

const seen: unknown[] = [];
const note = writes("note", (input) => {
  seen.push(input);
  return "noted";
});
const waiting = writes("waiting", (input) => void seen.push(input), { approval: true });
const outer = writes("outer", (input, call) => call.run({ name: "note", input }).then(({ output }) => output));
const TOOLS = { tools: [note, waiting, outer] };

async function recordOf(session: Session, tool: string) {
  const records = await session.callRecords();
  return records.find(({ method_name }) => method_name === tool);
}

describe("half a character in the arguments of a call", () => {
  test.each(Object.entries(WAYS))("[RECORD-5] is told in the call's record, asked for through %s", async (_, way) => {
    const script = [{ calls: [{ name: "note", input: INPUT }] }, { text: "Done." }];
    await using server = await startProviderServer({ script });
    const { session } = await opened(undefined, TOOLS);
    seen.length = 0;
    expect((await watch(session.run("go", { model: way(server.url, script) }))).end.status).toBe("done");
    expect(seen).toEqual([GIVEN]);
    expect(await recordOf(session, "note")).toMatchObject({ kwargs: GIVEN, coerced: COERCED });
  });

  test("[RECORD-5] is told of a call that a host asks for, that waits for somebody, or that runs inside another", async () => {
    const { session } = await opened(undefined, TOOLS);
    const script = [{ calls: [{ name: "waiting", input: INPUT }] }, { text: "Done." }];
    const model = (WAYS["scripted"] as (typeof WAYS)[string])("", script);
    seen.length = 0;
    await watch(session.run("go", { model, ask: async () => ({ approve: true }) }));
    await session.runTool({ name: "outer", input: INPUT });
    expect(seen).toEqual([GIVEN, GIVEN]);
    for (const tool of ["waiting", "outer"]) expect((await recordOf(session, tool))?.coerced).toEqual(COERCED);
    // What runs inside was given what its caller was given: there is nothing left to replace.
    expect((await recordOf(session, "note"))?.coerced).toBeUndefined();
    await session.runTool({ name: "note", input: { ...GIVEN, nothing: undefined } });
    expect((await session.callRecords()).at(-1)).not.toHaveProperty("coerced");
    await session.runTool({ name: "note", input: [-0] });
    expect((await session.callRecords()).at(-1)).toMatchObject({ args: [[0]], coerced: ["$.args[0][0]"] });
  });

  test("[RECORD-5] is told of a call that a program makes", async () => {
    const { session } = await opened(undefined, { ...TOOLS, code: quickjs() });
    const code = 'return tools.note({ text: "a\\ud800b" })';
    seen.length = 0;
    expect(await session.runTool({ name: "run_code", input: { code } })).toMatchObject({ ok: true });
    expect(seen).toEqual([{ text: "a\ufffdb" }]);
    expect((await recordOf(session, "note"))?.coerced).toEqual(["$.kwargs.text"]);
  });

  test("[RECORD-5] in a thousand places, is told of the first, with a count of the others", async () => {
    const { session } = await opened(undefined, TOOLS);
    await session.runTool({ name: "note", input: { all: Array.from({ length: 1_000 }, () => HALF) } });
    const { coerced = [] } = (await recordOf(session, "note")) ?? {};
    expect(coerced[0]).toBe("$.kwargs.all[0]");
    expect(coerced).toContain("936 more");
    expect(JSON.stringify(coerced).length).toBeLessThan(3_000);
  });
});
