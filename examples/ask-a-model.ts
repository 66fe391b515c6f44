/** One loop, three providers, no key: the official SDKs against a server that is as strict. `npm run example ask-a-model`. */
import assert from "node:assert/strict";
import { type Item, type Model, normalize, type OutputItem, textOf } from "holdfast";
import { anthropic } from "holdfast/adapters/anthropic";
import { openai } from "holdfast/adapters/openai";
import { startProviderServer } from "holdfast/testing";

// The provider: it thinks, calls a tool, is overloaded once, and then answers.
const provider = await startProviderServer({
  script: ({ nth }) => {
    const steps = [
      { reasoning: "I should look.", calls: [{ name: "read_file", input: { path: "a.txt" } }] },
      { fault: "overloaded", retryAfter: 0 },
      { text: "It says: hello." },
    ] as const;
    return steps[nth % steps.length] ?? steps[0];
  },
});

const connection = { model: "strict-1", apiKey: "no-key-needed" };
const models: readonly Model[] = [
  openai({ ...connection, baseURL: `${provider.url}/v1` }),
  openai({ ...connection, baseURL: `${provider.url}/v1`, api: "chat" }),
  anthropic({ ...connection, baseURL: provider.url }),
];
const tools = [{ name: "read_file", description: "Reads a file.", input: { type: "object" } }];

for (const model of models) {
  let items: readonly Item[] = [{ kind: "user", parts: [{ type: "text", text: "What is in a.txt?" }] }];
  let said = "";
  for (let done = false; !done; ) {
    const { history } = normalize(items, { profile: model.profile.id }); // whatever happened before: it may be sent
    for await (const event of model.ask({ items: history, tools }, { signal: AbortSignal.timeout(10_000) })) {
      if (event.kind === "text-delta") said += event.text;
      if (event.kind === "failed") {
        assert.equal(event.failure.kind, "overloaded");
        assert.ok(event.failure.retryable); // so the loop asks again
      }
      if (event.kind !== "end") continue;
      const { answer } = event;
      const outputs = answer.calls.map(
        ({ callId, callKind, input }): OutputItem => ({
          kind: "output",
          callKind,
          callId,
          status: input.ok ? "success" : "failed",
          parts: [{ type: "text", text: input.ok ? "hello" : input.why }],
        }),
      );
      items = [...history, ...answer.items, ...outputs];
      done = answer.stop === "stop";
    }
  }
  assert.equal(said, "It says: hello.");
  const kinds = items.map((item) => item.kind).filter((kind) => kind !== "reasoning");
  assert.deepEqual(kinds, ["user", "call", "output", "assistant"]);
  assert.equal(items.map((item) => (item.kind === "assistant" ? textOf(item.parts) : "")).join(""), said);
  console.log(`${model.name} (${model.profile.id}): ${said}`);
}

// Three requests for each model; the only refusals are the ones the script asked for.
assert.equal(provider.requests.length, 9);
assert.deepEqual(new Set(provider.refused.map(({ status }) => status)), new Set([503, 529]));
await provider.close();
console.log(`ok: ${provider.requests.length} requests, none malformed`);
