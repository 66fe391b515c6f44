/** A provider with a body of its own, adapted from published doors alone, and every law kept. `npm run example adapt-a-provider`. */
import assert from "node:assert/strict";
import { adapterLaws, overServer } from "holdfast/testing";
import { gemini } from "./gemini/adapter.ts";
import { geminiDialect } from "./gemini/dialect.ts";

// What Gemini cannot do, whoever adapts it: its arguments are values, and it has filters but no word for a refusal.
const can = { malformedArguments: false, refusals: false };

for (const stream of [true, false]) {
  const modelAt = (baseURL: string) => gemini({ baseURL, model: "gemini-strict", apiKey: "key", stream });
  const laws = adapterLaws("gemini", { open: overServer(modelAt, { dialects: [geminiDialect] }), can });
  const broken: string[] = [];
  for (const { title, run } of laws) await run().catch((error: unknown) => broken.push(`${title}\n${String(error)}`));
  assert.deepEqual(broken, []);
  console.log(`${stream ? "in pieces" : "whole"}: ${laws.length} laws kept`);
}
