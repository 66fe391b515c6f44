import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { counter, steps } from "../support/calls.ts";
import { settle } from "../support/stores.ts";
import { freshRoot, inWorkspace } from "../support/workspaces.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { defineTool } from "../../src/transaction/tool.ts";
import { createHoldfast } from "../../src/turn/holdfast.ts";

const count = defineTool({ name: "count", access: "write", run: (_, call) => call.dispatch(counter.added(1)) });
const write = defineTool<string>({
  name: "write",
  access: "write",
  async run(text, call) {
    await call.files.writeText("a.txt", text);
    call.dispatch(steps.added(text));
  },
});
const OPTIONS = { tools: [count, write], slices: [counter, steps] };

/** The same session where its folder is not. */
async function away({ store }: { readonly store: string }) {
  const holdfast = await createHoldfast({ store: sqlite(store, { durability: "process" }), ...OPTIONS });
  return { holdfast, session: await holdfast.open("s") };
}

test.each(["a rewind", "the call that it worked for"])(
  "[HOST-11] somebody saves a file between the look and the return of %s: it is looked at again, and their edit stays",
  async (who) => {
    const { holdfast, session, root } = await inWorkspace(OPTIONS);
    await session.runTool({ name: "write", input: "one" });
    const takeBack = await session.mark();
    const { callId } = await session.runTool({ name: "write", input: "two" });
    const turn = Promise.withResolvers<void>();
    const before = session.state.truth.gate.run(() => turn.promise); // somebody else's commit, which takes a while
    const rewinding = who === "a rewind" ? session.rewind({ before: callId }) : takeBack();
    await settle(); // it has looked, and waits for its turn
    writeFileSync(join(root, "a.txt"), "theirs");
    turn.resolve();
    await before;
    const kept = { done: true, files: { kept: [{ path: "a.txt" }] } };
    if (who === "a rewind") expect(await rewinding).toMatchObject(kept);
    else await rewinding;
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("theirs");
    expect(session.state.session.get(steps)).toEqual(["one"]);
    await session.close();
    await holdfast.close();
  },
);

test("[CLI-6] without the folder a rewind that leaves no file behind is done, and one that would is refused", async () => {
  const place = freshRoot();
  const there = await inWorkspace(OPTIONS, place);
  const wrote = await there.session.runTool({ name: "write", input: "one" });
  const counted = await there.session.runTool({ name: "count", input: {} });
  await there.session.close();
  await there.holdfast.close();
  const { holdfast, session } = await away(place);
  expect(await session.rewind({ before: counted.callId })).toMatchObject({ done: true });
  await expect(session.rewind({ before: wrote.callId })).rejects.toMatchObject({ code: "WORKSPACE_NEEDED" });
  await session.close();
  await holdfast.close();
});

test("[HOST-10] back to before the session had a folder, what it wrote there is taken back", async () => {
  const place = freshRoot();
  const first = await away(place);
  const { callId } = await first.session.runTool({ name: "count", input: {} });
  await first.session.close();
  await first.holdfast.close();
  const { holdfast, session, root } = await inWorkspace(OPTIONS, place);
  await session.runTool({ name: "write", input: "one" });
  await session.rewind({ after: callId });
  expect(() => readFileSync(join(root, "a.txt"))).toThrow(/ENOENT/);
  await session.close();
  await holdfast.close();
});
