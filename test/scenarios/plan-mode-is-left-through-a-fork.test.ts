import { expect, test } from "vitest";
import { forkSession } from "../../src/journal/fork.ts";
import { opened, run } from "../support/durable.ts";
import { expectDenied } from "../support/planning.ts";

const edit = { name: "step", input: { n: "leaked" } };

test("[MODE-11] a fork of a session in plan mode is in plan mode, from whichever point and whoever makes it", async () => {
  const { session, holdfast } = await opened();
  const callId = await run(session, "one");
  const after = session.journal.head.seq; // in act mode
  await session.setMode("plan");
  await using live = await holdfast.fork("s", { as: "of-an-open-one", after });
  expect(live.mode).toBe("plan");
  expectDenied(await live.runTool(edit));
  await using own = await session.fork({ after: callId, as: "its-own" });
  expect(own.mode).toBe("plan");
  await session.close();
  await using closed = await holdfast.fork("s", { as: "of-a-closed-one", after });
  expect(closed.mode).toBe("plan");
  expectDenied(await closed.runTool(edit));
});

test("[MODE-11] a fork of a session in act mode is in act mode", async () => {
  const { session, holdfast } = await opened();
  await run(session, "one");
  await using fork = await holdfast.fork("s", { as: "f" });
  expect([fork.mode, (await fork.runTool(edit)).ok]).toEqual(["act", true]);
  await session.close();
});

test("[MODE-11] a fork that was cut off before it could say what it is opens in plan mode, once", async () => {
  const { session, holdfast, deps } = await opened();
  await run(session, "one");
  const after = session.journal.head.seq; // in act mode
  await session.setMode("plan");
  await forkSession(deps, "s", { as: "cut-off", after }); // and here the process that made it is killed
  const fork = await holdfast.open("cut-off");
  expect(fork.mode).toBe("plan");
  expectDenied(await fork.runTool(edit));
  await fork.setMode("act");
  await fork.close();
  await using again = await holdfast.open("cut-off");
  expect([again.mode, (await again.runTool(edit)).ok]).toEqual(["act", true]);
  await session.close();
});

test("[MODE-12] a fork of a session that works for another works for the same one", async () => {
  const { session: parent, holdfast } = await opened();
  const child = await holdfast.open("child");
  const callId = await run(child, "one"); // before it had a parent
  await child.close();
  await using again = await holdfast.open("child", { parent });
  await using fork = await again.fork({ after: callId, as: "fork" });
  await using plain = await holdfast.fork("child", { as: "plain", after: 1 });
  expect([fork.mode, plain.mode]).toEqual(["act", "act"]);
  await parent.setMode("plan");
  expect([fork.mode, plain.mode]).toEqual(["plan", "plan"]);
  for (const one of [fork, plain]) {
    expectDenied(await one.runTool(edit));
    await expect(one.setMode("act")).rejects.toMatchObject({ code: "MODE_INHERITED" });
  }
  await parent.close();
});
