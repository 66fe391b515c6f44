import { join } from "node:path";
import type { Store } from "../../../src/contracts/store.ts";
import {
  type Answer,
  createHoldfast,
  defineTool,
  estimateCounter,
  finished,
  type Model,
  profileOf,
  SystemClock,
  SystemRandom,
  textOf,
  toolCallId,
} from "../../../src/index.ts";
import { openSqlite } from "../../../src/stores/sqlite/entry.ts";
import { defineTrial } from "../../harness/trial.ts";
import { contentOf, Gaps, LAST_WORD, PROMPT, proofOf, TOOL } from "./script.ts";

/** A session on SQLite FULL, through the public door; the model answers at once, so that only the kernel is timed. */
export default defineTrial({
  prepare: async (task) => {
    const deps = { clock: new SystemClock(), random: new SystemRandom() };
    const store = await openSqlite(join(task.folder, "sessions.db"), deps);
    return { ...deps, store, task };
  },
  run: async ({ store, task, clock, random }, turn) => {
    const gaps = new Gaps(turn);
    const read = defineTool<{ readonly nth: number }>({
      name: TOOL,
      access: "read",
      run: ({ nth }) => gaps.tool(() => contentOf(task.seed, nth)),
    });
    const counter = { ...estimateCounter, count: (text: string) => gaps.counting(() => estimateCounter.count(text)) };
    const kernel = { tools: [read], context: { counter }, clock, random };
    const holdfast = await createHoldfast({ store: timed(store, gaps), ...kernel });
    const session = await holdfast.open("bench");
    const end = await finished(
      session.run(PROMPT, { model: model(task.size, gaps), limits: { steps: task.size + 2 } }),
    );
    if (end.status !== "done") throw new Error(`the turn ended as ${end.status}`);
    await session.close();
    return gaps;
  },
  figures: (gaps) => gaps.figures(),
  verify: async (_, { store, task, clock, random }) => {
    await store.close();
    const again = await openSqlite(join(task.folder, "sessions.db"), { clock, random });
    const holdfast = await createHoldfast({ store: again, clock, random });
    const session = await holdfast.open("bench");
    const items = await session.conversation();
    const outputs = items.flatMap((item) => (item.kind === "output" ? [textOf(item.parts)] : []));
    await session.close();
    await holdfast.close();
    return proofOf(outputs);
  },
});

/** Says what the script says, without a network and without pieces. */
function model(calls: number, gaps: Gaps): Model {
  let asked = 0;
  return {
    name: "bench",
    profile: profileOf("anthropic"),
    can: { streams: false, sealsReasoning: false, cacheMarks: 0 },
    async *ask() {
      await gaps.asked();
      const nth = asked;
      asked += 1;
      const answer = nth < calls ? calling(nth) : lastWord(nth);
      gaps.answered();
      yield { kind: "end", answer };
    },
  };
}

function calling(nth: number): Answer {
  const callId = toolCallId(`call_${nth}`);
  const call = { callId, callKind: "function", name: TOOL } as const;
  return {
    items: [{ kind: "call", ...call, input: { nth }, step: `answer ${nth}` }],
    calls: [{ index: 0, ...call, input: { ok: true, value: { nth } } }],
    stop: "tool-calls",
    stopText: "tool_use",
    renamed: [],
    unread: [],
  };
}

function lastWord(nth: number): Answer {
  return {
    items: [{ kind: "assistant", step: `answer ${nth}`, parts: [{ type: "text", text: LAST_WORD }] }],
    calls: [],
    stop: "stop",
    stopText: "end_turn",
    renamed: [],
    unread: [],
  };
}

/** The same store, with its commits on the clock. */
function timed(store: Store, gaps: Gaps): Store {
  const commit: Store["commit"] = (batch) => gaps.write(() => store.commit(batch));
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "commit") return commit;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
