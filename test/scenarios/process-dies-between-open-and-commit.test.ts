import { expect, test } from "vitest";
import { createHoldfast, defineSlice, defineTool, INTERRUPTED } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { join } from "node:path";
import { scratchFolder } from "../support/places.ts";

const steps = defineSlice("steps", {
  initial: [] as readonly string[],
  on: { added: (now, step: string) => [...now, step] },
});
const edit = defineTool<{ path: string; hang?: boolean }>({
  name: "edit",
  access: "write",
  async run({ path, hang }, call) {
    await call.files.writeText(path, `content of ${path}`);
    call.dispatch(steps.added(path));
    if (hang === true) await new Promise(() => {});
    return path;
  },
});

test("[TURN-6] [K42] [K45] on a real disk: committed calls are there, the one that was cut off is not, and a second opening changes nothing", async () => {
  const path = join(scratchFolder(), "sessions.db");
  const open = () => createHoldfast({ store: sqlite(path), tools: [edit], slices: [steps] });
  const first = await open();
  const session = await first.open("s");
  await session.append({ kind: "user-said", text: "edit two files" });
  await session.runTools(["a", "b"].map((name) => ({ name: "edit", input: { path: name } })));
  void session.runTool({ name: "edit", input: { path: "c", hang: true } }).catch(() => {});
  while (session.openCalls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await first.store.close(); // the lease is never released and the call never ends: what a killed process leaves

  const second = await open();
  const again = await second.open("s");
  expect(again.recovered.closedCalls).toHaveLength(1);
  expect(again.state.session.get(steps).toSorted()).toEqual(["a", "b"]);
  expect((await again.files.list()).map(({ name }) => name)).toEqual(["a", "b"]);
  const items = await again.conversation();
  expect(items.filter(({ kind }) => kind === "call")).toHaveLength(3);
  expect(items.filter(({ kind }) => kind === "output")).toHaveLength(3);
  expect(JSON.stringify(items)).toContain(INTERRUPTED);
  await again.close();

  const head = again.journal.head.seq;
  const third = await second.open("s");
  expect(third.journal.head.seq).toBe(head);
  expect(third.state.root).toEqual(again.state.root);
  await third.close();
  await second.close();
});
