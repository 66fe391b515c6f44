import { expect, test } from "vitest";
import {
  defineSlice,
  defineTool,
  ExecutionState,
  filesOf,
  filesPart,
  Plan,
  runTool,
  VisibilityExpansionRequired,
} from "../../src/index.ts";
import { snapshotsEquivalent } from "../../src/testing/snapshots-equivalent.ts";

const notes = defineSlice("notes", {
  initial: [] as readonly string[],
  on: { added: (now, note: string) => [...now, note] },
});

async function prepared() {
  const state = ExecutionState.create({ slices: [notes], parts: [filesPart] });
  await filesOf(state).writeText("file.txt", "original");
  await state.session.seed(Plan, [{ objective: "test", status: "active" }]);
  return state;
}

const mutating = (end: () => unknown) =>
  defineTool({
    name: "mutating",
    access: "write",
    async run(_, call) {
      await call.files.writeText("file.txt", "changed");
      call.dispatch(Plan.set({ objective: "changed", status: "done" }));
      call.dispatch(notes.added("changed"));
      return end();
    },
  });

test("[TX-1] [K01] the seed's first criterion: a tool that fails after it wrote changes nothing", async () => {
  const state = await prepared();
  const before = await state.snapshot();
  const outcome = await runTool(
    state,
    { id: "c1", name: "mutating", input: {} },
    { tools: [mutating(() => ({ success: false }))] },
  );
  expect(outcome.ok).toBe(false);
  expect(await filesOf(state).readText("file.txt")).toBe("original");
  expect(state.session.latest(Plan)?.objective).toBe("test");
  expect(snapshotsEquivalent(before, await state.snapshot())).toBe(true);
});

test("[TX-34] [K04] the seed's second criterion: a request for more visibility is clean, and reaches the caller once", async () => {
  const state = await prepared();
  const before = await state.snapshot();
  const asks = mutating(() => {
    throw new VisibilityExpansionRequired(["rules"]);
  });
  await expect(runTool(state, { id: "c1", name: "mutating", input: {} }, { tools: [asks] })).rejects.toBeInstanceOf(
    VisibilityExpansionRequired,
  );
  expect(snapshotsEquivalent(before, await state.snapshot())).toBe(true);
});

test("[SNAP-3] equivalence ignores ids and times, and nothing else", async () => {
  const ran = async (wait: string, n: number) => {
    const state = await prepared();
    for (let at = 0; at < n; at += 1)
      await runTool(state, { id: `${wait}${at}`, name: "mutating", input: {} }, { tools: [mutating(() => wait)] });
    return state.snapshot({ includeAll: true });
  };
  expect(snapshotsEquivalent(await ran("a", 2), await ran("b", 2))).toBe(true);
  expect(snapshotsEquivalent(await ran("a", 1), await ran("a", 2))).toBe(false);
});
