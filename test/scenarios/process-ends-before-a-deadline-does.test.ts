import { expect, test } from "vitest";
import { startChild } from "../support/children.ts";

/** A process that nothing holds but the kernel, with a clock that runs a hundred times as fast. */
function alone(text: string) {
  return startChild(`
    import { SystemClock } from "@/base/clock.ts";
    import { scripted } from "@/adapters/scripted/entry.ts";
    import { memoryStore } from "@/stores/memory/entry.ts";
    import { defineTool } from "@/transaction/tool.ts";
    import { createHoldfast } from "@/turn/holdfast.ts";
    process.stdin.unref();
    class Quick extends SystemClock {
      sleep(ms, ...how) { return super.sleep(ms / 100, ...how); }
    }
    const never = () => new Promise(() => {});
    const open = async (...tools) =>
      (await createHoldfast({ store: memoryStore(), clock: new Quick(), tools })).open("a");
    ${text}
  `);
}

test("[TX-41] a handler that waits for what never comes is closed at its deadline", async () => {
  const child = alone(`
    const session = await open(defineTool({ name: "hang", access: "read", deadlineMs: 2_000, run: never }));
    say((await session.runTool({ name: "hang", input: {} })).status);
  `);
  expect(await child.said("")).toBe("timeout");
});

test("[TX-41] an undo that never answers is told as not undone", async () => {
  const child = alone(`
    const session = await open(defineTool({
      name: "send",
      access: "external",
      effects: { mail: { run: async () => "sent", undo: never } },
      run: async (_input, call) => {
        await call.effect("mail", {}, { key: "k" });
        return call.fail("no", "no");
      },
    }));
    say((await session.runTool({ name: "send", input: {} })).effects.map(({ is }) => is).join());
  `);
  expect(await child.said("")).toBe("not-undone");
});

test("[TURN-87] a session is closed also when the model does not stop and nothing else holds the process", async () => {
  const child = alone(`
    const session = await open();
    const asked = Promise.withResolvers();
    const model = { ...scripted([]), ask: async function* () { asked.resolve(); await never(); } };
    void session.run("go", { model }).next().then(() => {});
    await asked.promise;
    await session.close();
    say("closed");
  `);
  expect(await child.said("")).toBe("closed");
});

test("[TX-41] a turn whose model never answers ends when its time is up", async () => {
  const child = alone(`
    const session = await open();
    const model = { ...scripted([]), ask: async function* () { await never(); } };
    const turn = session.run("go", { model, limits: { timeMs: 2_000 } });
    let step;
    do step = await turn.next(); while (!step.done);
    say(step.value.limit);
  `);
  expect(await child.said("")).toBe("timeMs");
});
