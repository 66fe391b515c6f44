import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, desk, project } from "../../../test/support/cli.ts";
import { openTerminal } from "../../../test/support/terminal.ts";
import type { Script } from "../../adapters/scripted/entry.ts";
import { defineTool } from "../../index.ts";
import { asking } from "./agent.ts";
import { type ProviderServer, startProviderServer } from "../../testing/entry.ts";

const at = desk();
let server: ProviderServer;
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await server.close();
});

function terminal(argv: readonly string[]) {
  const opened = openTerminal([process.execPath, BIN, ...argv], { cwd: at.folder });
  children.push(opened.child);
  return opened;
}

/** A conversation in a terminal, at its first prompt. */
async function talk(model: string) {
  const chat = terminal(["chat", "--model", model, "--session", "talk"]);
  await chat.sees("› ");
  return chat;
}

async function provider(script: Script, first = 0): Promise<string> {
  server = await startProviderServer({ script, first, compatible: true });
  return `${server.url}/v1#model`;
}

const writes = (path: string, text: string) => ({ calls: [{ name: "write_file", input: { path, text } }] });

describe("holdfast run", () => {
  test("[CLI-15] does a task in the folder with any server's model, tells it as data, and keeps it as a session", async () => {
    const model = await provider([{ text: "I write it.", ...writes("a.txt", "one") }, { text: "Done." }]);
    writeFileSync(join(at.folder, "AGENTS.md"), "Always be brief.");
    const told = await at.json("run", "write a file", "--model", model, "--session", "job");
    expect(told).toMatchObject({ ok: true, session: "job", status: "done", text: "Done.", spent: { steps: 2 } });
    expect(readFileSync(join(at.folder, "a.txt"), "utf8")).toBe("one");
    expect(server.refused).toEqual([]);
    expect(JSON.stringify(server.requests[0]?.body)).toContain("Always be brief.");
    expect((await at.run("show", "job")).out).toContain("write_file");
    expect(await at.run("rewind", "job", "--before", "last")).toMatchObject({ code: 0 });
    expect(existsSync(join(at.folder, "a.txt"))).toBe(false);
  });

  test("[CLI-15] streams words and calls for people, and says how a turn ended that is not done", async () => {
    const model = await provider([
      { text: "Let me ask.", calls: [{ name: "ask_user", input: { question: "Which?" } }] },
    ]);
    const { code, out, err } = await at.run("run", "choose", "--model", model, "--session", "job");
    expect(code).toBe(1);
    expect(out).toContain('ask_user {"question":"Which?"}\nask_user waits for you');
    expect(err).toMatch(/^try: holdfast chat --session job$/m);
    const again = await at.run("run", "--yes", "--model", model, "--session", "job");
    expect(again).toMatchObject({ code: 1, out: expect.stringMatching(/^ask_user waits for you$/m) as string });
  });

  test("[CLI-16] a command that may change something waits for consent, and with it is kept like any call", async () => {
    const shell = (command: string) => ({ calls: [{ name: "shell", input: { command } }] });
    const model = await provider([shell("ls"), shell("echo one > a.txt"), { text: "Done." }]);
    const waiting = await at.json("run", "make it", "--model", model, "--session", "job");
    expect(waiting).toMatchObject({ ok: false, status: "waiting", waiting: [{ tool: "shell" }] });
    expect(existsSync(join(at.folder, "a.txt"))).toBe(false);
    expect(await at.json("run", "--model", model, "--session", "job", "--yes")).toMatchObject({ ok: true });
    expect(readFileSync(join(at.folder, "a.txt"), "utf8")).toBe("one\n");
    expect(await at.run("rewind", "job", "--before", "last")).toMatchObject({ code: 0 });
    expect(existsSync(join(at.folder, "a.txt"))).toBe(false);
    expect(server.refused).toEqual([]);
  });

  test("[CLI-15] plan mode offers nothing that could change something, and changes nothing", async () => {
    const model = await provider([writes("a.txt", "one"), { text: "I cannot." }]);
    expect(await at.json("run", "write", "--model", model, "--plan")).toMatchObject({ ok: true });
    expect(existsSync(join(at.folder, "a.txt"))).toBe(false);
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain("write_file");
  });

  test("[CLI-15] bad input is refused before anything is made: no task, no model, a wrong one, no key", async () => {
    const model = await provider([]);
    for (const argv of [
      ["run"],
      ["run", "a", "task", "--model", model],
      ["run", "task"],
      ["run", "task", "--model", "antropic:x"],
      ["run", "task", "--model", "anthropic:x"],
      ["run", "task", "--model", model.split("#")[0] ?? ""],
      ["run", "task", "--model", model, "--steps", "few"],
      ["chat", "hello"],
      ["chat", "--json", "--model", model],
    ])
      expect(await at.run(...argv)).toMatchObject({ code: 2 });
    expect(existsSync(join(at.folder, ".holdfast"))).toBe(false);
  });

  test("[CLI-36] a model that nobody answers for is told with its name, its address and what to do", async () => {
    const model = await provider([]);
    const { port } = new URL(model);
    await server.close();
    const address = `http://127.0.0.1:${port}/v1?key=hunter3#model`;
    const { code, out, err } = await at.run("run", "hello", "--model", address);
    expect(code).toBe(1);
    expect(out).toContain(
      `openai-compatible:model cannot be asked: unreachable: Connection error at http://127.0.0.1:${port}/v1: ECONNREFUSED`,
    );
    expect(err).toContain("try: start the server, or correct its address");
    expect(out + err).not.toContain("hunter");
  });

  test("[CLI-17] killed in the middle of a turn, it goes on where it stood, and no provider refuses it", async () => {
    const model = await provider([
      { text: "First.", ...writes("a.txt", "one") },
      { text: "slow ".repeat(200), slowMs: 50 },
      { text: "Second.", ...writes("b.txt", "two") },
      { text: "Done." },
    ]);
    const child = spawn(process.execPath, [BIN, "run", "two files", "--model", model, "--session", "job"], {
      cwd: at.folder,
    });
    children.push(child);
    await said(child, "slow slow");
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(await at.json("sessions")).toMatchObject({ sessions: [{ id: "job", writer: "died" }] });
    const told = await at.json("run", "--model", model, "--session", "job");
    expect(told).toMatchObject({ ok: true, text: "Done." });
    expect(readFileSync(join(at.folder, "b.txt"), "utf8")).toBe("two");
    expect(server.refused).toEqual([]);
    expect(await at.run("run", "--model", model, "--session", "job")).toMatchObject({ code: 2 });
  });

  test("[CLI-17] interrupted once, what runs is taken back, the turn is over, and the session is closed in order", async () => {
    const model = await provider([{ text: "slow ".repeat(200), slowMs: 50 }]);
    const child = spawn(process.execPath, [BIN, "run", "talk", "--model", model, "--session", "job"], {
      cwd: at.folder,
    });
    children.push(child);
    await said(child, "slow slow");
    child.kill("SIGINT");
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect(code).toBe(1);
    expect(await at.json("sessions")).toMatchObject({ sessions: [{ id: "job", writer: "closed", openCalls: 0 }] });
  });
});

test("[CLI-16] whatever runs a program or reaches outside waits for consent, and nothing else does", async () => {
  await provider([]);
  const waits = async (access: "read" | "write" | "execute" | "external") =>
    asking(defineTool({ name: "tool", access, run: () => "ran" })).waitsFor({});
  expect(await Promise.all([waits("read"), waits("write"), waits("execute"), waits("external")])).toEqual([
    undefined,
    undefined,
    "approval",
    "approval",
  ]);
});

describe("what holdfast.toml says", () => {
  const cutOff = async () => {
    const model = await provider([
      writes("a.txt", "one"),
      { calls: [{ name: "shell", input: { command: "echo begun; sleep 60" } }] },
    ]);
    const child = spawn(process.execPath, [BIN, "run", "go", "--yes", "--model", model, "--session", "job"], {
      cwd: at.folder,
      env: { PATH: process.env["PATH"] },
    });
    children.push(child);
    await said(child, "│ begun"); // consented to, and under way
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    return model;
  };

  test("[CLI-18] auto_recover_from_crash = false: a session that was cut off is told and left exactly as it is", async () => {
    const model = await cutOff();
    project(at.folder, "[context]\nauto_recover_from_crash = false");
    const before = await at.json("show", "job", "--all");
    const refused = await at.json("run", "go on", "--model", model, "--session", "job");
    expect(refused).toMatchObject({ ok: false, code: "RECOVERY_OFF", details: { session: "job" } });
    expect(await at.json("show", "job", "--all")).toEqual(before);
    at.env["HOLDFAST_CONTEXT_AUTO_RECOVER_FROM_CRASH"] = "true";
    await server.close();
    const again = await provider(() => ({ text: "Gone on." }), 50);
    expect(await at.json("run", "--model", again, "--session", "job")).toMatchObject({ ok: true, text: "Gone on." });
  });

  test("[CLI-18] warn_on_invariant_violations = false: what was repaired is not said, and is on record all the same", async () => {
    const turn = [writes("a.txt", "one"), { text: "Done." }, { text: "Nothing." }];
    const url = (await provider([...turn, ...turn])).replace("/v1#model", "");
    Object.assign(at.env, { ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: url });
    // What was called in act mode is no tool of plan mode, which the history has to be read for.
    const turns = async (session: string) => {
      const argv = ["--model", "anthropic:model", "--session", session];
      await at.run("run", "write", ...argv);
      return at.run("run", "and now?", "--plan", ...argv);
    };
    expect((await turns("loud")).out).toContain("repaired for the model: unknown-tool");
    project(at.folder, "[context]\nwarn_on_invariant_violations = false");
    expect(await turns("quiet")).toMatchObject({ code: 0, out: expect.not.stringContaining("repaired") as string });
    expect((await at.run("show", "quiet")).out).toContain("unknown-tool of write_file");
  });

  test("[CLI-18] preferences of the user and of the project both stand in the request; a small window squeezes it", async () => {
    const file = join(at.folder, "home", ".config", "holdfast", "holdfast.toml");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'preferences = ["Answer in rhymes."]');
    project(at.folder, 'window = 9_000\npreferences = ["Tabs, please."]');
    const names = Array.from({ length: 8 }, (_, nth) => `file-${nth}.txt`);
    const lines = (name: string) =>
      Array.from({ length: 40 }, (_, nth) => `${name} ${nth}: ${nth * 7919} and ${nth ** 3}`);
    for (const name of names) writeFileSync(join(at.folder, name), lines(name).join("\n"));
    const reads = names.map((path) => ({ calls: [{ name: "read_file", input: { path } }] }));
    const model = await provider([...reads, { text: "Read." }]);
    const { out, code } = await at.run("run", "read all", "--model", model, "--session", "job");
    expect(code).toBe(0);
    expect(out).toContain("the view was squeezed");
    const asked = JSON.stringify(server.requests.at(-1)?.body);
    expect(asked).toContain("Answer in rhymes.");
    expect(asked).toContain("Tabs, please.");
    expect(
      (await at.json<{ settings: Record<string, { value: unknown }> }>("config")).settings["preferences"]?.value,
    ).toEqual(["Tabs, please.", "Answer in rhymes."]);
  });

  test("[CLI-18] what the model asks to remember stands in every later request of its session, and in no other session", async () => {
    const rule = { what: "rule", name: "no-push", text: "Leave the main branch alone." };
    const model = await provider([
      { calls: [{ name: "remember", input: rule }] },
      { text: "I will." },
      { text: "Still." },
      { text: "Which?" },
    ]);
    const said = (nth: number) => JSON.stringify(server.requests[nth]?.body);
    expect(await at.json("run", "never push", "--model", model, "--session", "job")).toMatchObject({ ok: true });
    expect(await at.json("run", "go on", "--model", model, "--session", "job")).toMatchObject({ ok: true });
    expect(await at.json("run", "hello", "--model", model, "--session", "other")).toMatchObject({ ok: true });
    const times = (text: string) => text.split(rule.text).length - 1;
    expect([0, 1, 2, 3].map((nth) => times(said(nth)) > 1)).toEqual([false, true, true, false]); // the call, and the page
    expect(said(3)).not.toContain(rule.text);
  });

  test("[CLI-18] with prices a turn says what it cost and stops at its bound; a bound without prices is refused", async () => {
    const dear = { usage: { input: 100_000, output: 10_000 } };
    const model = await provider([
      { ...writes("a.txt", "one"), ...dear },
      { text: "Never said.", ...dear },
    ]);
    project(at.folder, "[limits]\ncost = 0.2");
    expect(await at.run("run", "write", "--model", model)).toMatchObject({ code: 2 });
    project(at.folder, "[limits]\ncost = 0.2\n[prices]\ninput = 2\noutput = 10");
    const { out, err, code } = await at.run("run", "write", "--model", model);
    expect(out).toContain("a limit was reached: cost");
    expect(err).toContain("100\u00a0000 tokens read, 10\u00a0000 written, 0.30 USD");
    expect(code).toBe(1);
  });
});

describe("holdfast chat, in a terminal", () => {
  test("[CLI-16] talks turn by turn, answers questions, and lists, rewinds and forks in between", async () => {
    const model = await provider([
      { text: "I write it.", ...writes("a.txt", "one") },
      { text: "Written." },
      { calls: [{ name: "ask_user", input: { question: "Which colour?", options: ["red", "blue"] } }] },
      { text: "So be it." },
    ]);
    const chat = await talk(model);
    await chat.types("write a file\r", "Written.");
    expect(readFileSync(join(at.folder, "a.txt"), "utf8")).toBe("one");
    await chat.types("/checkpoints\r", "write_file  success");
    await chat.types("/context\r", "conversation");
    await chat.types("/cost\r", "[prices]");
    await chat.types("/fork other\r", "holdfast chat --session other");
    await chat.types("/rewind\r", "do it?");
    await chat.types("y\r", "rewound talk");
    expect(existsSync(join(at.folder, "a.txt"))).toBe(false);
    await chat.types("/plan\r", "plan › ");
    await chat.types("/rewnd\r", "did you mean /rewind?");
    await chat.types("/act\r", "act mode");
    await chat.types("which?\r", "answer › ");
    await chat.types("2\r", "So be it.");
    await chat.types("/exit\r", "to continue: ");
    expect(await chat.ended).toBe(0);
    expect(server.refused).toEqual([]);
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("blue");
    const { sessions } = await at.json<{ sessions: { id: string }[] }>("sessions");
    expect(sessions.map(({ id }) => id).sort()).toEqual(["other", "talk"]);
  });

  test("[CLI-16] [CLI-17] asks before a command runs, and takes back what one had done that is cancelled", async () => {
    const shell = (command: string) => ({ calls: [{ name: "shell", input: { command } }] });
    const model = await provider([
      shell("echo no > no.txt"),
      { text: "As you wish." },
      shell("echo half > half.txt; echo begun; sleep 60"),
      { text: "Never said." },
      { text: "Gone on." },
    ]);
    const chat = await talk(model);
    await chat.types("make no.txt\r", "allow it?");
    await chat.types("rather not\r", "As you wish.");
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("rather not");
    await chat.types("make half.txt\r", "allow it?");
    await chat.types("y\r", "│ begun");
    await chat.types("\u0003", "cancelled; what was running has changed nothing");
    for (const name of ["no.txt", "half.txt"]) expect(existsSync(join(at.folder, name))).toBe(false);
    await chat.types("/exit\r", "to continue: ");
    expect(await chat.ended).toBe(0);
    expect(server.refused).toEqual([]);
  });

  test("[CLI-16] what was typed before it is asked consents to nothing, and whoever leaves when asked leaves it waiting", async () => {
    const shell = { calls: [{ name: "shell", input: { command: "echo no > no.txt" } }] };
    const model = await provider([
      { text: "Soon. ".repeat(20), slowMs: 50, ...shell },
      { text: "As you wish." },
      shell,
    ]);
    const chat = await talk(model);
    await chat.types("make no.txt\r", "Soon.");
    await chat.types("y\r", "allow it?");
    await chat.types("n\r", "As you wish.");
    await chat.sees("allow it?"); // of the turn that began with `y`
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(String.raw`"content":"y\n`);
    await chat.types("/exit\r", "shell waits for you");
    expect(await chat.ended).toBe(0);
    expect(existsSync(join(at.folder, "no.txt"))).toBe(false);
  });

  test("[CLI-16] what ends while somebody is asked is told above the question, which is shown again", async () => {
    const calls = [1, 2].map((n) => ({ name: "shell", input: { command: `echo ${n} > ${n}.txt` } }));
    const chat = await talk(await provider([{ calls }, { text: "Done." }]));
    await chat.types("both\r", "allow it?");
    await chat.types("y\r", "echo 1 > 1.txt"); // has ended
    await chat.sees("allow it?");
    await chat.types("y\r", "Done.");
    await chat.types("/exit\r", "to continue: ");
    expect(await chat.ended).toBe(0);
    expect([1, 2].map((n) => readFileSync(join(at.folder, `${n}.txt`), "utf8"))).toEqual(["1\n", "2\n"]);
  });

  test("[CLI-17] Ctrl-C once cancels the turn and keeps the conversation, twice leaves", async () => {
    const model = await provider([{ text: "slow ".repeat(200), slowMs: 50 }, { text: "Here I am." }]);
    const chat = await talk(model);
    await chat.types("talk\r", "slow slow");
    await chat.types("\u0003", "cancelled; what was running has changed nothing");
    await chat.types("still there?\r", "Here I am.");
    await chat.types("\u0003", "press Ctrl-C again to leave");
    await chat.types("\u0003", "to continue: ");
    expect(await chat.ended).toBe(0);
    expect(server.refused).toEqual([]);
    expect(await at.json("sessions")).toMatchObject({ sessions: [{ id: "talk", writer: "closed" }] });
  });
});

/** Waits until a process has said something. */
function said(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let heard = "";
    child.stdout?.on("data", (piece: Buffer) => {
      heard += piece.toString("utf8");
      if (heard.includes(words)) resolve();
    });
    child.once("exit", () => reject(new Error(`it ended after ${JSON.stringify(heard)}`)));
  });
}
