import { expect } from "vitest";
import { expectDenied, inEveryWay, outcomes } from "../support/planning.ts";

inEveryWay(
  "[MODE-5] a shell in plan mode runs what is proved to read, and nothing else",
  async ({ session, turn, ran, requests }) => {
    await session.setMode("plan");
    const commands = ["ls -la", "rm -rf src", "git log --oneline", "npm install", "git commit -am x", "find . -delete"];
    const calls = commands.map((command) => ({ name: "shell", input: { command } }));
    const ended = outcomes(await turn([{ calls }, { text: "ok" }])).toSorted((a, b) => (a.callId < b.callId ? -1 : 1));
    expect(ran).toEqual(["shell", "shell"]);
    const said = ended.filter(({ ok }) => ok).map(({ output }) => output as string);
    expect(new Set(said)).toEqual(new Set(["ran git log --oneline", "ran ls -la"]));
    for (const denied of ended.filter(({ ok }) => !ok))
      expectDenied(denied, /^Plan mode is on, so shell did not run: .*Use plain reading/);
    const offered = requests[0]?.tools?.find(({ name }) => name === "shell");
    expect(offered?.description).toContain("only calls that are proved to change nothing");
  },
);
