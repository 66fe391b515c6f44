import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { counter, writes } from "../../test/support/calls.ts";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { kernel } from "../../test/support/durable.ts";
import type { Model, ModelRequest } from "../contracts/model.ts";
import { PLAN_MODE_INTERVIEW_POLICY_LINE } from "../prompt/policy-lines.ts";
import type { SectionOverride } from "../prompt/render.ts";
import { definePrompt, sectionHash } from "../prompt/section.ts";
import type { BodyOf } from "../records/kinds.ts";
import { PromptExecuted, PromptRendered, VisibilityOverrides } from "../state/default-slices.ts";
import { VisibilityExpansionRequired } from "../transaction/ending.ts";
import { defineTool } from "../transaction/tool.ts";
import { textOf } from "../wire/item.ts";
import { askUser } from "./ask-user.ts";
import type { Session } from "./session.ts";

const prompt = definePrompt("engineer", [
  { id: "identity", body: "You are {{name}}." },
  { id: "manual", body: "The whole manual.", summary: "A manual.", visibility: "summary" },
]);
const parameters = { name: "careful" };
const greedy = writes("greedy", async (_, call) => {
  call.dispatch(counter.added(1));
  await call.files.writeText("greedy.txt", "x");
  throw new VisibilityExpansionRequired(["manual"]);
});

function heard(model: Model): { readonly model: Model; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  const ask: Model["ask"] = (request, options) => {
    requests.push(request);
    return model.ask(request, options);
  };
  return { requests, model: { ...model, ask } };
}
const wordsOf = (request: ModelRequest | undefined) =>
  (request?.items ?? []).map((item) => ("parts" in item ? textOf(item.parts) : item.kind));
const bodies = async <K extends "catalog-changed" | "fault-raised" | "call-opened">(session: Session, kind: K) =>
  (await collect(session.read())).filter((entry) => entry.kind === kind) as unknown as readonly BodyOf<K>[];

describe("sections", () => {
  test("[PROMPT-10] [K04] a tool that wrote and then asks to see more leaves nothing, and the turn goes on with the section open", async () => {
    const { session } = await opened(undefined, { prompt, tools: [greedy], slices: [counter] });
    const { model, requests } = heard(scripted([{ calls: [{ name: "greedy", input: {} }] }, { text: "ok" }]));
    const { events, end } = await watch(session.run("go", { model, parameters }));
    expect(end.status).toBe("done");
    expect(events.filter(({ kind }) => kind === "expanded")).toEqual([{ kind: "expanded", sections: ["manual"] }]);
    expect([session.state.session.get(counter), await session.files.list()]).toEqual([0, []]);
    expect(wordsOf(requests[0])[0]).toContain("A manual.");
    expect(wordsOf(requests[1])[0]).toContain("The whole manual.");
    expect(session.state.session.get(VisibilityOverrides)).toEqual([{ section: "manual", visibility: "full" }]);
    expect(session.checkpoints.list().map(({ status }) => status)).toEqual(["canceled"]);
  });

  test("[PROMPT-8] what a caller says anew in the same object is in the next request", async () => {
    const { session } = await opened(undefined, { prompt });
    const { model, requests } = heard(scripted([{ text: "ok" }, { text: "ok" }, { text: "ok" }]));
    const given = { name: "careful" };
    const overrides: SectionOverride[] = [];
    const run = () => watch(session.run("go", { model, parameters: given, overrides }));
    await run();
    given.name = "quick";
    await run();
    overrides.push({
      section: "identity",
      replaces: sectionHash(prompt.sections[0]!, session.catalog.snapshot()),
      body: "Be {{name}}.",
    });
    await run();
    const first = requests.map((request) => wordsOf(request)[0]?.split("\n")[0]);
    expect(first).toEqual(["You are careful.", "You are quick.", "Be quick."]);
  });

  test("[PROMPT-10] a model opens a section itself, and is told what there is and what is open", async () => {
    const { session } = await opened(undefined, { prompt });
    const open = (...section_ids: readonly string[]) => ({
      calls: [{ name: "open_sections", input: { section_ids } }],
    });
    const script = [open("nothing"), open("manual"), open("manual"), { text: "ok" }];
    const { model, requests } = heard(scripted(script));
    const { events } = await watch(session.run("go", { model, parameters }));
    const outputs = events.flatMap((event) => (event.kind === "call-closed" ? [event.outcome.output] : []));
    expect(outputs[0]).toContain("there is no section nothing; there are: manual");
    expect(outputs[2]).toBe("You see them in full already.");
    expect(wordsOf(requests.at(-1))[0]).toBe("You are careful.\n\nThe whole manual.");
  });

  test("[PROMPT-10] a call that waited for consent, and then asks to see more, is heard in the turn that goes on", async () => {
    const asking = defineTool({
      name: "asking",
      access: "read",
      approval: true,
      run: () => {
        throw new VisibilityExpansionRequired(["manual"]);
      },
    });
    const { session } = await opened(undefined, { prompt, tools: [asking] });
    const model = scripted([{ calls: [{ name: "asking", input: {} }] }, { text: "ok" }]);
    expect((await watch(session.run("go", { model, parameters }))).end.status).toBe("waiting");
    const ask = async () => ({ approve: true }) as const;
    const { events, end } = await watch(session.run(undefined, { model, parameters, ask }));
    expect(end.status).toBe("done");
    expect(events).toContainEqual({ kind: "expanded", sections: ["manual"] });
  });

  test("[PROMPT-10] a turn that asks for more again and again ends at its limit", async () => {
    const { session } = await opened(undefined, { prompt, tools: [greedy], slices: [counter] });
    const again = () => ({ calls: [{ name: "greedy", input: {} }] });
    const { end } = await watch(session.run("go", { model: scripted(again), parameters, limits: { expansions: 3 } }));
    expect(end).toMatchObject({ status: "limit", limit: "expansions", spent: { steps: 4 } });
  });

  test("[PROMPT-10] a section that the prompt does not have is not opened, and costs nothing", async () => {
    const lost = defineTool({
      name: "lost",
      access: "read",
      run: () => {
        throw new VisibilityExpansionRequired(["nope"]);
      },
    });
    const { session } = await opened(undefined, { prompt, tools: [lost] });
    const script = [{ calls: [{ name: "lost", input: {} }] }, { calls: [{ name: "lost", input: {} }] }, { text: "ok" }];
    const { events, end } = await watch(
      session.run("go", { model: scripted(script), parameters, limits: { expansions: 1 } }),
    );
    expect(end.status).toBe("done");
    expect(events.filter(({ kind }) => kind === "expanded")).toEqual([]);
    expect(session.state.session.get(VisibilityOverrides)).toEqual([]);
  });

  test("[CAT-9] a tool of the host's under a name of the kernel's is refused, when it is given and when it is added", async () => {
    const mine = defineTool({ name: "recall", access: "write", run: () => "mine" });
    await expect(opened(undefined, { tools: [mine] })).rejects.toMatchObject({
      code: "TOOL_NAME_TAKEN",
      details: { tool: "recall", by: "the kernel" },
    });
    const { session } = await opened(undefined, { prompt });
    for (const name of ["recall", "open_sections"])
      await expect(
        session.catalog.add([defineTool({ name, access: "write", run: () => "mine" })]),
      ).rejects.toMatchObject({
        code: "TOOL_NAME_TAKEN",
      });
    expect(session.transactions.tool("recall")?.access).toBe("read");
    const without = await opened(undefined, { tools: [mine], context: { recall: false } });
    expect(without.session.catalog.snapshot().activeNames).toEqual(["recall"]);
  });

  test("[PROMPT-11] what was rendered and sent is logged, and the journal holds the exact schemas of its epoch", async () => {
    const { session } = await opened(undefined, { prompt });
    const { model, requests } = heard(scripted(() => ({ text: "ok" })));
    await watch(session.run("one", { model, parameters }));
    await watch(session.run("two", { model, parameters }));
    await session.setMode("plan");
    await watch(session.run("three", { model, parameters }));
    const rendered = session.state.session.all(PromptRendered);
    const executed = session.state.session.all(PromptExecuted);
    expect(rendered.map(({ prompt: name, epoch }) => [name, epoch])).toEqual([
      ["engineer", 1],
      ["engineer", 2],
    ]);
    expect(executed.map(({ hash }) => hash)).toEqual([rendered[0]?.hash, rendered[0]?.hash, rendered[1]?.hash]);
    for (const [request, epoch] of [
      [requests[0], 1],
      [requests[2], 2],
    ] as const) {
      const record = (await bodies(session, "catalog-changed")).find((one) => one.epoch === epoch);
      expect(record?.tools).toEqual(request?.tools?.map((tool) => ({ description: "", ...tool })));
      expect(record?.contentHash).toBe(rendered.find((one) => one.epoch === epoch)?.contentHash);
    }
  });
});

test("[CAT-7] a tool whose schema or name cannot be kept is refused where it is defined", () => {
  const circle: Record<string, unknown> = { type: "object" };
  circle["self"] = circle;
  const define = (more: object) => () => defineTool({ name: "odd", access: "read", run: () => null, ...more });
  expect(define({ inputSchema: circle })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  expect(define({ inputSchema: { when: new Date() } })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  expect(define({ name: "__proto__" })).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
  expect(define({ name: "constructor" })).not.toThrow();
});

test("[CAT-10] a tool of whose arguments no model could be told is refused where it is defined, with what to give instead", () => {
  const define = (more: object) => () => defineTool({ name: "odd", access: "read", run: () => null, ...more });
  const refused = (option: string, value: string, wants: string) =>
    expect.objectContaining({
      code: "BAD_OPTION",
      details: { option, tool: "odd", value, wants: expect.stringContaining(wants) },
    });
  const zod = z.object({ at: z.string() });
  const silent = { "~standard": { ...zod["~standard"], jsonSchema: undefined } };
  expect(define({ input: zod })().inputSchema).toMatchObject({ properties: { at: { type: "string" } } });
  expect(define({ input: silent, inputSchema: { title: "told" } })().inputSchema).toEqual({ title: "told" });
  expect(define({ inputSchema: zod })).toThrow(
    refused("inputSchema", "ZodObject is not plain data", "given as `input`"),
  );
  expect(define({ inputSchema: [] })).toThrow(refused("inputSchema", "no object", "JSON Schema"));
  expect(define({ input: silent })).toThrow(refused("input", "a schema that cannot", "`inputSchema` beside it"));
  expect(define({ input: z.object({ at: z.date() }) })).toThrow(
    refused("input", "Date cannot be represented in JSON Schema", "`inputSchema` beside it"),
  );
  expect(define({ input: { type: "object" } })).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ wants: expect.stringContaining("`inputSchema`") }) }),
  );
});

describe("a request", () => {
  test("[ALIGN-17] [A12] whose parameters are missing is refused with the report, and nothing is sent", async () => {
    const { session } = await opened(undefined, { prompt });
    const { model, requests } = heard(scripted([{ text: "never" }]));
    const { end } = await watch(session.run("go", { model }));
    expect(end).toMatchObject({ status: "refused", report: { afterRebuild: [{ kind: "prompt-not-rendered" }] } });
    expect(requests).toEqual([]);
    expect((await bodies(session, "fault-raised")).map(({ fault }) => fault)).toEqual(["misaligned-request-refused"]);
    expect(session.alignment.requests).toEqual({ aligned: 0, healed: 0, refused: 1, overridden: 0 });
  });

  test("[ALIGN-17] that demands a tool which plan mode hides is refused", async () => {
    const { session } = await opened();
    await session.setMode("plan");
    const { end } = await watch(session.run("go", { model: scripted([]), toolChoice: { name: "step" } }));
    expect(end).toMatchObject({
      status: "refused",
      report: { afterRebuild: [{ kind: "tool-choice-missing", tool: "step" }] },
    });
  });

  /** An adapter whose body says something else than the request: fields of a caller's own win. */
  const smuggling = (model: Model): Model => ({
    ...model,
    ask: (request, options) =>
      model.ask({ ...request, tools: [...(request.tools ?? []), { name: "smuggled", input: {} }] }, options),
  });

  test("[ALIGN-17] whose written body offers something else is tried once more and then refused", async () => {
    const { session } = await opened();
    const { model, requests } = heard(smuggling(scripted([{ text: "never" }])));
    const { end } = await watch(session.run("go", { model }));
    expect(end).toMatchObject({
      status: "refused",
      report: { afterRebuild: [{ kind: "request-tools-differ", extra: ["smuggled"] }] },
    });
    expect(requests).toHaveLength(2);
    expect(session.alignment.faults["request-tools-differ"]).toBe(2);
  });

  test("[ALIGN-17] somebody who insists is heard, loudly and on record", async () => {
    const { session } = await opened();
    await session.setMode("plan");
    const how = { toolChoice: { name: "step" }, sendMisaligned: "a demonstration" } as const;
    const model = smuggling(scripted([{ text: "sent" }]));
    const { events, end } = await watch(session.run("go", { model, ...how }));
    expect(end).toMatchObject({ status: "done", text: "sent" });
    const told = events.flatMap((event) => (event.kind === "misaligned" ? [event] : []));
    expect(told.map(({ because, faults }) => [because, faults.map(({ kind }) => kind)])).toEqual([
      ["a demonstration", ["tool-choice-missing"]],
      ["a demonstration", ["request-tools-differ"]], // found in the moment of sending, told and recorded, too
    ]);
    expect(await bodies(session, "fault-raised")).toMatchObject([
      {
        fault: "misaligned-request-sent",
        detail: { because: "a demonstration", faults: [{ kind: "tool-choice-missing" }] },
      },
      { fault: "misaligned-request-sent", detail: { faults: [{ kind: "request-tools-differ", extra: ["smuggled"] }] } },
    ]);
    expect(session.alignment.requests.overridden).toBe(1);
  });

  test("[ALIGN-17] somebody who insists is heard, also where only the written body is at fault", async () => {
    const { session } = await opened();
    const model = smuggling(scripted([{ text: "sent" }]));
    const { events, end } = await watch(session.run("go", { model, sendMisaligned: "I know it" }));
    expect(end).toMatchObject({ status: "done", text: "sent" });
    expect(events.findIndex(({ kind }) => kind === "misaligned")).toBeLessThan(
      events.findIndex(({ kind }) => kind === "text"),
    );
    expect(await bodies(session, "fault-raised")).toMatchObject([
      {
        fault: "misaligned-request-sent",
        detail: { because: "I know it", faults: [{ kind: "request-tools-differ" }] },
      },
    ]);
    // A host that looks for itself has it on record with its next request.
    const aligned = await session.align({ sendMisaligned: "again" });
    session.inspect(aligned, { tools: [] });
    await session.align();
    expect((await bodies(session, "fault-raised")).at(-1)).toMatchObject({ detail: { because: "again" } });
  });

  test("[ALIGN-6] instructions are the host's own words: the other mode's policy line among them is refused", async () => {
    const { session } = await opened();
    const instructions = `Note. ${PLAN_MODE_INTERVIEW_POLICY_LINE}`;
    await expect(session.align({ instructions })).rejects.toMatchObject({ code: "PROMPT_MISALIGNED" });
    await session.catalog.setRequestUserInput(true);
    await session.setMode("plan");
    expect((await session.align({ instructions })).prompt.prefixText).toBe(instructions);
  });

  test("[ALIGN-8] tools that the conversation has called and that are gone stand in the receipt", async () => {
    const { session } = await opened();
    expect((await session.align({ calledTools: ["step", "gone"] })).toolsGone).toEqual(["gone"]);
  });

  test("[ALIGN-17] carries the instructions word for word, and the stamp behind the conversation", async () => {
    const { session } = await opened();
    const { model, requests } = heard(scripted([{ text: "ok" }]));
    await watch(session.run("go", { model, instructions: "Use {{braces}} as you like." }));
    expect(wordsOf(requests[0])).toEqual([
      "Use {{braces}} as you like.",
      "go",
      expect.stringMatching(/^\[Runtime Tool Catalog\]\n- version: 1\n- epoch: 1\n/),
    ]);
    expect(requests[0]?.stableItems).toBe(2);
    const [call] = await bodies(session, "call-opened");
    expect(call).toBeUndefined();
  });

  test("[MODE-4] its calls are recorded with the epoch that offered them", async () => {
    const { session } = await opened();
    await watch(
      session.run("go", { model: scripted([{ calls: [{ name: "step", input: { n: "a" } }] }, { text: "ok" }]) }),
    );
    expect((await bodies(session, "call-opened")).map(({ epoch }) => epoch)).toEqual([1]);
    const late = await session.runTool({ name: "step", input: { n: "b" }, epoch: 99 });
    expect(late).toMatchObject({ reason: "denied", output: expect.stringMatching(/offered too long ago/) });
  });
});

describe("a host that asks the model itself", () => {
  test("[ALIGN-17] gets a receipt with what to say and to offer, and has it looked at in the moment of sending", async () => {
    const { session } = await opened(undefined, { prompt });
    await expect(session.align()).rejects.toMatchObject({ code: "PROMPT_MISALIGNED" });
    const aligned = await session.align({ parameters });
    expect(aligned.prompt.prefixText).toContain("You are careful.");
    const tools = aligned.catalog.tools ?? [];
    session.inspect(aligned, { tools });
    expect(() => session.inspect(aligned, { tools: [...tools, { name: "more", input: {} }] })).toThrow(
      /offers other tools/,
    );
    expect(session.state.session.all(PromptRendered).at(-1)).toMatchObject({ hash: aligned.prompt.hash });
    await session.setMode("plan");
    expect(() => session.inspect(aligned)).toThrow(/taken in act mode/);
    const faults = await bodies(session, "fault-raised");
    expect(faults.map(({ fault }) => fault)).toEqual(["misaligned-request-refused"]);
  });

  test("[MODE-4] and its calls run under the catalog that offered them", async () => {
    const { session } = await opened();
    const { epoch } = (await session.align()).catalog;
    expect(await session.runTool({ name: "step", input: { n: "a" }, epoch })).toMatchObject({ ok: true });
    await session.catalog.add([writes("later", () => "x")]);
    expect(await session.runTool({ name: "later", input: {}, epoch })).toMatchObject({ reason: "denied" });
    await session.setMode("plan");
    expect(await session.runTool({ name: "step", input: { n: "b" }, epoch })).toMatchObject({ reason: "denied" });
  });
});

describe("the mode", () => {
  test("[MODE-8] of words said at once, the last one stays", async () => {
    const { session } = await opened();
    await session.setMode("plan");
    await Promise.all([session.setMode("act"), session.setMode("plan")]);
    expect(session.mode).toBe("plan");
    await Promise.all([
      session.setMode("plan"),
      session.setMode("act"),
      session.setMode("plan"),
      session.setMode("act"),
    ]);
    expect(session.mode).toBe("act");
  });

  test("[MODE-9] what an attempt that was given up had run inside does not count at the commit", async () => {
    const waiting = Promise.withResolvers<void>();
    const flip = Promise.withResolvers<void>();
    const outer = defineTool({
      name: "outer",
      access: "read",
      run: async (_, call) => {
        const seen = call.get(counter);
        if (call.attempt > 1) return seen;
        await call.run({ name: "noter", input: {} });
        waiting.resolve();
        await flip.promise;
        return seen;
      },
    });
    const noter = writes("noter", () => "noted");
    const { session } = await opened(undefined, { tools: [outer, noter], slices: [counter] });
    const running = session.runTool({ name: "outer", input: {} });
    await waiting.promise;
    await session.state.session.dispatch(counter.added(7)); // what it read has changed: it is run again
    await session.setMode("plan");
    flip.resolve();
    expect(await running).toMatchObject({ ok: true, output: 7, attempts: 2 });
  });

  test("[MODE-4] a tool that was replaced while its call was being opened is not run under the new one's name", async () => {
    const ran: string[] = [];
    const old = writes("swap", () => ran.push("old"));
    const { session } = await opened(undefined, { tools: [old] });
    await session.setMode("plan");
    const running = session.runTool({ name: "swap", input: {} }); // it holds the old one
    session.transactions.add([defineTool({ name: "swap", access: "read", run: () => "new" })]);
    expect(await running).toMatchObject({ reason: "denied" });
    expect(ran).toEqual([]);
    expect(await session.runTool({ name: "swap", input: {} })).toMatchObject({ ok: true, output: "new" });
  });
});

describe("asking the user", () => {
  test("[CAT-4] with the tool for it, the model is offered it, and plan mode says to use it", async () => {
    const { session } = await opened(undefined, { tools: [askUser] });
    await session.setMode("plan");
    const ask = { calls: [{ name: "ask_user", input: { question: "Which?" } }] };
    const { model, requests } = heard(scripted([ask, { text: "ok" }]));
    const { events } = await watch(session.run("go", { model, ask: async () => ({ answer: "left" }) }));
    expect(events.find(({ kind }) => kind === "call-closed")).toMatchObject({ outcome: { ok: true, output: "left" } });
    expect(wordsOf(requests[0]).at(-1)).toContain("ask with `ask_user`");
  });

  test("[CAT-4] reopened where nobody can be asked, or told so, it is offered no more", async () => {
    const { session, disk } = await opened(undefined, { tools: [askUser] });
    const { model, requests } = heard(scripted(() => ({ text: "ok" })));
    const offered = () => requests.at(-1)?.tools?.map(({ name }) => name) ?? [];
    await watch(session.run("go", { model }));
    expect([session.catalog.state.requestUserInputEnabled, offered()]).toEqual([true, ["ask_user", "recall"]]);
    await session.catalog.setRequestUserInput(false);
    await watch(session.run("go", { model }));
    expect(offered()).toEqual(["recall"]);
    await session.catalog.setRequestUserInput(true);
    await session.close();
    const again = await kernel(disk).holdfast.open("s");
    await watch(again.run("go", { model }));
    expect(offered()).toEqual(["recall", "step"]);
    await again.catalog.add([askUser]);
    await watch(again.run("go", { model }));
    expect(offered()).toEqual(["ask_user", "recall", "step"]);
    await again.catalog.remove(["ask_user"]);
    expect(again.catalog.snapshot().activeNames).toEqual(["recall", "step"]);
  });
});

describe("over any life of a session", () => {
  type Step = "plan" | "act" | "run" | "reopen" | "rewind" | "add" | "remove";
  const steps = fc.array(fc.constantFrom<Step>("plan", "act", "run", "reopen", "rewind", "add", "remove"), {
    maxLength: 12,
  });

  test("[MODE-8] [CAT-6] epochs in the journal only rise, requests tell the mode they were sent in, and plan mode keeps the files", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        const disk = new MemoryDisk();
        const extra = writes("extra", () => "x");
        let session = await kernel(disk).holdfast.open("s");
        let n = 0;
        for (const step of life) {
          const files = (await session.files.list()).length;
          const mode = session.mode;
          if (step === "plan" || step === "act") await session.setMode(step);
          else if (step === "add") await session.catalog.add([extra]);
          else if (step === "remove") await session.catalog.remove(["extra"]);
          else if (step === "reopen") {
            await session.close();
            session = await kernel(disk).holdfast.open("s");
            expect(session.mode).toBe(mode);
          } else if (step === "rewind") {
            const to = session.checkpoints.list().find(({ rewound }) => !rewound);
            if (to !== undefined) await session.rewind({ before: to.callId });
            if (mode === "plan") expect(session.mode).toBe("plan");
          } else {
            n += 1;
            const { model, requests } = heard(
              scripted([{ calls: [{ name: "step", input: { n: `${n}` } }] }, { text: "ok" }]),
            );
            await watch(session.run("go", { model }));
            expect(wordsOf(requests[0]).at(-1)).toContain(`- mode: ${mode}`);
            expect((await session.files.list()).length - files).toBe(mode === "plan" ? 0 : 1);
          }
        }
        const epochs = (await bodies(session, "catalog-changed")).map(({ epoch }) => epoch);
        expect(epochs).toEqual(epochs.map((_, index) => index + 1));
        await session.close();
      }),
      { numRuns: 25 },
    );
  });
});
