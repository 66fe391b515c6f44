import { expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { opened } from "../support/durable.ts";
import { MemoryDisk } from "../support/stores.ts";

const RECORDS = 100_000;
/** An engine that could not hold the half of them. */
const code = quickjs({ limits: { timeMs: 120_000, memoryBytes: 16 * 1024 * 1024 } });
const H = "context.conversation_history";

// A session that has gone on for weeks. Its history is looked at by a program that has no room for it.
test("[CODE-3] [CODE-10] a history that has no room in a program is walked, counted and grouped by it", async () => {
  const { session } = await opened(new MemoryDisk(), { code });
  for (let from = 0; from < RECORDS; from += 1_000)
    await session.append(
      Array.from({ length: 1_000 }, (_, nth) => ({
        kind: "user-said" as const,
        text: `${(from + nth) % 7 === 0 ? "ask" : "tell"} ${from + nth} ${"about something ".repeat(8)}`,
      })),
    );
  const run = async (text: string) => (await session.runTool({ name: "run_code", input: { code: text } })).output;
  expect(await run(`return ${H}.slice(-2).map((r) => r.args[0].slice(0, 10))`)).toMatchObject({
    result: ["tell 99998", "tell 99999"],
    history: { size: RECORDS, read: 2 },
  });
  const grouped = `const by = {}; for (const r of ${H}) if (r.speaker === "user") { const k = r.args[0].split(" ")[0]; by[k] = (by[k] ?? 0) + 1 } return by`;
  expect(await run(grouped)).toMatchObject({
    result: { ask: Math.ceil(RECORDS / 7), tell: RECORDS - Math.ceil(RECORDS / 7) },
    history: { size: RECORDS + 1, read: RECORDS + 1 },
  });
  // All of them at once is more than it has room for: a typed end, and the session goes on.
  expect(await session.runTool({ name: "run_code", input: { code: `return [...${H}].length` } })).toMatchObject({
    reason: "program-out-of-memory",
  });
  expect(await run(`return ${H}.at(-1).error_type`)).toMatchObject({ result: "program-out-of-memory" });
}, 240_000);
