import { expect } from "vitest";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-5] a reading command that redirects, substitutes or hides a second one does not run",
  async ({ session, turn, ran }) => {
    await session.setMode("plan");
    const commands = [
      "cat a > b",
      "cat a >> b",
      "echo $(rm a)",
      "ls `rm a`",
      "cat a | tee b",
      "ls; rm a",
      "ls & rm a",
      "echo # '\nrm a #'",
    ];
    const calls = commands.map((command) => ({ name: "shell", input: { command } }));
    for (const outcome of outcomes(await turn([{ calls }, { text: "ok" }]))) expectDenied(outcome);
    expect(ran).toEqual([]);
  },
);
