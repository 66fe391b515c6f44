import { expect } from "vitest";
import { PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE } from "../../src/prompt/policy-lines.ts";
import { textOf } from "../../src/wire/item.ts";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-4] prompt, tools and gate say the same, and a model that ignores the first two changes nothing",
  async ({ session, turn, files, requests }) => {
    await session.setMode("plan");
    const watched = await turn([{ calls: [{ name: "edit_file", input: { path: "a.txt" } }] }, { text: "I planned." }]);
    const last = requests[0]?.items.at(-1);
    expect(last?.kind === "user" && textOf(last.parts)).toContain(PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE);
    expect(requests[0]?.tools?.map(({ name }) => name)).toEqual(["look", "recall", "shell", "unified_file"]);
    expectDenied(outcomes(watched)[0], /edit_file could change something.*Put the change into your plan/);
    expect(watched.end).toMatchObject({ status: "done", text: "I planned." }); // the turn goes on
    expect(await files()).toEqual([]);
    await session.setMode("act");
    const [acted] = outcomes(
      await turn([{ calls: [{ name: "edit_file", input: { path: "a.txt" } }] }, { text: "ok" }]),
    );
    expect(acted?.ok).toBe(true);
    expect(requests.at(-1)?.tools).toHaveLength(6);
    expect(await files()).toEqual(["a.txt"]);
  },
);
