import { expect, test } from "vitest";
import { examined, repaired } from "./in-memory.ts";

function log(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

test("[DOC-27] two hundred thousand outputs in a row are taken out, and the stack holds", async () => {
  const outputs = Array.from({ length: 200_000 }, (_, nth) => ({
    type: "response_item",
    timestamp: "t",
    payload: { type: "function_call_output", call_id: `c${nth}`, output: "" },
  }));
  const found = await examined(log(outputs));
  expect(found.findings.length).toBe(200_000);
  expect(await repaired(found)).toEqual(new Uint8Array(0));
});

test("[DOC-27] a message whose results all belong elsewhere is read once, not once for each of them", async () => {
  const many = 3_000;
  const record = (type: string, nth: number, content: readonly unknown[]) => ({
    type,
    uuid: `u${nth}`,
    sessionId: "s",
    message: { id: `m${nth}`, content },
  });
  const calls = Array.from({ length: many }, (_, nth) =>
    record("assistant", nth, [{ type: "tool_use", id: `c${nth}`, name: "b", input: {} }]),
  );
  const results = calls.map((_, nth) => ({ type: "tool_result", tool_use_id: `c${nth}`, content: "x".repeat(1_000) }));
  const file = log([...calls, record("user", many, results)]);
  const started = process.cpuUsage();
  const after = new TextDecoder().decode(await repaired(await examined(file)));
  const { user } = process.cpuUsage(started);
  expect(after.trimEnd().split("\n").length).toBe(2 * many);
  expect((await examined(after)).findings).toEqual([]);
  // Read anew for each, the three megabytes of results are nine gigabytes, and a minute.
  expect(user / 1_000_000).toBeLessThan(15);
});
