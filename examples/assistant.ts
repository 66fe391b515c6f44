/** An assistant that is asked again, and looks up what it did. Run it: `npm run example assistant`. */
import assert from "node:assert/strict";
import { createHoldfast, defineTool } from "holdfast";
import { quickjs } from "holdfast/adapters/quickjs";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { z } from "zod";

const TRAINS: Readonly<Record<string, string>> = { Bern: "09:12", Basel: "09:47" };
const lookUp = defineTool({
  name: "look_up_train",
  input: z.object({ to: z.string() }),
  access: "read",
  run: ({ to }, call) => TRAINS[to] ?? call.fail("no-train", `No train goes to ${to}.`),
});
const holdfast = await createHoldfast({ store: memoryStore(), tools: [lookUp], code: quickjs() });
const session = await holdfast.open("assistant");

const train = (to: string) => ({ name: "look_up_train", input: { to } });
// What the model writes: plain filtering of the records, and the optional field asked for before it is used.
const program = `
  const asked = context.conversation_history.filter((r) => r.method_name === "look_up_train");
  const found = asked.filter((r) => r.outcome_summary.ok);
  return {
    asked: asked.map((r) => r.kwargs.to).sort(), // records stand in the order in which calls ended
    times: Object.fromEntries(found.map((r) => [r.kwargs.to, context.content(r.outcome_summary.value).value])),
    failed: asked.filter((r) => r.error_type === "no-train").map((r) => r.kwargs.to),
  };`;
const model = scripted([
  { calls: [train("Bern"), train("Atlantis"), train("Basel")] },
  { text: "Bern 09:12, Basel 09:47; nothing goes to Atlantis." },
  { calls: [{ name: "run_code", input: { code: program, name: "trains" } }] },
  { text: "You asked for three; Atlantis could not be found." },
]);
for await (const _event of session.run("When are the trains to Bern, Atlantis and Basel?", { model }));
const results = [];
for await (const event of session.run("Which ones did I ask for?", { model }))
  if (event.kind === "call-closed") results.push(event.outcome.output);
assert.deepEqual((results[0] as { readonly result: unknown }).result, {
  asked: ["Atlantis", "Basel", "Bern"],
  times: { Bern: "09:12", Basel: "09:47" },
  failed: ["Atlantis"],
});

const records = await session.callRecords();
assert.deepEqual(
  records.map(({ speaker, method_name }) => `${speaker} ${method_name}`),
  ["user run", ...Array.from({ length: 3 }, () => "tool look_up_train"), "user run", "tool run_code"],
);
assert.equal(records.at(-1)?.["history_access_detected"], true);
await session.close();
await holdfast.close();
console.log("the second answer was read off the records of the first");
