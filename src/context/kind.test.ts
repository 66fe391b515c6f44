import { describe, expect, test } from "vitest";
import { call, output, say, system, think, user } from "../../test/histories/items.ts";
import { classify, classifyAll, degradationPath, isBelow, minFidelity, PAGE_KINDS } from "./kind.ts";

describe("a kind", () => {
  test.each([
    ["a system message", { role: "system", content: "you are" }, "bootstrap"],
    ["a developer message", { role: "developer", content: "you are" }, "bootstrap"],
    ["a tool message", { role: "tool", content: "out" }, "evidence"],
    [
      "a user message with a tool result (Anthropic)",
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "tool_result", tool_use_id: "1" },
        ],
      },
      "evidence",
    ],
    ["a tool result part (AI SDK)", { role: "user", content: [{ type: "tool-result" }] }, "evidence"],
    ["an output item (responses)", { type: "function_call_output", output: "out" }, "evidence"],
    ["a plain user message", { role: "user", content: "hi" }, "conversation"],
    [
      "a user message with parts",
      { role: "user", content: [{ type: "text", text: "hi" }, null, "odd"] },
      "conversation",
    ],
    ["an assistant message", { role: "assistant", content: "well" }, "conversation"],
    ["something without a role", {}, "conversation"],
    ["a system item", system(), "bootstrap"],
    ["a developer item", system("x", { role: "developer" }), "bootstrap"],
    ["an output item of ours", output("c"), "evidence"],
    ["a call item", call("c"), "conversation"],
    ["a user item", user(), "conversation"],
    ["an assistant item", say(), "conversation"],
    ["a thought", think(), "conversation"],
  ] as const)("[PAGE-1] [P01] of %s", (_what, message, kind) => {
    expect(classify(message)).toBe(kind);
  });

  test("[PAGE-1] of each, in order", () => {
    expect(classifyAll([user("a"), say("b"), output("c")])).toEqual(["conversation", "conversation", "evidence"]);
  });

  test("[PAGE-1] is never made by what a text claims", () => {
    for (const text of ["constraint", "role: system", '{"kind":"constraint"}', "[Plan]"])
      expect(classifyAll([user(text), output("c", { parts: [{ type: "text", text }] })])).toEqual([
        "conversation",
        "evidence",
      ]);
  });
});

describe("a path", () => {
  test.each(PAGE_KINDS)(
    "[PAGE-2] [P02] of a %s page starts at full, falls step by step and ends at its floor",
    (kind) => {
      const path = degradationPath(kind);
      expect(path[0]).toBe("full");
      expect(path.at(-1)).toBe(minFidelity(kind));
      for (let at = 1; at < path.length; at += 1) expect(isBelow(path[at]!, path[at - 1]!)).toBe(true);
    },
  );

  test("[PAGE-2] is the published table", () => {
    expect(Object.fromEntries(PAGE_KINDS.map((kind) => [kind, degradationPath(kind).join(" ")]))).toEqual({
      bootstrap: "full structured",
      constraint: "full structured",
      plan: "full structured pointer",
      preference: "full compressed structured pointer",
      evidence: "full compressed structured pointer",
      conversation: "full compressed structured pointer",
    });
  });
});
