import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { historyUseOf, mayReadHistory } from "./history-use.ts";
import type { JsParser } from "./syntax.ts";
import { loadParser } from "./vendor.ts";

let parser: JsParser;
beforeAll(async () => {
  const loaded = await loadParser();
  if (loaded === undefined) throw new Error("acorn is not installed here: npm ci brings it");
  parser = loaded;
});

const use = (program: string) => historyUseOf(program, parser);
const H = "context.conversation_history";

describe("how a program reads the history, by its syntax", () => {
  test.each([
    ["filter", `return ${H}.filter((r) => r.ok)`, ["filter"]],
    ["map", `return ${H}.map((r) => r.call_id)`, ["map"]],
    ["slice", `return ${H}.slice(-3)`, ["slice"]],
    ["count", `return ${H}.length`, ["count"]],
    ["group", `return Object.groupBy(${H}, (r) => r.method_name)`, ["group"]],
    ["group into a map", `return [...Map.groupBy(${H}, (r) => r.speaker).keys()]`, ["group", "walk"]],
    ["find", `return ${H}.findLast((r) => !r.outcome_summary.ok)`, ["find"]],
    ["reduce", `return ${H}.reduce((n, r) => n + 1, 0)`, ["reduce"]],
    ["sort", `return ${H}.toSorted((a, b) => 0)`, ["sort"]],
    ["walk", `for (const r of ${H}) console.log(r.call_id)`, ["walk"]],
    ["index", `return ${H}[0].call_id`, ["index"]],
    ["copy and sort", `return [...${H}].sort()`, ["copy", "sort"]],
    ["join", `return ${H}.map(String).join()`, ["join", "map"]],
    [
      "a chain",
      `return ${H}.filter(Boolean).map((r) => r.kwargs).slice(0, 2).length`,
      ["count", "filter", "map", "slice"],
    ],
    ["perhaps", `return ${H}?.filter?.(Boolean)`, ["filter"]],
  ])("[USE-4] %s", (_what, program, patterns) => {
    expect(use(program)).toEqual({ detected: true, patterns, by: "parser" });
  });

  test.each([
    ["by another name", `const h = ${H}; return h.filter(Boolean)`, ["filter"]],
    [
      "by a name of a name",
      `const c = context; const h = c.conversation_history; const k = h; return k.slice(1)`,
      ["slice"],
    ],
    ["taken apart", "const { conversation_history } = context; return conversation_history.map(String)", ["map"]],
    ["taken apart and renamed", "const { conversation_history: h = [] } = context; return h.length", ["count"]],
    ["in brackets", 'return context["conversation_history"].at(-1)', ["index"]],
    ["in a template", "return context[`conversation_history`].slice(1)", ["slice"]],
    ["in escapes", "return \\u0063ontext.conversation_\\u0068istory.slice(1)", ["slice"]],
    ["of a list made from it", `const bad = ${H}.filter(Boolean); return bad.length`, ["count", "filter"]],
    ["inside a function", `const f = () => ${H}.some(Boolean); return f()`, ["find"]],
    ["of what may not be there", "const h = context?.conversation_history; return h?.length", ["count"]],
    [
      "of a chain that may not be there",
      "const h = context.conversation_history?.filter(Boolean); return h.map(String)",
      ["filter", "map"],
    ],
    ["of a copy", `const h = Array.from(${H}); const k = [...h, 1]; return k.length`, ["copy", "count"]],
    ["taken apart beside others", "const { other, conversation_history: h } = context; return h.at(0)", ["index"]],
    ["taken apart further", "const { conversation_history: [first] } = context; return first", []],
    ["assigned later", `let h; h = ${H}; return h.map(String)`, ["map"]],
  ])("[USE-4] is followed: %s", (_what, program, patterns) => {
    expect(use(program)).toEqual({ detected: true, patterns, by: "parser" });
  });

  test.each([
    ["a comment", `// ${H}.filter()\nreturn 1`],
    ["a text", `return "${H}.filter()"`],
    ["a list of its own", "const list = [1, 2]; return list.filter(Boolean).length; // not context"],
    ["a field of the same name that it makes", "return { conversation_history: [] }"],
    ["nothing", "return context.slices"],
  ])("[USE-4] is not seen in %s", (_what, program) => {
    expect(use(program)).toEqual({ detected: false, patterns: [], by: "parser" });
  });

  test("[USE-4] of a text that is no program is told by its words, comments and strings apart", () => {
    expect(use(`return ${H}.filter((r) => r.ok).map(`)).toEqual({
      detected: true,
      patterns: ["filter", "map"],
      by: "words",
    });
    expect(use(`return "${H}.filter()" + ( // ${H}`)).toEqual({ detected: false, patterns: [], by: "words" });
  });

  test("[USE-4] has an answer for whatever there is: too deep, too long, or no parser", () => {
    const deep = `return ${H}${".filter(Boolean)".repeat(20_000)}`;
    expect(use(deep)).toMatchObject({ detected: true, patterns: ["filter"] });
    expect(use(`return ${"(".repeat(50_000)}`)).toMatchObject({ detected: false, by: "words" });
    expect(use(`return ${H};${" ".repeat(600_000)}`)).toMatchObject({ detected: false, by: "nothing" });
    expect(historyUseOf(`return ${H}.length`, undefined)).toEqual({ detected: true, patterns: [], by: "text" });
    expect([mayReadHistory("return 1"), mayReadHistory(`return ${H}`)]).toEqual([false, true]);
  });

  test("[USE-4] never throws, whatever the text", () => {
    const piece = fc.constantFrom(
      H,
      "context",
      ".",
      "filter",
      "(",
      ")",
      "=>",
      "`",
      "${",
      "/",
      "'",
      "{",
      "}",
      ";",
      "\\u",
      "1",
      "\n",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((all) => all.join("")),
        ),
        (program) => {
          const { detected, patterns } = use(program);
          expect(detected || patterns.length === 0).toBe(true);
        },
      ),
    );
  });
});

test("[USE-4] of a text that is no program the words are told, and what they ask for", () => {
  const broken = `if (( ${H}.length > 3 && ${H}.filter(x => Object.groupBy(y)) groupBy(z) "context.conversation_history.sort()"`;
  expect(use(broken)).toEqual({ detected: true, patterns: ["count", "filter", "group"], by: "words" });
  expect(use("if (( context.length")).toEqual({ detected: false, patterns: [], by: "words" });
});

test("[USE-4] a reader that is nested deeper than the stack is told by its words, and a bug of the reader's is a bug", () => {
  const words = () => ["context", ".", "conversation_history", ".", "map"];
  const deep: JsParser = {
    words,
    parse: () => {
      throw new RangeError("Maximum call stack size exceeded");
    },
  };
  expect(historyUseOf(`return ${H}`, deep)).toEqual({ detected: true, patterns: ["map"], by: "words" });
  const buggy: JsParser = {
    words,
    parse: () => {
      throw new TypeError("a bug");
    },
  };
  expect(() => historyUseOf(`return ${H}`, buggy)).toThrow("a bug");
});
