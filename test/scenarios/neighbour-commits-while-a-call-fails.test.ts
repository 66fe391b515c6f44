import { expect, test } from "vitest";
import { beginCall, defineSlice, ExecutionState, filesOf, filesPart } from "../../src/index.ts";

const done = defineSlice("done", { initial: [] as readonly string[], on: { by: (now, who: string) => [...now, who] } });

/** The reference takes one whole snapshot per call: A begins, B commits, A fails, and B's work is gone. */
test("[TX-32] [K08] what a neighbour committed stays when a call that began earlier fails", async () => {
  const state = ExecutionState.create({ slices: [done], parts: [filesPart] });
  const a = await beginCall(state, { id: "a", name: "edit" });
  const b = await beginCall(state, { id: "b", name: "edit" });
  for (const { call, id } of [a, b]) {
    call.dispatch(done.by(id));
    await call.files.writeText(`${id}.txt`, id);
  }
  await b.commit("fine");
  await a.abort("it went wrong");
  expect(state.session.get(done)).toEqual(["b"]);
  expect((await filesOf(state).list()).map(({ name }) => name)).toEqual(["b.txt"]);
  await state.restore(state.checkpoints.getPreSnapshot("b"));
  expect(state.session.get(done)).toEqual([]);
});
