import { expect } from "vitest";
import { steps } from "../support/calls.ts";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-9] a call that is running when plan mode begins commits no change",
  async ({ session, tool, turn, files }) => {
    const waiting = Promise.withResolvers<void>();
    const slow = tool({
      name: "slow",
      run: async (_, call) => {
        await call.files.writeText("slow.txt", "x");
        waiting.resolve();
        await gate;
        return "written";
      },
    });
    const flip = Promise.withResolvers<void>();
    const gate = flip.promise;
    await session.catalog.add([slow]);
    const turned = turn([{ calls: [{ name: "slow", input: {} }] }, { text: "ok" }]);
    await waiting.promise;
    await session.setMode("plan");
    flip.resolve();
    expectDenied(outcomes(await turned)[0], /went into plan mode while slow ran/);
    expect(await files()).toEqual([]);
  },
);

inEveryWay(
  "[MODE-9] calls inside a reading call that began before count, too, and a reading call is left alone",
  async ({ session, tool, turn }) => {
    const inside = Promise.withResolvers<void>();
    const flip = Promise.withResolvers<void>();
    const outer = tool({
      name: "outer",
      access: "read",
      run: async (_, call) => {
        await call.run({ name: "noter", input: {} });
        inside.resolve();
        await flip.promise;
        return "done";
      },
    });
    const reader = tool({ name: "reader", access: "read", run: () => flip.promise.then(() => "read") });
    const noter = tool({ name: "noter", run: (_, call) => call.dispatch(steps.added("noted")) });
    await session.catalog.add([outer, reader, noter]);
    const turned = turn([{ calls: ["outer", "reader"].map((name) => ({ name, input: {} })) }, { text: "ok" }]);
    await inside.promise;
    await session.setMode("plan");
    flip.resolve();
    const ended = outcomes(await turned);
    expectDenied(
      ended.find(({ tool: name }) => name === "outer"),
      /went into plan mode while noter ran/,
    );
    expect(ended.find(({ tool: name }) => name === "reader")).toMatchObject({ ok: true, output: "read" });
    expect(session.state.session.get(steps)).toEqual([]);
  },
);

inEveryWay(
  "[MODE-9] a call that is running when plan mode begins does nothing outside any more",
  async ({ session, tool, turn }) => {
    const waiting = Promise.withResolvers<void>();
    const flip = Promise.withResolvers<void>();
    const paid: string[] = [];
    const charge = tool({
      name: "charge",
      access: "external",
      effects: {
        payment: {
          run: async () => {
            paid.push("paid");
            return "receipt";
          },
        },
      },
      run: async (_, call) => {
        waiting.resolve();
        await flip.promise;
        return call.effect("payment", {}, { key: "order" });
      },
    });
    await session.catalog.add([charge]);
    const turned = turn([{ calls: [{ name: "charge", input: {} }] }, { text: "ok" }]);
    await waiting.promise;
    await session.setMode("plan");
    flip.resolve();
    expect(outcomes(await turned)[0]).toMatchObject({ ok: false, reason: "CALL_REFUSED" });
    expect(paid).toEqual([]);
  },
);

inEveryWay("[MODE-1] a reading tool with effects outside is no reading tool", async ({ session, tool, turn, ran }) => {
  await session.catalog.add([tool({ name: "track", access: "read", effects: { ping: { run: async () => null } } })]);
  await session.setMode("plan");
  expectDenied(outcomes(await turn([{ calls: [{ name: "track", input: {} }] }, { text: "ok" }]))[0]);
  expect(ran).toEqual([]);
});
