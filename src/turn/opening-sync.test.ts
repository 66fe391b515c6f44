import { expect, test } from "vitest";
import type { WriteBatch } from "../contracts/store.ts";
import { defineTool } from "../transaction/tool.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { between, memoryDeps } from "../../test/support/stores.ts";
import { Holdfast } from "./holdfast.ts";

const TOOLS = [
  defineTool({ name: "look", access: "read", run: () => "seen" }),
  defineTool({ name: "edit", access: "write", run: () => "edited" }),
  defineTool({ name: "once", access: "write", retryable: false, run: () => "done" }),
  defineTool({ name: "order", access: "external", run: () => "ordered" }),
  defineTool({ name: "build", access: "execute", run: () => "built" }),
  defineTool({
    name: "pay",
    access: "write",
    effects: { payment: { run: () => "paid" } },
    run: (_input, call) => call.effect("payment", null, { key: "k" }),
  }),
  defineTool({
    name: "both",
    access: "external",
    run: async (_input, call) => (await call.run({ name: "edit", input: {} })).output,
  }),
];

/** What each commit wrote, from now on; one that does not wait for the disk is in brackets. */
async function watched() {
  const { store, ...rest } = memoryDeps();
  const commits: string[] = [];
  const hear = (batch: WriteBatch) => {
    const what = batch.kind === "append" ? batch.records.map(({ kind }) => kind).join("+") : batch.kind;
    commits.push("unsynced" in batch && batch.unsynced === true ? `(${what})` : what);
  };
  const options = {
    tools: TOOLS,
    agents: [{ name: "helper", description: "Helps.", model: scripted([{ text: "Done." }]) }],
  };
  const holdfast = new Holdfast({ ...rest, store: between(store, { after: hear }) }, options);
  const session = await holdfast.open("main");
  commits.length = 0;
  return { session, commits };
}

const CLOSING = "call-closed+state-changed";
const DURABLE = ["call-opened", CLOSING];
const TRACELESS = ["(call-opened)", CLOSING];

test.each([
  ["look", TRACELESS],
  ["edit", TRACELESS],
  ["once", DURABLE],
  ["order", DURABLE],
  ["build", DURABLE],
])(
  "[TURN-94] the opening of %s is on the disk before it runs, if the call can leave anything outside",
  async (name, written) => {
    const { session, commits } = await watched();
    expect(await session.runTool({ name, input: {} })).toMatchObject({ status: "success" });
    expect(commits).toEqual(written);
  },
);

test("[TURN-94] a call that a host runs is on the disk before it runs, whatever it says of itself", async () => {
  const { session, commits } = await watched();
  const pending = await session.begin({ name: "edit", input: {} });
  expect(commits).toEqual(["call-opened"]);
  await pending.commit("edited");
  expect(commits).toEqual(DURABLE);
});

test("[TURN-94] the first effect of a call takes its opening to the disk", async () => {
  const { session, commits } = await watched();
  await session.runTool({ name: "pay", input: {} });
  expect(commits).toEqual(["(call-opened)", "effect-opened", "effect-done", CLOSING]);
});

test("[TURN-94] a call inside another one leaves nothing that the other has not been written down for", async () => {
  const { session, commits } = await watched();
  await session.runTool({ name: "both", input: {} });
  expect(commits).toEqual(["call-opened", "(call-opened)", `call-closed+${CLOSING}`]);
});

test("[TURN-94] a call that a sub-agent works for is on the disk before that one is there", async () => {
  const { session, commits } = await watched();
  await session.runTool({ name: "helper", input: { task: "help" } });
  expect(commits.slice(0, 2)).toEqual(["call-opened", "create"]);
});

test("[TURN-94] what a model asked for is on the disk with the answer that asked for it", async () => {
  const { session, commits } = await watched();
  const model = scripted([{ calls: [{ name: "edit", input: {} }] }, { text: "Done." }]);
  await watch(session.run("go", { model }));
  expect(commits.filter((what) => what.includes("call-opened"))).toEqual([
    expect.stringContaining("model-said+call-opened"),
  ]);
  expect(commits.filter((what) => what.startsWith("("))).toEqual([]);
});
