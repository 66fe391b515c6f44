import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { type CallItem, HoldfastError, type Item, normalize, type OutputItem, toolCallId } from "../../index.ts";
import type { ModelRequest, SentRequest } from "../../contracts/model.ts";
import type { LawBook } from "../law.ts";
import { after, type Bench, HELLO, hear, type Stage, TOOLS, user, withModel } from "./bench.ts";

const call = (id: string, more: Partial<CallItem> = {}): CallItem => ({
  kind: "call",
  callKind: "function",
  callId: toolCallId(id),
  name: "read_file",
  input: { path: "a.txt" },
  step: 1,
  ...more,
});

const output = (id: string, more: Partial<OutputItem> = {}): OutputItem => ({
  kind: "output",
  callKind: "function",
  callId: toolCallId(id),
  status: "success",
  parts: [{ type: "text", text: `result of ${id}` }],
  ...more,
});

const REST: readonly Item[] = [
  user("thanks"),
  { kind: "assistant", step: 9, parts: [{ type: "text", text: "welcome" }] },
  user("go on"),
];

/** Histories as crashes, interrupts and careless hosts leave them. */
const BROKEN: Readonly<Record<string, readonly Item[]>> = {
  "a call nobody answered": [user("read"), call("c1"), ...REST],
  "a result nobody asked for": [user("read"), output("c9"), ...REST],
  "a result before its call": [user("read"), output("c1"), call("c1"), ...REST],
  "two results of one call": [user("read"), call("c1"), output("c1"), output("c1"), ...REST],
  "one id in two turns": [
    user("read"),
    call("c1"),
    output("c1"),
    user("again"),
    call("c1", { step: 2 }),
    output("c1"),
    ...REST,
  ],
  "a batch half answered": [user("read"), call("c1"), call("c2", { name: "grep" }), output("c2"), ...REST],
  "a result behind a user message": [user("read"), call("c1"), user("well?"), output("c1"), ...REST],
  "a call cut in its arguments": [user("read"), call("c1", { inputText: '{"pa', partial: true }), ...REST],
  "a tool that is gone": [user("read"), call("c1", { name: "old_tool" }), output("c1"), ...REST],
  "an id in a strange alphabet": [user("read"), call("functions.read:0/é"), output("functions.read:0/é"), ...REST],
  "an id that is too long": [user("read"), call("x".repeat(200)), output("x".repeat(200)), ...REST],
  "an empty id": [user("read"), call(""), output(""), ...REST],
  "a blank answer": [user("read"), { kind: "assistant", step: 1, parts: [{ type: "text", text: " " }] }, ...REST],
  "a lone surrogate and a NUL": [
    user("read"),
    call("c1"),
    output("c1", { parts: [{ type: "text", text: "a\0b\ud800" }] }),
    ...REST,
  ],
  "an answer at the start": [{ kind: "assistant", step: 1, parts: [{ type: "text", text: "hi" }] }, ...REST],
};

export const REQUESTS: LawBook<Bench> = [
  [
    "[ADAPT-3] a loop of answers and outputs is accepted at every step",
    async (bench) => {
      const step = {
        reasoning: "Hm.",
        text: "Look.",
        calls: [
          { name: "grep", input: {} },
          { name: "read_file", input: { path: "b" } },
        ],
      };
      const script = [step, step, { calls: [{ name: "grep", input: {} }] }, { reasoning: "So.", text: "Done." }];
      await withModel(bench, script, async ({ model, server }) => {
        let request: ModelRequest = { ...HELLO, items: [SYSTEM, ...HELLO.items] };
        for (const [nth] of script.entries()) {
          const { answer, failure } = await hear(model, request);
          ok(answer, `step ${nth}: ${JSON.stringify(failure)}`);
          request = after(request, answer, answer.calls.length === 0 ? [user("more")] : []);
        }
        deepStrictEqual(server?.refused ?? [], []);
      });
    },
  ],
  [
    "[ADAPT-3] what repair makes of a broken history is accepted, whatever was broken",
    async (bench) => {
      await withModel(
        bench,
        () => ({ text: "ok" }),
        async ({ model, server }) => {
          for (const [name, items] of Object.entries(BROKEN)) {
            const tools = new Set<string>(TOOLS.map((tool) => tool.name));
            const { history } = normalize(items, { profile: model.profile.id, tools });
            const { answer, failure } = await hear(model, { items: history, tools: TOOLS });
            ok(answer, `${name}: ${JSON.stringify(failure)}`);
          }
          deepStrictEqual(server?.refused ?? [], []);
        },
      );
    },
  ],
  [
    "[ADAPT-4] a request that its provider would refuse is not sent, and the rule it breaks is named",
    async (bench) => {
      await withModel(
        bench,
        () => ({ text: "ok" }),
        async (stage) => {
          const unanswered = [user("read"), call("c1"), ...REST];
          await rejects(asking(stage, unanswered), (error) => {
            ok(HoldfastError.is(error, "REQUEST_MALFORMED"), String(error));
            strictEqual(error.details["rule"], "WIRE-1");
            return true;
          });
          await rejects(asking(stage, []), (error) => HoldfastError.is(error, "REQUEST_MALFORMED"));
          strictEqual(stage.server?.requests.length ?? 0, 0);
        },
      );
    },
  ],
  [
    "[ALIGN-16] what the written request offers is shown before it is sent, and sent only if that is taken",
    async (bench) => {
      const request: ModelRequest = { ...HELLO, toolChoice: { name: "grep" } };
      await withModel(bench, [{ text: "ok" }], async ({ model, server }) => {
        const { signal } = new AbortController();
        const refused = async () => {
          const refuse = () => {
            throw new HoldfastError("PROMPT_MISALIGNED");
          };
          for await (const event of model.ask(request, { signal, inspect: refuse })) ok(false, event.kind);
        };
        await rejects(refused(), (error) => HoldfastError.is(error, "PROMPT_MISALIGNED"));
        strictEqual(server?.requests.length ?? 0, 0);
        const seen: SentRequest[] = [];
        for await (const event of model.ask(request, { signal, inspect: (sent) => seen.push(sent) }))
          if (event.kind === "failed") ok(false, event.failure.message);
        const shown = seen.map(({ tools, toolChoice }) => [
          tools.map(({ name, description }) => [name, description]),
          toolChoice,
        ]);
        deepStrictEqual(shown, [[TOOLS.map(({ name, description }) => [name, description]), "grep"]]);
        for (const { input } of seen[0]?.tools ?? []) strictEqual(input["type"], "object");
      });
    },
  ],
];

const SYSTEM: Item = { kind: "system", role: "system", parts: [{ type: "text", text: "Be brief." }] };

async function asking({ model }: Stage, items: readonly Item[]): Promise<void> {
  const { signal } = new AbortController();
  for await (const _event of model.ask({ items, tools: TOOLS }, { signal }));
}
