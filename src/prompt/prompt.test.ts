import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { editFile, identity, readFile, rendered, snapshotOf, tool, TOOLS } from "../../test/support/catalogs.ts";
import {
  policyLine,
  PLAN_MODE_INTERVIEW_POLICY_LINE,
  PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE,
} from "./policy-lines.ts";
import { renderPrompt } from "./render.ts";
import { definePrompt, type PromptSection, sectionHash } from "./section.ts";
import { readStamp, stampFields, stampText } from "./stamp.ts";

const plan = { mode: "plan" } as const;
const act = snapshotOf(TOOLS);
const planning = snapshotOf(TOOLS, plan);
const manual: PromptSection = {
  id: "manual",
  body: "The whole manual, for {{reader}}.",
  summary: "How to use things.",
  visibility: "summary",
};

describe("sections", () => {
  test("[PROMPT-1] stand in their order, equal ones as they were given, and are plain frozen data", () => {
    const prompt = definePrompt("p", [
      { id: "c", body: "3", order: 1 },
      { id: "a", body: "1" },
      { id: "b", body: "2" },
      { id: "z", body: "0", order: -1 },
    ]);
    expect(prompt.sections.map(({ id }) => id)).toEqual(["z", "a", "b", "c"]);
    expect(rendered(act, prompt.sections).prefixText).toBe("0\n\n1\n\n2\n\n3");
    expect(() => ((prompt.sections[0] as { body: string }).body = "x")).toThrow(TypeError);
  });

  test.each<[string, readonly PromptSection[], string]>([
    ["an id that is none", [{ id: "no spaces", body: "" }], "not an id"],
    ["an id given twice", [identity, identity], "given twice"],
    ["a summary that is missing", [{ id: "a", body: "b", visibility: "summary" }], "has none"],
    ["an order that is none", [{ id: "a", body: "b", order: Number.NaN }], "no number"],
    ["a section without a text", [{ id: "a", text: "b" } as never], "text"],
    ["a text that is none", [{ id: "a", body: 7 as never }], "body"],
    ["a field that no section has", [{ id: "a", body: "b", volatil: true } as never], "volatil"],
    ["a visibility that is none", [{ id: "a", body: "b", summary: "c", visibility: "short" as never }], "visibility"],
    ["a tool that is mentioned as nothing", [{ id: "a", body: "b", tools: ["read"] as never }], "tools[0]"],
    ["one that is misspelt", [{ id: "a", body: "b", tools: [{ tool: "read", as: "ofered" as never }] }], "tools[0].as"],
    ["no section at all", [null as never], "section"],
  ])("[PROMPT-1] %s is refused with its section", (_, sections, fault) => {
    const refused = () => definePrompt("p", sections);
    expect(refused).toThrow(fault);
    expect(refused).toThrow(expect.objectContaining({ code: "PROMPT_INVALID" }));
    expect(() => definePrompt("no name", [])).toThrow(HoldfastError);
  });

  test("[PROMPT-2] parameters are checked before anything is rendered, also those of what is not shown", () => {
    const prompt = definePrompt("p", [manual, { id: "b", body: "{{ who }} and {{who}}" }]);
    const render = (parameters: Record<string, unknown>) =>
      renderPrompt(prompt, { catalog: act, parameters: parameters as Record<string, string> });
    expect(render({})).toEqual({
      ok: false,
      error: [
        { kind: "parameter-missing", section: "manual", parameter: "reader" },
        { kind: "parameter-missing", section: "b", parameter: "who" },
      ],
    });
    expect(render({ reader: "you", who: { a: 1 }, extra: 1 })).toMatchObject({
      error: [
        { kind: "parameter-not-text", parameter: "who" },
        { kind: "parameter-unknown", parameter: "extra" },
      ],
    });
    expect(render({ reader: "you", who: 7, toString: "x" }).ok).toBe(false);
    const fine = render({ reader: "you", who: "{{reader}} $& $1" });
    expect(fine.ok && fine.value.prefixText).toContain("{{reader}} $& $1 and {{reader}} $& $1");
  });

  test("[PROMPT-3] a closed section shows its summary and how to open it; opened, the whole", () => {
    const parameters = { reader: "you" };
    const closed = rendered(act, [identity, manual], { parameters });
    expect(closed.closed).toEqual(["manual"]);
    expect(closed.prefixText).toContain('How to use things.\n(This is a summary. `open_sections` with "manual"');
    const opened = rendered(act, [identity, manual], {
      parameters,
      visibility: [{ section: "manual", visibility: "full" }],
    });
    expect(opened.prefixText).toContain("The whole manual, for you.");
    expect([opened.closed, opened.prefix[1]?.visibility]).toEqual([[], "full"]);
    const only = rendered(act, [identity], { visibility: [{ section: "identity", visibility: "summary" }] });
    expect(only.prefixText).toBe(identity.body); // without a summary there is nothing else to show
  });

  test("[PROMPT-4] [K59] another text for a section is refused once a tool that the section offers has changed", () => {
    const editing: PromptSection = { id: "editing", body: "Use it.", tools: [{ tool: "edit_file", as: "offered" }] };
    const override = { section: "editing", replaces: sectionHash(editing, act), body: "Use it so." };
    expect(rendered(act, [editing], { overrides: [override] }).prefixText).toBe("Use it so.");
    const other = snapshotOf([
      tool("edit_file", { access: "write", inputSchema: { type: "object", required: ["x"] } }),
    ]);
    expect(renderPrompt(definePrompt("p", [editing]), { catalog: other, overrides: [override] })).toMatchObject({
      error: [{ kind: "override-stale", section: "editing", hash: sectionHash(editing, other) }],
    });
    // In plan mode the section is left out with its tool, and comes back with its other text.
    const planning = snapshotOf(TOOLS, { mode: "plan" });
    expect(rendered(planning, [editing], { overrides: [override] }).omitted).toHaveLength(1);
    const masked: PromptSection = { ...editing, tools: [{ tool: "unified_file", as: "offered" }] };
    const kept = { ...override, replaces: sectionHash(masked, act) };
    expect(rendered(planning, [masked], { overrides: [kept] }).prefixText).toBe("Use it so.");
  });

  test.each(["instructions", "policy", "stamp"])(
    "[PROMPT-12] a section cannot be called %s, as the kernel's own are",
    (id) => {
      expect(() => definePrompt("p", [{ id, body: "NEVER DELETE" }])).toThrow(/kernel's own/);
    },
  );

  test("[PROMPT-2] a section that is said verbatim asks for no parameter", () => {
    const verbatim = { id: "raw", body: "{{name}} stays.", verbatim: true };
    expect(rendered(act, [verbatim]).prefixText).toBe("{{name}} stays.");
  });

  test("[PROMPT-4] [K59] another text for a section is refused once the section it was written for has changed", () => {
    const override = { section: "identity", replaces: sectionHash(identity), body: "You are bold." };
    expect(rendered(act, [identity], { overrides: [override] }).prefixText).toBe("You are bold.");
    const changed = definePrompt("p", [{ ...identity, body: "You are somebody else." }]);
    expect(renderPrompt(changed, { catalog: act, overrides: [override] })).toMatchObject({
      error: [{ kind: "override-stale", section: "identity", replaces: override.replaces }],
    });
    expect(renderPrompt(changed, { catalog: act, overrides: [{ ...override, section: "nobody" }] })).toMatchObject({
      error: [{ kind: "override-unknown", section: "nobody" }],
    });
  });

  test("[PROMPT-5] a section is shown while what it says of tools is so, and is left out otherwise", () => {
    const editing: PromptSection = {
      id: "editing",
      body: "Use edit_file.",
      tools: [{ tool: "edit_file", as: "offered" }],
    };
    const blocked: PromptSection = {
      id: "blocked",
      body: "No edit_file now.",
      tools: [{ tool: "edit_file", as: "blocked" }],
    };
    const [inAct, inPlan] = [rendered(act, [editing, blocked]), rendered(planning, [editing, blocked])];
    expect(inAct.prefixText).toBe("Use edit_file.");
    expect(inPlan.prefixText).toBe("No edit_file now.");
    expect(inAct.omitted).toEqual([{ section: "blocked", tool: "edit_file" }]);
    expect(inAct.prefix[0]?.mentions).toEqual([{ tool: "edit_file", as: "offered", hash: act.toolHash("edit_file") }]);
  });
});

describe("prefix and tail", () => {
  test("[PROMPT-6] [A14] the prefix is the same bytes whatever happens to mode, epoch and volatile sections", () => {
    const sections: readonly PromptSection[] = [identity, { id: "now", body: "It is {{time}}.", volatile: true }];
    const at = (time: string, catalog = act) => rendered(catalog, sections, { parameters: { time } });
    const [a, b, c] = [at("1"), at("2"), at("2", planning)];
    expect([b.prefixHash, c.prefixHash]).toEqual([a.prefixHash, a.prefixHash]);
    expect([b.prefixText, c.prefixText]).toEqual([a.prefixText, a.prefixText]);
    expect(new Set([a.hash, b.hash, c.hash]).size).toBe(3);
    expect(at("1", snapshotOf(TOOLS.toReversed())).hash).toBe(a.hash);
  });

  test("[PROMPT-7] the tail carries the policy line of the mode and, last, the stamp", () => {
    expect(rendered(act).tail.map(({ kind }) => kind)).toEqual(["stamp"]);
    const asked = snapshotOf(TOOLS, plan, { requestUserInputEnabled: true });
    expect(rendered(asked).tailText).toBe(`${PLAN_MODE_INTERVIEW_POLICY_LINE}\n\n${stampText(asked)}`);
    expect(rendered(planning).tailText.startsWith(PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE)).toBe(true);
    expect([policyLine("act", true), policyLine("act", false)]).toEqual([undefined, undefined]);
    expect(rendered(planning).tailText.length).toBeLessThan(1_000);
  });

  test("[PROMPT-7] the stamp names version, epoch, count, flag, mode and content, and is read back as it was written", () => {
    expect(stampText(snapshotOf([readFile, editFile]))).toBe(
      [
        "[Runtime Tool Catalog]",
        "- version: 1",
        "- epoch: 1",
        "- available_tools: 2",
        "- request_user_input_enabled: false",
        "- mode: act",
        `- content_hash: ${snapshotOf([editFile, readFile]).contentHash}`,
      ].join("\n"),
    );
    const around = `[Runtime Tool Catalog]\n- epoch: 99\n\nwords\n${stampText(act)}\n\n  \nno field\n[Next]\n- epoch: 100`;
    expect(readStamp(around)).toEqual(stampFields(act));
    expect(readStamp("nothing here")).toBeUndefined();
  });

  test("[PROMPT-8] rendering is a function: equal input gives equal bytes, and nothing is remembered in a section", () => {
    const section = fc.record({
      id: fc.constantFrom("a", "b", "c", "d"),
      body: fc.string(),
      order: fc.integer({ min: -2, max: 2 }),
      volatile: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.uniqueArray(section, { selector: ({ id }) => id }), fc.subarray(TOOLS), (sections, tools) => {
        const plain = sections.map((one) => ({ ...one, body: one.body.replaceAll("{{", "") }));
        const before = structuredClone(plain);
        const [one, two] = [rendered(snapshotOf(tools), plain), rendered(snapshotOf(tools), plain)];
        expect(two).toEqual(one);
        expect(plain).toEqual(before);
        expect(one.prefix.length + one.tail.length).toBe(plain.length + 1);
      }),
    );
  });

  test("[PROMPT-9] it keeps the hash of every tool it was rendered for", () => {
    const other = snapshotOf([readFile, tool("edit_file", { access: "write", description: "changed" })]);
    expect(Object.keys(rendered(act).toolHashes)).toEqual(act.activeNames);
    expect(rendered(other).toolHashes["edit_file"]).not.toBe(rendered(act).toolHashes["edit_file"]);
  });
});
