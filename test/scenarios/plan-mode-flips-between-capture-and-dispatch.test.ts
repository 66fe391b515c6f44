import { expect } from "vitest";
import type { Model } from "../../src/contracts/model.ts";
import { beforeTheEnd, expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[ALIGN-13] [A18] a flip after the check is seen at the sending, and the request is built anew",
  async ({ session, turn, requests, files }) => {
    let flipped = false;
    const flippingFirst = (model: Model): Model => ({
      ...model,
      async *ask(request, options) {
        if (!flipped) await session.setMode("plan");
        flipped = true;
        yield* model.ask(request, options);
      },
    });
    const { end } = await turn([{ calls: [{ name: "edit_file", input: {} }] }, { text: "ok" }], {
      wrap: flippingFirst,
    });
    expect(end.status).toBe("done");
    expect(requests.map(({ tools }) => tools?.some(({ name }) => name === "edit_file"))).toEqual([true, false, false]);
    expect(session.alignment.faults).toMatchObject({ "mode-mismatch": 1, "catalog-stale": 1 });
    expect(await files()).toEqual([]);
  },
);

inEveryWay(
  "[MODE-4] [A18] a call that was offered in act mode does not start in plan mode",
  async ({ session, turn, ran }) => {
    const wrap = (model: Model) => beforeTheEnd(model, () => session.setMode("plan"));
    const [outcome] = outcomes(await turn([{ calls: [{ name: "edit_file", input: {} }] }, { text: "ok" }], { wrap }));
    expectDenied(outcome);
    expect(ran).toEqual([]);
  },
);

inEveryWay(
  "[MODE-4] [A15] a call that was not offered in plan mode does not start in act mode",
  async ({ session, turn, ran }) => {
    await session.setMode("plan");
    const wrap = (model: Model) => beforeTheEnd(model, () => session.setMode("act"));
    const [outcome] = outcomes(await turn([{ calls: [{ name: "edit_file", input: {} }] }, { text: "ok" }], { wrap }));
    expectDenied(outcome);
    expect(ran).toEqual([]);
  },
);
