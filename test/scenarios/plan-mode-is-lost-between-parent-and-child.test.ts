import { expect, test } from "vitest";
import { kernel, opened } from "../support/durable.ts";
import { expectDenied } from "../support/planning.ts";
import { MemoryDisk } from "../support/stores.ts";

const edit = { name: "step", input: { n: "leaked" } };

test("[MODE-12] a parent that is closed and opened again still has its children", async () => {
  const { session: parent, holdfast } = await opened();
  await using child = await holdfast.open("child", { parent });
  await parent.close();
  expect(child.mode).toBe("act");
  await using again = await holdfast.open("s");
  await again.setMode("plan");
  expect(child.mode).toBe("plan");
  expectDenied(await child.runTool(edit));
  await expect(child.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
});

test("[MODE-12] a child that is opened without a word of its parent knows whom it works for", async () => {
  const { session: parent, holdfast } = await opened();
  await (await holdfast.open("child", { parent })).close();
  await parent.setMode("plan");
  const child = await holdfast.open("child");
  expect(child.mode).toBe("plan");
  await child.close();
  await parent.close();
  expect(await (await holdfast.look("child")).parent()).toBe("s");
});

test("[MODE-12] also in another process, where the parent is only in the store", async () => {
  const { session: parent, holdfast, disk } = await opened();
  await (await holdfast.open("child", { parent })).close();
  await (await holdfast.open("grandchild", { parent: await holdfast.open("child") })).close();
  const elsewhere = kernel(disk).holdfast;
  await using early = await elsewhere.open("grandchild");
  expect(early.mode).toBe("act");
  await parent.setMode("plan"); // reaches the open child, and the store
  await early.align(); // whoever asks a model hears of it
  expect(early.mode).toBe("plan");
  expectDenied(await early.runTool(edit));
  await expect(early.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
  await parent.close();
});

test("[MODE-12] whoever looks at a closed child is told the mode that opening would find", async () => {
  const { session: parent, holdfast, disk } = await opened();
  const modes = async (of = holdfast) =>
    Promise.all(["child", "grandchild"].map(async (id) => (await of.look(id)).mode()));
  const child = await holdfast.open("child", { parent });
  await (await holdfast.open("grandchild", { parent: child })).close();
  await child.close();
  expect(await modes()).toEqual(["act", "act"]);
  await parent.setMode("plan");
  expect(await modes()).toEqual(["plan", "plan"]);
  await parent.close();
  expect(await modes(kernel(disk).holdfast)).toEqual(["plan", "plan"]);
  const again = await holdfast.open("s");
  await again.setMode("act");
  await again.close();
  expect(await modes()).toEqual(["act", "act"]);
  await holdfast.delete("child");
  expect(await modes().catch(() => "gone")).toBe("gone");
  expect(await (await holdfast.look("grandchild")).mode()).toBe("plan");
});

test("[MODE-12] a parent that nobody can find counts as planning, until somebody says otherwise", async () => {
  const { session: parent, holdfast } = await opened();
  const other = kernel(new MemoryDisk()).holdfast;
  const child = await other.open("child", { parent });
  expect([child.mode, (await child.runTool(edit)).ok]).toEqual(["act", true]); // it is at hand
  await child.close();
  await using again = await other.open("child");
  expect(again.mode).toBe("plan");
  expect(again.catalog.own.reason).toMatch(/cannot be found/);
  await again.setMode("act");
  expect((await again.runTool({ name: "step", input: { n: "x" } })).ok).toBe(true);
  await parent.close();
  await holdfast.close();
});
