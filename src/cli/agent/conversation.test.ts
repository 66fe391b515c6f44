import { describe, expect, test } from "vitest";
import { scripted } from "../../../test/support/loop.ts";
import { askUser, createHoldfast, defineTool } from "../../index.ts";
import { memoryStore } from "../../stores/memory/entry.ts";
import type { Terminal } from "../command.ts";
import type { Agent } from "./agent.ts";
import { Conversation } from "./conversation.ts";
import type { Prices } from "./prices.ts";
import type { Talk } from "./talk.ts";
import { SILENT } from "../silent.ts";

const TOOLS = [
  askUser,
  defineTool({ name: "deploy", access: "write", approval: true, run: () => "deployed" }),
  defineTool({ name: "note", access: "write", run: (_, call) => call.files.writeText("note.txt", "noted") }),
];

type Script = Parameters<typeof scripted>[0];

/** What a person sees who types these lines, one whenever somebody is asked, and then leaves. */
async function talked(script: Script, lines: readonly (string | undefined)[], prices?: Prices) {
  const holdfast = await createHoldfast({ store: memoryStore(), tools: TOOLS });
  const session = await holdfast.open("talk");
  const seen: string[] = [];
  const asked: string[] = [];
  const show = (text: string) => void seen.push(text);
  const terminal: Terminal = { ...SILENT, out: show, err: show, write: show, columns: 40 };
  const left = [...lines];
  let asking = false;
  const talk = {
    interrupted: () => {},
    aside: (write: () => void) => write(),
    ask: async (prompt: string) => {
      expect(asking, "two questions at once").toBe(false);
      asking = true;
      asked.push(prompt);
      await new Promise((resolve) => setImmediate(resolve)); // a person takes a moment
      asking = false;
      return left.shift();
    },
  };
  const turn = { model: scripted(script) };
  const agent: Agent = { holdfast, session, turn, prices, resumed: false };
  await new Conversation(agent, terminal, talk as unknown as Talk).hold();
  const mode = session.mode;
  const calls = session.checkpoints
    .list()
    .map(({ tool, status, rewound }) => `${tool} ${status}${rewound ? " taken back" : ""}`);
  const sessions: string[] = [];
  for await (const row of holdfast.sessions()) sessions.push(row.id);
  await session.close();
  await holdfast.close();
  return { seen: seen.join("\n"), asked, mode, calls, sessions };
}

const calling = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, input: {} })) });

test("[CLI-36] a model that cannot be asked is told with its name and what to try, and the conversation goes on", async () => {
  const { seen, asked } = await talked([{ fault: "not-allowed" }, { text: "Here." }], ["hello", "hello?"]);
  expect(seen).toMatch(/^scripted:\S+ cannot be asked: not-allowed: .+\ntry: check the key of your account/m);
  expect(seen).toContain("Here.");
  expect(asked).toHaveLength(3);
});

describe("before anything was said", () => {
  test("[CLI-16] what a person asks for is answered in words, and an empty line asks for nothing", async () => {
    const { seen, asked } = await talked([], ["", "  ", "/checkpoints", "/context", "/fork", "/cost", "/help"]);
    expect(seen).toContain("no call has ended yet");
    expect(seen).toContain("the model was not asked yet");
    expect(seen).toContain("a fork needs a name: /fork NAME [CALL]");
    expect(seen).toContain("here: 0 steps");
    expect(seen).toContain("to see what it costs");
    expect(seen).toContain("An empty line continues a turn that was cut off.");
    expect(asked).toHaveLength(8);
  });

  test("[CLI-16] a command that there is not is told with what was meant, or where all are listed", async () => {
    const { seen } = await talked([], ["/checkpoint", "/xylophone", "/rewind"]);
    expect(seen).toContain("there is no /checkpoint; did you mean /checkpoints?");
    expect(seen).toContain("there is no /xylophone; /help lists the commands");
    expect(seen).toMatch(/^[A-Z_]+: .+\ntry: .+/m);
  });
});

describe("whoever is asked by a call", () => {
  test("[CLI-16] says yes, no, or why not; whatever else is no consent", async () => {
    const script = [...["y", "YES", "n", "", "too late"].map(() => calling("deploy")), { text: "Done." }];
    const { calls, seen } = await talked(script, ["go", "y", "YES", "n", "", "too late"]);
    expect(calls).toEqual(["deploy success", "deploy success", "deploy failed", "deploy failed", "deploy failed"]);
    expect(seen).toContain("deploy {}");
  });

  test("[CLI-16] sees the whole of what consent is asked for, and nothing in it is obeyed by the terminal", async () => {
    const command = `${"echo hello; ".repeat(30)}rm -rf work \u001b[2K\u202e`;
    const { seen } = await talked(
      [{ calls: [{ name: "deploy", input: { command } }] }, { text: "Done." }],
      ["go", "n"],
    );
    expect(seen.replaceAll(/\n */g, " ")).toContain(`rm -rf work \\u001b[2K\\u202e"}`);
    const question = { name: "ask_user", input: { question: "Which\u001b[2K?", options: ["r\u001b[2Ked"] } };
    const other = await talked([{ calls: [question] }, { text: "Done." }], ["go", "1"]);
    expect(other.seen).toContain("Which�[2K?\n  1  r�[2Ked");
  });

  test("[CLI-16] is asked about the calls of one answer one after the other, and who leaves is asked no more", async () => {
    const question = { name: "ask_user", input: { question: "Which?" } };
    const calls = [...calling("deploy", "deploy").calls, question];
    const { asked, calls: ended } = await talked([{ calls }, { text: "Done." }], ["go", "y", "n", "red"]);
    expect(asked.slice(1, 4)).toEqual([...Array<string>(2).fill("allow it? y, n, or why not › "), "answer › "]);
    expect(ended.toSorted()).toEqual(["ask_user success", "deploy failed", "deploy success"]);
    const left = await talked([{ calls }, { text: "Done." }], ["go", "y", "/exit", "never read"]);
    expect(left.calls).toEqual(["deploy success"]);
    expect(left.asked).toHaveLength(3);
    expect(left.seen).toContain("deploy, ask_user wait for you");
  });

  test("[CLI-16] and who leaves instead leaves it waiting", async () => {
    const { calls, seen } = await talked([calling("deploy"), { text: "Done." }], ["go", undefined]);
    expect(calls).toEqual([]);
    expect(seen).toContain("waits");
  });

  test("[CLI-16] answers a question with one of its options, by number, or in words", async () => {
    const question = { name: "ask_user", input: { question: "Which?", options: ["red", "blue"] } };
    const script = [{ calls: [question] }, { calls: [question] }, { calls: [question] }, { text: "Done." }];
    const { seen, asked, calls } = await talked(script, ["go", "2", "7", "neither"]);
    expect(seen).toContain("Which?");
    expect(seen).toContain("  2  blue");
    expect(asked.filter((prompt) => prompt.startsWith("answer"))).toHaveLength(3);
    expect(calls).toEqual(["ask_user success", "ask_user success", "ask_user success"]);
  });
});

describe("what a person does beside talking", () => {
  const busy: Script = [calling(...Array.from({ length: 17 }, () => "note")), { text: "Done." }];

  test("[CLI-16] rewinds only when that is wanted, is told why there is nothing to fork, and sees the newest of many calls", async () => {
    const { seen, calls, sessions } = await talked(busy, [
      "go",
      "/checkpoints",
      "/rewind",
      "n",
      "/fork aside",
      "/rewind",
      "yes",
    ]);
    expect(seen).toContain("… 2 earlier");
    expect(seen).toContain("nothing was changed");
    expect(seen).not.toContain("--dry-run"); // a flag of another command
    expect(seen).toMatch(/^BAD_OPTION: .*none to fork/m);
    expect(calls.filter((one) => one.endsWith("taken back"))).toHaveLength(1);
    expect(sessions).toEqual(["talk"]);
  });

  test("[CLI-16] knows what it cost, here and in all, and what the model saw", async () => {
    const prices = { input: 1_000_000, output: 2_000_000, cached: 0, currency: "EUR" };
    const script = [{ text: "Done.", usage: { input: 3, output: 2 } }] as Script;
    const { seen } = await talked(script, ["go", "/cost", "/context", "/plan"], prices);
    expect(seen).toMatch(/here: 1 step, .* EUR/);
    expect(seen).toMatch(/the whole session: [^]* EUR/);
    expect(seen).not.toContain("to see what it costs");
    expect(seen).toContain("plan mode: it looks, and changes nothing");
  });
});
