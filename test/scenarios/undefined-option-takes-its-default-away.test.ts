import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import type { Page } from "../../src/context/page.ts";
import { workspaceTools } from "../../src/tools/entry.ts";
import { codeHost } from "../support/code-host.ts";
import { pages, session, viewOf } from "../support/pages.ts";
import { freshRoot, inWorkspace } from "../support/workspaces.ts";

// Options are often put together from others, `{ high: mine?.high }`. A bound that was handed on as undefined was none.
describe("[ID-21] an option that is given as undefined has its default, as if it were left out", () => {
  const signal = new AbortController().signal;

  test("[CODE-5] a program's memory, and what it returns, stay bounded", async () => {
    const runner = quickjs({ limits: { memoryBytes: undefined, resultCharacters: undefined } as never });
    expect(await runner.run("return 1", codeHost, signal)).toMatchObject({ ok: true, value: 1 });
    const much = await runner.run("return 'x'.repeat(3_000_000)", codeHost, signal);
    expect(much).toMatchObject({ ok: false, fault: "too-large" });
  });

  test("[VIEW-2] a view that goes on from the one before stays within its budget", () => {
    const all: readonly Page[] = pages(session(30));
    const marks = { high: undefined, low: undefined, output: undefined } as never;
    const budget = 20_000;
    let [left, previous] = [viewOf(all.slice(0, 2), { budget }), viewOf(all.slice(0, 2), { budget, marks })];
    for (let to = 3; to <= all.length; to += 1) {
      left = viewOf(all.slice(0, to), { budget, previous: left });
      previous = viewOf(all.slice(0, to), { budget, marks, previous });
      expect([to, previous.tokens, previous.tokens <= budget]).toEqual([to, left.tokens, true]);
    }
  });

  test("[HOST-15] [TOOL-10] limits of a workspace and of its tools stay what they are", async () => {
    const { root } = freshRoot();
    writeFileSync(join(root, "long.txt"), "line\n".repeat(3_000));
    const limits = { file: undefined, paths: 1 } as never;
    const tools = workspaceTools({ lines: undefined, paths: 5 } as never);
    const { holdfast, session: open } = await inWorkspace({ workspace: { root, limits }, tools });
    const { output } = await open.runTool({ name: "read_file", input: { path: "long.txt" } });
    expect(JSON.stringify(output)).toContain("2000");
    await open.close();
    await holdfast.close();
  });

  test("a server that speaks OpenAI's chat is not taken for OpenAI", () => {
    const connection = { model: "m", baseURL: "http://localhost:8080/v1", profile: undefined } as never;
    expect(openaiCompatible(connection).profile.id).toBe("openai-compatible");
    expect(openai(connection).profile.id).toBe("openai-responses");
  });
});
