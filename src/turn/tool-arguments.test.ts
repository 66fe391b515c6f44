import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { quickjs, scripted, watch } from "../../test/support/loop.ts";
import { longText } from "../../test/support/pages.ts";
import { writes } from "../../test/support/calls.ts";
import { definePrompt } from "../prompt/section.ts";
import { askUser } from "./ask-user.ts";
import { planTool } from "./plan-tool.ts";

const helper = { name: "helper", description: "d", model: scripted([{ text: "ok" }]) };
const prompt = definePrompt("p", [{ id: "more", body: "All of it.", summary: "Some of it.", visibility: "summary" }]);
const open = () =>
  opened(undefined, {
    tools: [planTool, askUser],
    agents: [helper],
    prompt,
    writeback: { remember: true },
    code: quickjs(),
  });

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
    ["helper", null, "must be an object"],
    ["plan", null, "must be an object"],
    ["plan", { objective: "x", steps: [null] }, "title"],
    ["ask_user", null, "must be an object"],
    ["recall", null, "must be an object"],
    ["remember", { what: "rule", name: "n", txt: "t" }, "no argument txt; there are: what, name, text"],
    ["remember", { what: "law", name: "n", text: "t" }, "must be one of "],
    ["remember", { what: "rule", name: "", text: "t" }, "must be a string of up to 64 characters"],
    ["remember", { what: "rule", name: "n", text: " " }, "must be a string"],
    ["remember", { what: "rule", name: "n", text: "t", scope: "world" }, "must be one of session"],
    ["remember", { what: "rule", name: "n", text: "t", replaces: "yes" }, "must be true or false"],
    ["remember", { what: "rule", name: "n", text: "t", evidence: 7 }, "must be a handle"],
    ["remember", { what: "rule", name: "n", text: "t" }, "must name its evidence"],
    ["open_sections", null, "section_ids must be a list of: more"],
    ["open_sections", { section_ids: "more" }, "section_ids must be a list of: more"],
    ["open_sections", { section_ids: [] }, "section_ids must be a list of: more"],
    ["run_code", null, "must be a string, unless a name is given"],
    ["run_code", { code: 7 }, "must be a string"],
    ["run_code", { name: 7 }, "must be a string"],
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
      expect(answer).toMatch(/; (use bytes to read the rest|ask for less at a time)\]$/);
    }
  });
});
