import { expect } from "vitest";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

const approveAll = { name: "approvals", check: () => undefined };

inEveryWay(
  "[MODE-4] what the user approved in act mode opens nothing in plan mode",
  async ({ session, turn, ran }) => {
    const edit = { calls: [{ name: "edit_file", input: {} }] };
    expect(outcomes(await turn([edit, { text: "ok" }]))[0]?.ok).toBe(true);
    await session.setMode("plan");
    expectDenied(outcomes(await turn([edit, { text: "ok" }]))[0]);
    expect(ran).toEqual(["edit_file"]);
  },
  { policies: [approveAll] },
);

inEveryWay(
  "[MODE-9] a call that a host began in act mode and runs after an approval in plan mode commits nothing",
  async ({ session, files }) => {
    const pending = await session.begin({ name: "edit_file", input: {} });
    await session.setMode("plan"); // while the user was looking at the dialog
    await pending.call.files.writeText("late.txt", "x");
    expectDenied((await pending.commit("approved")) as never, /went into plan mode while edit_file ran/);
    await expect(session.begin({ name: "edit_file", input: {} })).rejects.toMatchObject({ code: "CALL_REFUSED" });
    await expect(session.begin({ name: "unheard_of", input: {} })).rejects.toMatchObject({ code: "CALL_REFUSED" });
    expect(await files()).toEqual([]);
  },
);

inEveryWay(
  "[MODE-4] a call that waits for consent is not run when consent comes in plan mode",
  async ({ session, tool, turn, ran }) => {
    await session.catalog.add([tool({ name: "deploy", approval: true })]);
    const consent = async () => {
      await session.setMode("plan");
      return { approve: true } as const;
    };
    const [outcome] = outcomes(
      await turn([{ calls: [{ name: "deploy", input: {} }] }, { text: "ok" }], { ask: consent }),
    );
    expectDenied(outcome);
    expect(ran).toEqual([]);
  },
);

inEveryWay(
  "[MODE-4] nobody is asked about a call that plan mode would not let start",
  async ({ session, tool, turn }) => {
    await session.catalog.add([tool({ name: "deploy", approval: true })]);
    await session.setMode("plan");
    const { events } = await turn([{ calls: [{ name: "deploy", input: {} }] }, { text: "ok" }]);
    expect(events.map(({ kind }) => kind)).not.toContain("call-waiting");
  },
);

inEveryWay(
  "[MODE-4] consent is for the tool that was asked about, and for no other under its name",
  async ({ session, tool, turn, ran }) => {
    await session.catalog.add([tool({ name: "deploy", approval: true })]);
    const consent = async () => {
      await session.catalog.add([tool({ name: "deploy", approval: true, description: "Deploys everywhere." })]);
      return { approve: true } as const;
    };
    const [outcome] = outcomes(
      await turn([{ calls: [{ name: "deploy", input: {} }] }, { text: "ok" }], { ask: consent }),
    );
    expectDenied(outcome, /deploy has changed since somebody was asked/);
    expect(ran).toEqual([]);
  },
);
