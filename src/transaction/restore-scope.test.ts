import { expect, test } from "vitest";
import { Box, counter, rig, writes } from "../../test/support/calls.ts";
import { filesOf } from "../files/access.ts";
import { resourcesPart } from "../state/resources-part.ts";
import { resourceKey, type Snapshotable } from "../state/resources.ts";
import { filesPart } from "../files/part.ts";

const BOX = resourceKey<Box>("box");
const write = writes<string>("write", async (text, call) => {
  await call.files.writeText("a.txt", text);
  call.dispatch(counter.added(1));
});

test("[SNAP-2] paths that a snapshot does not hold stay as they are, and so does everything else", async () => {
  const { state, transactions } = rig([write]);
  const logs = await state.snapshot({ policies: ["log"] });
  await transactions.run({ id: "c1", name: "write", input: "one" });
  await state.restore(logs, { paths: ["a.txt"] });
  expect(await filesOf(state).readText("a.txt")).toBe("one");
  expect(state.session.get(counter)).toBe(1);
});

test("[SNAP-8] a resource that is put back is noted as that, where another process is to find it", async () => {
  const touch = writes<number>("touch", async (value, call) => {
    (await call.resource(BOX)).value = value;
  });
  const { state, transactions } = rig([touch], {
    state: { parts: [filesPart, resourcesPart], resources: [[BOX, new Box()]] },
  });
  await transactions.run({ id: "c1", name: "touch", input: 1 });
  const one = await state.snapshot();
  const noted = state.root.get(resourcesPart.name);
  await transactions.run({ id: "c2", name: "touch", input: 2 });
  expect(state.root.get(resourcesPart.name)).not.toEqual(noted);
  await state.restore(one);
  expect(state.resources.get(BOX).value).toBe(1);
  expect(state.root.get(resourcesPart.name)).toEqual(noted);
});

test.each([
  ["that is JSON", {}],
  ["that JSON would change", { last: undefined }],
])("[SNAP-1] what a resource makes of a snapshot %s, and was put back to, changes no snapshot", async (_, more) => {
  interface Words {
    readonly said: string[];
  }
  /** Copies what it hands out, and goes on with what it is given. */
  class Log implements Snapshotable<Words> {
    words: Words = { said: [] };
    snapshot = () => ({ said: [...this.words.said], ...more });
    restore = (to: Words) => void (this.words = to);
  }
  const LOG = resourceKey<Log>("log");
  const say = writes<{ readonly word: string; readonly fail?: boolean }>("say", async ({ word, fail }, call) => {
    const log = await call.resource(LOG);
    log.words.said.push(word);
    await call.transaction(() => Promise.reject(new Error("not this part"))).catch(() => {});
    log.words.said.push("more");
    return fail === true ? call.fail("no", "no") : word;
  });
  const log = new Log();
  const { state, transactions } = rig([say], { state: { resources: [[LOG, log]] } });
  const ran = (id: string, word: string, fail = false) => transactions.run({ id, name: "say", input: { word, fail } });
  const empty = await state.snapshot();
  await ran("a", "a");
  await ran("b", "b", true);
  expect(log.words.said).toEqual(["a", "more"]);
  for (const word of ["c", "d"]) {
    await state.restore(state.checkpoints.getPostSnapshot("a") ?? empty);
    expect(log.words.said).toEqual(["a", "more"]);
    await ran(word, word);
    await state.restore(empty);
    expect(log.words.said).toEqual([]);
    await ran(`${word}${word}`, word);
  }
});

test("[SNAP-15] a snapshot and a restore wait for the call that uses a resource, and hold and put back what it left", async () => {
  for (const fails of [true, false]) {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const box = new Box();
    const use = writes("use", async (_, call) => {
      (await call.resource(BOX)).value = 9;
      begun.resolve();
      await gate.promise;
      return fails ? call.fail("no", "no") : "used";
    });
    const { state, transactions } = rig([use], { state: { resources: [[BOX, box]] } });
    const before = await state.snapshot();
    const using = transactions.run({ id: "c1", name: "use", input: {} });
    await begun.promise;
    const [snapshot, restored] = [state.snapshot(), state.restore(before)];
    gate.resolve();
    await using;
    expect((await snapshot).resources.get("box")).toBe(fails ? 0 : 9);
    await restored;
    expect(box.value).toBe(0);
  }
});
