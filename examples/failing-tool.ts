/** A tool call happened, or it did not; and any boundary can be returned to. Run it: `npm run example failing-tool`. */
import assert from "node:assert/strict";
import { createHoldfast, defineSlice, defineTool } from "holdfast";
import { memoryStore } from "holdfast/stores/memory";
import { z } from "zod";

const steps = defineSlice("steps", {
  initial: [] as readonly string[],
  on: { added: (now: readonly string[], step: string) => [...now, step] },
});

const editFile = defineTool({
  name: "edit_file",
  input: z.object({ path: z.string(), find: z.string(), replace: z.string() }),
  access: "write",
  async run({ path, find, replace }, call) {
    call.dispatch(steps.added(`edited ${path}`));
    const text = await call.files.readText(path);
    await call.files.writeText(path, text.replace(find, replace));
    if (!text.includes(find)) return call.fail("not-found", `"${find}" is not in ${path}`); // everything is undone
    return `edited ${path}`;
  },
});

const holdfast = await createHoldfast({ store: memoryStore(), tools: [editFile], slices: [steps] });
const session = await holdfast.open("rename-foo");
await session.files.writeText("a.ts", "let foo = 1");

const good = await session.runTool({ name: "edit_file", input: { path: "a.ts", find: "foo", replace: "bar" } });
const bad = await session.runTool({ name: "edit_file", input: { path: "a.ts", find: "nowhere", replace: "?" } });
assert.equal(good.ok, true);
assert.deepEqual([bad.ok, bad.status, bad.reason], [false, "failed", "not-found"]);
assert.equal(await session.files.readText("a.ts"), "let bar = 1");
assert.deepEqual(session.state.session.get(steps), ["edited a.ts"]); // the failed call left no trace

await session.rewind({ before: good.callId });
assert.equal(await session.files.readText("a.ts"), "let foo = 1");
assert.deepEqual(session.state.session.get(steps), []);

await session.close();
await holdfast.close();
console.log("one call happened, one did not, and the first was taken back");
