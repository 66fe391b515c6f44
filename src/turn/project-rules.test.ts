import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { scripted, watch } from "../../test/support/loop.ts";
import { collect } from "../../test/support/stores.ts";
import { freshRoot, inWorkspace } from "../../test/support/workspaces.ts";
import { writes } from "../../test/support/calls.ts";
import { InMemoryFilesystem } from "../files/memory.ts";
import type { Item } from "../wire/item.ts";
import { textOf } from "../wire/item.ts";
import { readProjectRules } from "./project-rules.ts";
import type { Session } from "./session.ts";

const GOALS =
  '{"goal":"Ship it.","id":"ship"}\n{"kind":"note","text":"no goal"}\nnot json\n{"type":"goal","title":"Keep it small."}\n';

async function filesWith(contents: Readonly<Record<string, string | Uint8Array>>) {
  const files = new InMemoryFilesystem();
  for (const [path, content] of Object.entries(contents))
    await (typeof content === "string" ? files.writeText(path, content) : files.write(path, content));
  return files;
}

describe("a project's own files", () => {
  test("[PAGE-18] say rules: the instruction file as one, each goal as one", async () => {
    const files = await filesWith({ "AGENTS.md": "Never push.\n", ".tasks.jsonl": GOALS });
    const { rules, faults } = await readProjectRules(files);
    expect(rules).toEqual([
      { id: "AGENTS.md", text: "Never push.\n", scope: "project", source: "AGENTS.md" },
      { id: "ship", text: "Ship it.", scope: "session", source: ".tasks.jsonl" },
      { id: "goal-4", text: "Keep it small.", scope: "session", source: ".tasks.jsonl" },
    ]);
    expect(faults).toMatchObject([{ kind: "bad-line", path: ".tasks.jsonl", line: 3 }]);
  });

  test("[PAGE-18] others can be named, and a mark that an editor put first is no part of the rule", async () => {
    const files = await filesWith({ "docs/RULES.md": "\ufeffBe kind.", "AGENTS.md": "not asked for" });
    const { rules } = await readProjectRules(files, { instructions: ["docs/RULES.md"], goals: [] });
    expect(rules).toEqual([{ id: "docs/RULES.md", text: "Be kind.", scope: "project", source: "docs/RULES.md" }]);
  });

  test("[PAGE-19] that are not there, or empty, are nothing", async () => {
    expect(await readProjectRules(await filesWith({}))).toEqual({ rules: [], faults: [] });
    expect(await readProjectRules(await filesWith({ "AGENTS.md": " \n" }))).toEqual({ rules: [], faults: [] });
  });

  test.each([
    ["too-large", "x".repeat(65_537)],
    ["not-text", new Uint8Array([0x4e, 0xff, 0xfe])],
    ["not-text", "Never\0push."],
  ])("[PAGE-19] that cannot be rules are %s, and cost no other file", async (kind, content) => {
    const files = await filesWith({ "AGENTS.md": content, ".tasks.jsonl": '{"goal":"Ship it."}' });
    const { rules, faults } = await readProjectRules(files);
    expect(faults).toMatchObject([{ kind, path: "AGENTS.md" }]);
    expect(rules.map(({ text }) => text)).toEqual(["Ship it."]);
  });

  test("[PAGE-19] a file at the limit is read, a folder and a path that leaves the root are faults", async () => {
    const files = await filesWith({ "AGENTS.md": "y".repeat(65_536), "folder/a": "" });
    const { rules, faults } = await readProjectRules(files, {
      instructions: ["AGENTS.md", "folder", "../AGENTS.md"],
    });
    expect(rules).toHaveLength(1);
    expect(faults.map(({ kind }) => kind)).toEqual(["unreadable", "leads-outside"]);
  });

  test("[PAGE-19] a second rule under a name is told, and the first one stays", async () => {
    const files = await filesWith({ ".tasks.jsonl": '{"goal":"One.","id":"a"}\n{"goal":"Two.","id":"a"}' });
    const { rules, faults } = await readProjectRules(files);
    expect(rules.map(({ text }) => text)).toEqual(["One."]);
    expect(faults).toMatchObject([{ kind: "repeated-id" }]);
  });

  test("[PAGE-24] a rule under the id of a configured one is told, whichever file says it", async () => {
    const files = await filesWith({
      "AGENTS.md": "Never push.",
      ".tasks.jsonl": '{"goal":"One.","id":"a"}\n{"goal":"Two.","id":"b"}',
    });
    const configured = ["AGENTS.md", "a"].map((id) => ({ id, text: "Ours.", scope: "project", source: "us" }) as const);
    const { rules, faults } = await readProjectRules(files, {}, configured);
    expect(rules.map(({ text }) => text)).toEqual(["Two."]);
    expect(faults).toMatchObject([
      { kind: "repeated-id", path: "AGENTS.md", why: "there is a rule AGENTS.md already" },
      { kind: "repeated-id", path: ".tasks.jsonl", why: "there is a rule a already" },
    ]);
  });
});

describe("a session in a folder", () => {
  const folderWith = (contents: Readonly<Record<string, string>>) => {
    const place = freshRoot();
    for (const [path, text] of Object.entries(contents)) {
      mkdirSync(dirname(join(place.root, path)), { recursive: true });
      writeFileSync(join(place.root, path), text);
    }
    return place;
  };
  const rewriting = writes("rewrite", async (_input: unknown, call) => {
    await call.files.writeText("AGENTS.md", "Push at will.");
    return "rewritten";
  });
  const live = async (session: Session, script: Parameters<typeof scripted>[0] = [{ text: "ok" }]) => {
    const sent: string[] = [];
    const model = scripted(script);
    const ask: typeof model.ask = (request, options) => {
      sent.push(request.items.map(wordsOf).join("\n"));
      return model.ask(request, options);
    };
    const { events } = await watch(session.run("go on", { model: { ...model, ask } }));
    return { events, sent };
  };
  const wordsOf = (item: Item) => ("parts" in item ? textOf(item.parts) : "");
  const open = (place: ReturnType<typeof freshRoot>) =>
    inWorkspace({ tools: [rewriting], context: { project: true } }, place);

  test("[PAGE-18] shows them in every request, and takes up what has changed when the next turn begins", async () => {
    const place = folderWith({ "AGENTS.md": "Never push.", ".tasks.jsonl": '{"goal":"Ship it."}' });
    const { session, holdfast } = await open(place);
    try {
      const first = await live(session, [{ calls: [{ name: "rewrite", input: {} }] }, { text: "ok" }]);
      expect(first.sent).toHaveLength(2);
      for (const request of first.sent) expect(request).toMatch(/Never push\.[^]*Ship it\./);
      expect(first.events.some(({ kind }) => kind === "reclaimed")).toBe(false);
      const second = await live(session);
      expect(second.sent[0]).toContain("Push at will.");
      expect(second.sent[0]).not.toContain("Never push.");
      const reclaimed = second.events.find((event) => event.kind === "reclaimed");
      expect(reclaimed?.reclaim).toMatchObject({ why: "changed" });
      expect(reclaimed?.reclaim.cacheLoss).toBeGreaterThan(0);
      rmSync(join(place.root, "AGENTS.md"));
      expect((await live(session)).sent[0]).not.toContain("Push at will.");
    } finally {
      await session.close();
      await holdfast.close();
    }
  });

  test("[PAGE-19] tells once what is no rule, follows a link inside, and none that leads out", async () => {
    const place = folderWith({ "docs/agents.md": "Linked inside." });
    writeFileSync(join(place.root, "../secret.md"), "Not yours.");
    symlinkSync("docs/agents.md", join(place.root, "AGENTS.md"));
    symlinkSync("../secret.md", join(place.root, ".tasks.jsonl"));
    const { session, holdfast } = await open(place);
    try {
      const { sent, events } = await live(session);
      expect(sent[0]).toContain("Linked inside.");
      expect(sent[0]).not.toContain("Not yours.");
      expect(events.find(({ kind }) => kind === "rules-unread")).toMatchObject({
        faults: [{ kind: "leads-outside", path: ".tasks.jsonl" }],
      });
      const again = await live(session);
      expect(again.events.map(({ kind }) => kind)).not.toContain("rules-unread");
      const faults = (await collect(session.read())).filter((entry) => entry.kind === "fault-raised");
      expect(faults).toMatchObject([{ fault: "project-rule-unread", detail: { kind: "leads-outside" } }]);
      expect(session.context.project.faults).toHaveLength(1);
    } finally {
      await session.close();
      await holdfast.close();
    }
  });

  test.each(["rules", "preferences"])(
    "[PAGE-24] does not open where one of its %s is configured twice: the model would be told both",
    async (what) => {
      const rule = { id: "R0", text: "Run the tests.", scope: "project", source: "us" } as const;
      const twice = { context: { [what]: [rule, { ...rule, text: "And lint." }] } };
      await expect(inWorkspace(twice)).rejects.toMatchObject({
        code: "BAD_OPTION",
        details: { option: `context.${what}[1].id`, value: "R0" },
      });
    },
  );

  test("[PAGE-24] shows a configured rule and not the file's of its id, and tells that once", async () => {
    const place = folderWith({ "AGENTS.md": "Push at will.", ".tasks.jsonl": '{"goal":"Ship it."}' });
    const ours = { id: "AGENTS.md", text: "Never push.", scope: "project", source: "us" } as const;
    const { session, holdfast } = await inWorkspace({ context: { project: true, rules: [ours] } }, place);
    try {
      const { sent, events } = await live(session);
      expect(sent[0]).toMatch(/Never push\.[^]*Ship it\./);
      expect(sent[0]).not.toContain("Push at will.");
      expect(events.filter(({ kind }) => kind === "rules-unread")).toMatchObject([
        { faults: [{ kind: "repeated-id", path: "AGENTS.md" }] },
      ]);
      expect((await live(session)).events.map(({ kind }) => kind)).not.toContain("rules-unread");
    } finally {
      await session.close();
      await holdfast.close();
    }
  });
});
