import { describe, expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { createHoldfast, SeededRandom, type Session } from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { hasCorpus, recordedItems, transcriptFolders } from "../histories/corpus.ts";
import { anyPlan, type Plan, planOf } from "../histories/plan.ts";
import { live, Player } from "../histories/replay.ts";
import { watch } from "../support/loop.ts";
import { collect } from "../support/stores.ts";

/** As models write them: a filter, a group, a slice, optional fields asked for before they are used. */
const PROGRAM = `
  const calls = context.conversation_history.filter((r) => r.speaker === "tool" && r.method_name !== "run_code");
  const byTool = {};
  for (const [tool, list] of Object.entries(Object.groupBy(calls, (r) => r.method_name))) byTool[tool] = list.length;
  const failed = calls.filter((r) => !r.outcome_summary.ok);
  const users = context.conversation_history.filter((r) => r.speaker === "user");
  return {
    byTool,
    failed: failed.length,
    kinds: [...new Set(failed.map((r) => r.error_type ?? "none"))].sort(),
    newest: calls.slice(-3).map((r) => r.method_name),
    users: users.slice(0, -1).length,
    bytes: calls.reduce((sum, r) => sum + (r.outcome_summary.value?.bytes ?? 0), 0),
  };`;

describe("a program over a session's history", () => {
  test("[CODE-1] says what happened, of conversations that were made up", async () => {
    for (const seed of ["a", "b"]) await expectRight(anyPlan(new SeededRandom(seed)));
  }, 120_000);

  test.skipIf(!hasCorpus).each(transcriptFolders())(
    "[CODE-1] says what happened, of a real transcript (HOLDFAST_CORPUS): %s",
    { timeout: 600_000 },
    async (folder) => {
      let asked = 0;
      for await (const { name, items } of recordedItems(folder)) {
        const plan = planOf(name, items);
        if (plan.answers.every(({ calls = [] }) => calls.length === 0)) continue;
        await expectRight(plan);
        asked += 1;
        if (asked === MOST) break;
      }
      console.log(`${folder}: a program was right about ${asked} conversations`);
    },
  );
});

/** Conversations of each kind of transcript: every one is lived through first. */
const MOST = 4;

/** The answer is compared with the plan, which no record was read for, and with what the journal's own ends say. */
async function expectRight(plan: Plan): Promise<void> {
  const player = new Player();
  const code = quickjs({ limits: { timeMs: 60_000 } });
  await using holdfast = await createHoldfast({ store: memoryStore(), code, commitOrder: "call" });
  const session = await live(holdfast, plan, { session: "s", model: scripted(player.script), player });
  const model = scripted([{ calls: [{ name: "run_code", input: { code: PROGRAM } }] }, { text: "So it was." }]);
  const { events } = await watch(session.run("What happened so far?", { model }));
  const ran = events.flatMap((event) => (event.kind === "call-closed" ? [event.outcome] : []));
  const made = plan.answers.flatMap(({ calls = [] }) => calls.map(({ name }) => name));
  const byTool: Record<string, number> = {};
  for (const name of made) byTool[name] = (byTool[name] ?? 0) + 1;
  const { ends, users } = await told(session);
  expect(ran.at(-1)?.output).toMatchObject({
    result: {
      byTool,
      failed: ends.filter(({ status }) => status !== "success").length,
      kinds: [
        ...new Set(ends.flatMap(({ status, reason }) => (status === "success" ? [] : [reason ?? status]))),
      ].toSorted(),
      newest: made.slice(-3),
      users: users - 1,
      bytes: ends.reduce((sum, { status, output }) => {
        return sum + (status === "success" ? Buffer.byteLength(JSON.stringify(output ?? null)) : 0);
      }, 0),
    },
  });
  await session.close();
}

async function told(session: Session) {
  const entries = await collect(session.read());
  const ends = entries.flatMap((entry) => (entry.kind === "call-closed" && entry.tool !== "run_code" ? [entry] : []));
  return { ends, users: entries.filter(({ kind }) => kind === "user-said").length };
}
