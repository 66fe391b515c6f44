import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import { writes } from "../../test/support/calls.ts";
import { askUser } from "./ask-user.ts";
import { planTool } from "./plan-tool.ts";

const helper = { name: "helper", description: "d", model: scripted([{ text: "ok" }]) };
const open = () => opened(undefined, { tools: [planTool, askUser], agents: [helper] });

describe("the kernel's tools", () => {
  test.each([
    ["plan", { objective: "x", todos: [{ title: "a" }] }, "no argument todos; there are: objective, steps, status"],
    ["plan", { objective: "x".repeat(1_001), steps: [] }, "up to 1000 characters"],
    ["plan", { objective: "x", steps: [{ title: "y".repeat(1_001), status: "todo" }] }, "up to 1000 characters"],
    ["ask_user", { question: "?", choices: ["a"] }, "no argument choices; there are: question, options"],
    ["ask_user", { question: "?".repeat(10_001) }, "up to 10000 characters"],
    ["ask_user", { question: "?", options: Array.from({ length: 51 }, () => "a") }, "up to 50 texts"],
    ["recall", { handle: "holdfast://x", range: [1, 2] }, "no argument range; there are: handle, lines, bytes, grep"],
    ["helper", { task: "x", context: "y" }, "no argument context; there are: task"],
    ["helper", ["x"], "must be an object"],
  ])("[TOOL-17] %s says what is wrong with its arguments (%#)", async (name, input, words) => {
    const { session } = await open();
    const outcome = await session.runTool({ name, input });
    expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining(words) });
    await session.close();
  });

  test("[TOOL-16] recall says which part it shows, and never more than a request can show whole", async () => {
    const read = writes("read_file", () => longText(3_000), { access: "read" });
    const { session } = await opened(undefined, { tools: [read], context: { window: 12_000 } });
    const script = [{ calls: [{ name: "read_file", input: {} }] }, { text: "ok" }];
    await watch(session.run("read", { model: scripted(script) }));
    const handle = session.context.view!.pages.find(({ kind }) => kind === "evidence")!.handle;
    const recalled = async (more: object) =>
      (await session.runTool({ name: "recall", input: { handle, ...more } })).output as string;
    const few = await recalled({ lines: { from: 2, to: 3 } });
    expect(few).toMatch(/\n\[lines 2 to 3 of [0-9]+\]$/);
    const [, bytes] = /of ([0-9]+) bytes/.exec(await recalled({})) ?? [];
    expect(Number(bytes)).toBeGreaterThan(24_000);
    for (const more of [{}, { lines: { from: 1, to: 1e9 } }, { bytes: { from: 0, to: 1e9 } }]) {
      const answer = await recalled(more);
      expect(Buffer.byteLength(answer)).toBeLessThan(24_200);
      expect(answer).toMatch(/; ask for (the rest with bytes|less at a time)\]$/);
    }
  });
});
