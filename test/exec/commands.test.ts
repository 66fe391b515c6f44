import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import {
  type BackgroundCommand,
  type Call,
  defineTool,
  type ExecNote,
  type ExecResult,
  HoldfastError,
  realHost,
} from "../../src/index.ts";
import { CallCommands } from "../../src/exec/commands.ts";
import { execPart } from "../../src/exec/evidence.ts";
import { eachDriver, runningLike, missing, portrait, withCommands } from "../support/commands.ts";
import { freshRoot, work } from "../support/workspaces.ts";

/** A tool that does with its call whatever the test says. */
function hands(run: Parameters<typeof defineTool>[0]["run"], access: "execute" | "write" | "external" = "execute") {
  return defineTool({ name: "hands", access, run });
}

let unique = 0;
/** Seconds that nobody else sleeps, so that a process is known by them. */
function longTime(): string {
  unique += 1;
  return `${70_000 + unique}.${process.pid}`;
}

eachDriver((driver) => {
  test("[EXEC-2] exit codes and signals are told as they are, whatever the output says", async () => {
    const { sh, results } = await withCommands(driver);
    for (const line of ["exit 7", "kill -9 $$", "exit 137", "echo 'error: failed' >&2", "nowhere-to-be-found"])
      await sh(line);
    expect(results.map(({ end, exitCode, signal }) => [end, exitCode, signal])).toEqual([
      ["exited", 7, null],
      ["signaled", null, "SIGKILL"],
      ["exited", 137, null],
      ["exited", 0, null],
      ["exited", 127, null],
    ]);
    expect(results[3]?.stderr.text).toBe("error: failed\n");
  });

  test("[EXEC-2] a program with arguments is read by no shell", async () => {
    const { sh, results } = await withCommands(driver);
    await sh(["printf", "%s|", "a b;c", "$HOME", "*"]);
    expect(results[0]?.stdout.text).toBe("a b;c|$HOME|*|");
  });

  test("[EXEC-3] output is heard as it comes, and told to whoever follows the call", async () => {
    const heard: string[] = [];
    let beforeEnd = false;
    const tool = hands(async (_, call) => {
      await call.exec("echo one; sleep 0.2; echo two >&2", {
        onOutput: (text, stream) => heard.push(`${stream} ${text}`),
      });
      beforeEnd = heard.length > 0;
      return "done";
    });
    const { session } = await withCommands(driver, { tools: [tool] });
    const progress: string[] = [];
    await session.runTool({ name: "hands", input: {} }, { onProgress: (text) => progress.push(text) });
    expect([heard, progress, beforeEnd]).toEqual([["stdout one\n", "stderr two\n"], ["one\n", "two\n"], true]);
  });

  test("[EXEC-3] the result holds beginning and end, and the whole is kept under its name, also of a call that was undone", async () => {
    const { sh, results, session } = await withCommands(driver, { exec: { limits: { shownBytes: 2000 } } });
    await sh("seq 1 20000; printf 'ü%.0s' $(seq 3000) >&2", { undo: true });
    const [{ stdout, stderr }] = results as [ExecResult];
    expect(stdout.text).toMatch(/^1\n2\n3\n[^]*bytes left out[^]*19999\n20000\n$/);
    expect(stderr.text).toMatch(/^ü+\n… \d+ bytes left out …\nü+$/);
    expect([stdout.truncated, stdout.bytes, Buffer.byteLength(stdout.text) < 2100]).toEqual([true, 108_894, true]);
    const pieces = [];
    for await (const piece of session.journal.readBlob(stdout.whole!)) pieces.push(piece);
    const whole = Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join("");
    expect(Buffer.concat(pieces).toString()).toBe(whole);
    const [note] = session.state.root.get("holdfast.exec") as readonly ExecNote[];
    expect(note).toMatchObject({ driver, end: "exited", exitCode: 0, stdout: stdout.whole, stderr: stderr.whole });
  });

  test("[EXEC-40] the whole of it is held in memory until its call has ended, also one that was undone, and no longer", async () => {
    const { sh, session } = await withCommands(driver, { exec: { limits: { shownBytes: 2000 } } });
    for (const undo of [false, true]) await sh("seq 1 20000", { undo });
    const notes = session.state.root.get("holdfast.exec") as readonly ExecNote[];
    expect(notes.map(({ stdout }) => typeof stdout)).toEqual(["string", "string"]);
    expect(execPart.change([], notes)?.contents).toEqual([]);
    for (const { stdout } of notes) {
      const pieces = [];
      for await (const piece of session.journal.readBlob(stdout!)) pieces.push(piece);
      expect(Buffer.concat(pieces).length).toBe(108_894);
    }
  });

  test("[TX-38] a call whose commands cannot be taken back before it tries again ends with that, and everything is undone", async () => {
    const tool = defineTool({
      name: "tries",
      access: "execute",
      validators: [() => "once more"],
      run: async (_, call) => (await call.exec("echo work > made")).exitCode,
    });
    const { session, root } = await withCommands(driver, { tools: [tool] });
    vi.spyOn(CallCommands.prototype, "end").mockRejectedValueOnce(new Error("not now"));
    const { ok, output } = await session.runTool({ name: "tries", input: {} });
    expect([ok, output, session.openCalls]).toEqual([false, expect.stringContaining("not now"), []]);
    expect([existsSync(join(root, "made")), session.state.poisoned]).toEqual([false, false]);
  });

  test("[EXEC-3] a command that never stops talking is ended at the bound", async () => {
    const { sh, results } = await withCommands(driver);
    await sh("yes", { options: { limits: { outputBytes: 100_000 } } });
    expect([results[0]?.end, results[0]?.stdout.bytes]).toEqual(["output-limit", 100_000]);
  });

  test("[EXEC-4] a command finds its folder, its environment and its input", async () => {
    const line = 'pwd; cat f; echo; echo "$COLOUR ${SHAPE-none} $SIZE"; cat; test -n "$PATH" && echo path';
    const options = { cwd: "sub/folder", env: { SHAPE: undefined, SIZE: "big" }, stdin: "from us" };
    const tool = hands(async (_, call) => (await call.exec(line, options)).stdout.text);
    const { sh, session, put, root } = await withCommands(driver, {
      tools: [tool],
      exec: { env: { COLOUR: "blue", SHAPE: "round" } },
    });
    put("sub/folder/f", "here");
    expect((await session.runTool({ name: "hands", input: {} })).output).toBe(
      `${root}/sub/folder\nhere\nblue none big\nfrom uspath\n`,
    );
    for (const cwd of ["../up", "/etc"]) expect((await sh("pwd", { options: { cwd } })).reason).toBe("FILE_BAD_PATH");
  });

  test("[EXEC-29] a command whose folder is no folder of the workspace is not started, and one that the call has made is found", async () => {
    const outcomes: unknown[] = [];
    const tool = hands(async (_, call) => {
      await call.files.writeText("mine/f", "x");
      outcomes.push((await call.exec("pwd; mkdir made", { cwd: "mine" })).stdout.text);
      outcomes.push((await call.exec("cat ../f", { cwd: "mine/made" })).stdout.text);
      await call.exec("echo never > ../never", { cwd: "mine/f" }).catch((error) => outcomes.push(error.code));
      return "kept";
    });
    const { sh, session, put, on, root, results } = await withCommands(driver, { tools: [tool] });
    put("file", "x");
    mkdirSync(on("real"));
    symlinkSync("real", on("inward"));
    symlinkSync("/", on("outward"));
    const folders = { "not/there": "FILE_NOT_FOUND", file: "FILE_NOT_FOLDER", outward: "FILE_BAD_PATH" };
    for (const [cwd, reason] of Object.entries(folders))
      expect((await sh("echo ran > ran", { keep: true, options: { cwd } })).reason).toBe(reason);
    expect(results).toEqual([]);
    expect((await sh("echo ran > ran", { options: { cwd: "inward" } })).ok).toBe(true);
    expect((await session.runTool({ name: "hands", input: {} })).output).toBe("kept");
    expect(outcomes).toEqual([`${root}/mine\n`, "x", "FILE_NOT_FOLDER"]);
    expect(["real/ran", "mine/f", "never"].map((path) => existsSync(on(path)))).toEqual([true, true, false]);
  });

  test.each([
    { when: "before the first command", first: undefined },
    { when: "between two commands", first: "true" },
    { when: "after a command had written it", first: "echo once > f" },
    { when: "after a command had removed it", first: "rm f" },
  ])("[EXEC-34] what somebody else writes where the call has written, $when, is not lost", async ({ first }) => {
    const said: unknown[] = [];
    const tool = hands(async (_, call) => {
      if (first !== undefined) await call.exec(first);
      await call.files.writeText("f", "ours");
      await call.files.writeText("new/g", "ours");
      if (theirs) put("f", "theirs");
      said.push((await call.exec("cat f new/g")).stdout.text);
      await call.files.writeText("f", "ours again");
      said.push((await call.exec("cat f")).stdout.text);
      return "kept";
    });
    let theirs = true;
    const { session, put, text, rescued } = await withCommands(driver, { tools: [tool] });
    put("f", "original");
    const { ok, reason } = await session.runTool({ name: "hands", input: {} });
    expect([ok, reason]).toEqual([false, expect.stringMatching(/conflict/i)]);
    expect([text("f"), ...rescued()]).toContain("theirs");
    theirs = false;
    const alone = await session.runTool({ name: "hands", input: {} });
    expect([alone.ok, said.slice(-2), text("f")]).toEqual([true, ["oursours", "ours again"], "ours again"]);
  });

  test("[EXEC-30] an option that cannot work or does not exist is refused by its name, and nothing runs", async () => {
    const { sh, results } = await withCommands(driver);
    for (const [option, options] of [
      ["cwd", { cwd: 7 }],
      ["timeMs", { timeMs: 5 }],
      ["uncovered", { uncovered: "repot" }],
      ["limits.timeMs", { limits: { timeMs: -1 } }],
    ] as const) {
      const { reason, output } = await sh("true", { options: options as never });
      expect([reason, JSON.stringify(output)]).toEqual(["BAD_OPTION", expect.stringContaining(option)]);
    }
    expect(results).toEqual([]);
  });

  test.runIf(realHost.platform === "linux")(
    "[EXEC-4] memory and processes are bounded where the system can",
    async () => {
      const { sh, results } = await withCommands(driver);
      const limits = { memoryBytes: 512 * 1024 * 1024, processes: 4321 };
      await sh("grep -E 'address space|processes' /proc/self/limits", { options: { limits } });
      expect(results[0]?.stdout.text).toMatch(/Max processes +4321 [^]*Max address space +536870912 /);
      expect(results[0]?.protection.unbounded).toEqual([]);
    },
  );

  test("[EXEC-5] [K40] when a command runs out of time nothing that it started is running, and nothing that it did is left", async () => {
    const time = longTime();
    const { sh, results, put, root } = await withCommands(driver);
    put("a", "old");
    const before = portrait(root, { times: true });
    const line = `trap '' TERM; echo new > a; sleep ${time} & setsid sleep ${time} & (setsid sh -c 'sleep ${time}; echo late > late' &) ; sleep ${time}`;
    const { ok } = await sh(line, { options: { limits: { timeMs: 400 } } });
    expect([ok, results[0]?.end]).toEqual([false, "timeout"]);
    expect(runningLike(time)).toEqual([]);
    expect(portrait(root, { times: true })).toEqual(before);
  });

  test("[EXEC-5] a command that runs out of time is asked to end, with everything it started, and has half a second for it", async () => {
    const { sh, results, text } = await withCommands(driver);
    const cleans = (name: string) =>
      `trap 'sleep 0.05; echo ${name} > ${name}; exit 5' TERM; while :; do sleep 0.02; done`;
    const line = `setsid sh -c "${cleans("daemon")}" & ${cleans("main")}`;
    const { reason } = await sh(line, { options: { limits: { timeMs: 1000 } }, keep: true });
    const [{ end, exitCode, elapsed, strays }] = results as [ExecResult];
    expect([reason, end, exitCode, text("main"), text("daemon")]).toEqual([
      "succeeded",
      "timeout",
      5,
      "main\n",
      "daemon\n",
    ]);
    expect([strays, elapsed > 1050]).toEqual([0, true]);
  });

  test("[EXEC-5] a call that is aborted ends its commands before it is closed", async () => {
    const time = longTime();
    const { session, put, root } = await withCommands(driver);
    put("a", "old");
    const before = portrait(root, { times: true });
    const stop = new AbortController();
    const line = `echo new > a; setsid sleep ${time} & echo begun; sleep ${time}`;
    const { status } = await session.runTool(
      { name: "shell", input: { line } },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect([status, runningLike(time), portrait(root, { times: true })]).toEqual(["canceled", [], before]);
  });

  test("[EXEC-5] what a command leaves running when it ends is ended and counted", async () => {
    const time = longTime();
    const { sh, results } = await withCommands(driver);
    await sh(`sleep ${time} & setsid sleep ${time} & echo away`);
    expect([results[0]?.end, results[0]?.strays, results[0]?.stdout.text]).toEqual(["exited", 2, "away\n"]);
    expect(runningLike(time)).toEqual([]);
  });

  test("[EXEC-6] a command waits for the calls before it, and the calls after it wait for the command", async () => {
    const write = defineTool<string>({
      name: "write",
      access: "write",
      async run(path, { files }) {
        await pause(60);
        await files.writeText(path, `${path} saw ${(await files.list()).map(({ name }) => name).join(",")}`);
      },
    });
    const { session, text } = await withCommands(driver, { tools: [write] });
    const outcomes = await session.runTools([
      { name: "write", input: "a" },
      { name: "write", input: "b" },
      { name: "shell", input: { line: "ls > c; sleep 0.1" } },
      { name: "shell", input: { line: "cat c > d" } },
      { name: "write", input: "e" },
    ]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
    expect([text("c"), text("d"), text("e")]).toEqual(["a\nb\nc\n", "a\nb\nc\n", "e saw a,b,c,d"]);
  });

  test("[EXEC-6] whoever is aborted while waiting for a command does not wait for it", async () => {
    const { session, text } = await withCommands(driver);
    const stop = new AbortController();
    const first = session.runTool({ name: "shell", input: { line: "sleep 0.4; echo x > a" } });
    const second = session.runTool({ name: "shell", input: { line: "echo y > a" } }, { signal: stop.signal });
    stop.abort();
    expect((await second).status).toBe("canceled");
    expect([(await first).ok, text("a")]).toEqual([true, "x\n"]);
  });

  test("[EXEC-7] commands and files of one call see each other, and are one change", async () => {
    const seen: string[] = [];
    let fails = true;
    const tool = hands(async (_, call) => {
      await call.files.writeText("made/one", "from files");
      await call.files.delete("gone");
      seen.push((await call.exec("cat made/one; ls; echo ' and shell' >> made/one; echo new > two")).stdout.text);
      seen.push(await call.files.readText("made/one"), await call.files.readText("two"));
      await call.files.writeText("two", "files again");
      await call.files.delete("old");
      seen.push((await call.exec("cat two; ls; rm made/one")).stdout.text);
      seen.push(String(await call.files.exists("made/one")));
      await call.files.writeText("two", "at last");
      return fails ? call.fail("no", "no") : "yes";
    });
    const { session, put, text, root } = await withCommands(driver, { tools: [tool] });
    put("old", "old");
    put("gone", "gone");
    const before = portrait(root, { times: true });
    expect((await session.runTool({ name: "hands", input: {} })).reason).toBe("no");
    expect(portrait(root, { times: true })).toEqual(before);
    fails = false;
    const { ok, callId } = await session.runTool({ name: "hands", input: {} });
    expect([ok, text("two"), existsSync(join(root, "made/one")), existsSync(join(root, "old"))]).toEqual([
      true,
      "at last",
      false,
      false,
    ]);
    expect(seen.slice(0, 5)).toEqual([
      "from filesmade\nold\n",
      "from files and shell\n",
      "new\n",
      "files againmade\ntwo\n",
      "false",
    ]);
    await session.rewind({ before: callId });
    expect([text("old"), text("gone"), text("two")]).toEqual(["old", "gone", undefined]);
  });

  test("[EXEC-9] what is not covered is told, and run all the same when that is asked for", async () => {
    const { sh, results, text } = await withCommands(driver);
    await sh("mkfifo pipe; echo new > a", { options: { uncovered: "report" } });
    expect(results[0]?.protection.uncovered).toEqual([{ path: "pipe", why: "special" }]);
    expect(text("a")).toBe("new\n");
  });

  test("[EXEC-12] a rewind takes back what a command did, in another process too, and a fork has it", async () => {
    const { sh, put, session, holdfast, text, root, store } = await withCommands(driver);
    put("src/a", "a");
    put("keep", "k");
    const { callId } = await sh("mv src lib; echo b > lib/a; rm keep; mkdir -m 700 new");
    const forked = await session.fork({ after: callId, as: "f", workspace: `${root}-fork` });
    expect(readFileSync(`${root}-fork/lib/a`, "utf8")).toBe("b\n");
    await forked.close();
    await session.close();
    await holdfast.close();
    const again = await work({}, { root, store });
    const { files } = await again.session.rewind({ before: callId });
    expect([files?.kept, files?.unlike]).toEqual([[], []]);
    expect([text("src/a"), text("keep"), existsSync(join(root, "lib")), existsSync(join(root, "new"))]).toEqual([
      "a",
      "k",
      false,
      false,
    ]);
  });

  test("[EXEC-12] [HOST-10] another process goes back past one call, and leaves alone what a command made before it", async () => {
    const { sh, put, session, holdfast, root, store } = await withCommands(driver);
    put("keep", "k");
    await sh("mkdir new; echo b > new/b");
    const { callId } = await sh("rm keep");
    await session.close();
    await holdfast.close();
    const again = await work({}, { root, store });
    const { files } = await again.session.rewind({ before: callId });
    expect(files).toEqual({ files: [{ path: "keep", does: "restore" }], kept: [], unlike: [] });
    expect([again.text("keep"), again.text("new/b")]).toEqual(["k", "b\n"]);
  });

  test("[EXEC-13] only a tool that is declared to runs commands, outside plan mode, and never inside another call", async () => {
    const started: string[] = [];
    const writes = defineTool({ name: "writes", access: "write", run: (_, call) => call.exec("echo x > x") });
    const outer = defineTool({
      name: "outer",
      access: "write",
      run: async (_, call) => (await call.run({ name: "shell", input: { line: "echo x > x" } })).reason,
    });
    const { session, text, sh } = await withCommands(driver, { tools: [writes, outer] });
    expect((await session.runTool({ name: "writes", input: {} })).reason).toBe("EXEC_NOT_ALLOWED");
    expect((await session.runTool({ name: "outer", input: {} })).output).toBe("denied");
    await session.setMode("plan");
    expect((await sh("echo x > x")).reason).toBe("denied");
    expect([text("x"), started]).toEqual([undefined, []]);
  });

  test("[EXEC-13] a part of a call cannot be rolled back past a command, and the call cannot go on as if", async () => {
    const tool = hands(async (_, call) => {
      const savepoint = call.savepoint();
      await call.exec("echo new > a");
      try {
        savepoint.rollback();
      } catch (error) {
        return HoldfastError.is(error, "EXEC_SAVEPOINT") ? "went on" : "odd";
      }
      return "rolled back";
    });
    const { session, put, text } = await withCommands(driver, { tools: [tool] });
    put("a", "old");
    expect([(await session.runTool({ name: "hands", input: {} })).reason, text("a")]).toEqual([
      "EXEC_SAVEPOINT",
      "old",
    ]);
  });

  test("[EXEC-13] a result that its validators refuse takes the commands of that attempt back", async () => {
    let attempts = 0;
    const tool = defineTool({
      name: "hands",
      access: "execute",
      validators: [(value) => (value === "2" ? undefined : "not yet")],
      async run(_, call) {
        attempts += 1;
        const { stdout } = await call.exec(`ls; echo x > try-${attempts}`);
        return stdout.text === "" ? String(attempts) : `saw ${stdout.text}`;
      },
    });
    const { session, root } = await withCommands(driver, { tools: [tool] });
    expect((await session.runTool({ name: "hands", input: {} })).ok).toBe(true);
    expect(readdirSync(root).filter((name) => name !== ".holdfast")).toEqual(["try-2"]);
  });

  test("[EXEC-18] a command that the disk refuses to put in place waits, and the next process puts it there", async () => {
    let broken = false;
    const port = {
      ...realHost,
      linkAs: (from: string, to: string) => {
        if (broken) throw Object.assign(new Error("the disk"), { code: "EIO" });
        realHost.linkAs(from, to);
      },
    };
    const { root, store, session, holdfast, sh, put, text } = await withCommands(driver, {}, undefined).then(
      async (first) => {
        await first.session.close();
        await first.holdfast.close();
        return withCommands(
          driver,
          { workspace: { root: first.root, port } },
          { root: first.root, store: first.store },
        );
      },
    );
    put("a", "old");
    broken = true;
    expect((await sh("echo new > a; echo fresh > b")).ok).toBe(true);
    await session.close().catch(() => {});
    await holdfast.close().catch(() => {});
    const again = await work({}, { root, store });
    expect([text("a"), text("b"), await again.files.readText("a")]).toEqual(["new\n", "fresh\n", "new\n"]);
    expect(readdirSync(join(root, ".holdfast/workspace/exec"))).toEqual([]);
  });
});

describe.skipIf(missing("overlay") !== undefined)("overlay", () => {
  test("[EXEC-10] an edit of somebody else while a command writes the same file is a conflict, and theirs stays", async () => {
    const { sh, put, text } = await withCommands("overlay");
    put("a", "old");
    put("b", "old");
    const running = sh("echo ours > a; echo ours > c; sleep 0.5");
    await pause(250);
    put("a", "theirs");
    put("d", "their new one");
    const { reason, status } = await running;
    expect([reason, status, text("a"), text("c"), text("d")]).toEqual([
      "FILE_CONFLICT",
      "failed",
      "theirs",
      undefined,
      "their new one",
    ]);
    const fine = sh("echo ours > b; sleep 0.4");
    await pause(200);
    put("a", "theirs again");
    expect([(await fine).ok, text("a"), text("b")]).toEqual([true, "theirs again", "ours\n"]);
  });

  test("[EXEC-14] [K35] a command sees nothing of what is ours, and cannot change it", async () => {
    const { sh, results, text, session } = await withCommands("overlay");
    const ours = `.holdfast-${"0".repeat(24)}-0`;
    const options = { uncovered: "report" } as const;
    await sh(`ls -A .holdfast; echo x > .holdfast/mine; rm -rf .holdfast; echo x > ${ours}; echo a > a`, { options });
    expect(results[0]?.stdout.text).toBe("");
    expect([text("a"), text(".holdfast/mine"), text(ours)]).toEqual(["a\n", undefined, undefined]);
    expect((await session.runTool({ name: "shell", input: { line: "true" } })).ok).toBe(true);
  });

  test.each(["sessions.db", "data/deep/sessions.db"])(
    "[EXEC-14] a command sees nothing of a store that lies among the files, and takes none of it elsewhere: %s",
    async (name) => {
      const { root } = freshRoot();
      const { sh, results, on, put, text, session } = await withCommands(
        "overlay",
        {},
        { root, store: join(root, name) },
      );
      put("data/deep/theirs", "theirs");
      mkdirSync(on(`${name}.blobs`), { recursive: true });
      put(`${name}.blobs/large`, "x");
      const beside = () => readdirSync(dirname(on(name))).filter((one) => one.startsWith("sessions.db"));
      const before = beside();
      expect(before.length).toBeGreaterThan(4);
      await sh("find . -name 'sessions.db*'; ls data/deep");
      expect([results[0]?.stdout.text, results[0]?.changed.paths]).toEqual(["theirs\n", []]);
      const { callId } = await sh(`cat ${name}; echo x > ${name}; rm -rf ${name}* ${name}.blobs; mv data moved`, {
        keep: true,
      });
      expect([text("moved/deep/theirs"), readdirSync(on("moved/deep"))]).toEqual(["theirs", ["theirs"]]);
      expect([results[1]?.stdout.text, beside(), text(`${name}.blobs/large`)]).toEqual(["", before, "x"]);
      await session.rewind({ before: callId });
      expect([text("data/deep/theirs"), text("moved/deep/theirs")]).toEqual(["theirs", undefined]);
    },
  );

  test.each([
    "sessions.db",
    "sessions.db.bak",
    "data/sessions.db-old",
    `sub/.holdfast-${"0".repeat(24)}-0`,
    ".HoldFast",
  ])(
    "[EXEC-39] what a command leaves under a name that is ours is refused by name, and told when asked to: %s",
    async (name) => {
      const { root } = freshRoot();
      const store = join(root, name.startsWith("data") ? "data/sessions.db" : "sessions.db");
      const { sh, results, put, text } = await withCommands("overlay", {}, { root, store });
      put("sub/theirs", "theirs");
      expect(await sh(`mkdir ${name} 2>/dev/null || echo mine > ${name}; echo a > a`)).toMatchObject({
        reason: "EXEC_NOT_COVERED",
        output: expect.stringContaining(`${name} (reserved)`),
      });
      expect(text("a")).toBeUndefined();
      const line = `rm -rf ${name}; mkdir ${name}; echo mine > ${name}/f; echo a > a`;
      expect((await sh(line, { options: { uncovered: "report" } })).ok).toBe(true);
      expect(results[0]?.protection.uncovered).toEqual([{ path: name, why: "reserved" }]);
      expect([results[0]?.changed.paths, text("a"), text(`${name}/f`)]).toEqual([["a"], "a\n", undefined]);
      expect((await sh(`echo mine > ${name}2; rm ${name}2; rmdir ${name} 2>/dev/null; true`)).ok).toBe(true);
    },
  );

  test("[EXEC-39] a folder that holds a store stays, and is told as that", async () => {
    const { root } = freshRoot();
    const store = join(root, "data/deep/sessions.db");
    const { sh, results, put, text, on, session } = await withCommands("overlay", {}, { root, store });
    put("data/a", "a");
    put("data/deep/b", "b");
    put("data/other/c", "c");
    const { callId } = await sh("rm -rf data; ls");
    expect(results[0]?.stdout.text).toBe("");
    const removed = ["data/a", "data/deep/b", "data/other", "data/other/c"];
    expect(results[0]?.changed.paths).toEqual(removed);
    expect([existsSync(store), readdirSync(on("data"))]).toEqual([true, ["deep"]]);
    expect((await sh("find data; echo new > data/deep/d")).ok).toBe(true);
    expect([results[1]?.stdout.text, text("data/deep/d")]).toEqual(["data\ndata/deep\n", "new\n"]);
    await session.rewind({ before: callId });
    expect([text("data/a"), text("data/deep/b"), text("data/deep/d")]).toEqual(["a", "b", undefined]);
    for (const made of ["echo x > data", "ln -s elsewhere data", "mkdir data; echo x > data/deep"]) {
      const { reason, output } = await sh(`rm -rf data; ${made}`);
      const at = made.includes("deep") ? "data/deep" : "data";
      expect([reason, output]).toEqual(["EXEC_NOT_COVERED", expect.stringContaining(`${at} (reserved)`)]);
      expect([text("data/deep/b"), existsSync(store)]).toEqual(["b", true]);
    }
  });

  test("[EXEC-39] the call that emptied a folder which holds a store can write into it, before its next command and after", async () => {
    const { root } = freshRoot();
    const outcomes: unknown[] = [];
    const tool = hands(async (_, call) => {
      await call.exec("rm -rf data");
      outcomes.push((await call.files.list("data")).map(({ name }) => name));
      await call.files.writeText("data/new", "new");
      outcomes.push((await call.exec("cat data/new")).stdout.text);
      return "kept";
    });
    const { session, put, text } = await withCommands(
      "overlay",
      { tools: [tool] },
      { root, store: join(root, "data/sessions.db") },
    );
    put("data/a", "a");
    expect(await session.runTool({ name: "hands", input: {} })).toMatchObject({ ok: true });
    expect([outcomes, text("data/new"), text("data/a")]).toEqual([[[], "new"], "new", undefined]);
  });

  test("[EXEC-14] a command sees nothing either of what a store makes beside itself while the call runs", async () => {
    const { root } = freshRoot();
    const seen: string[] = [];
    const made = ["sessions.db.blobs", "sessions.db-journal"];
    const tool = hands(async (_, call) => {
      seen.push((await call.exec("ls")).stdout.text);
      for (const name of made) mkdirSync(join(root, name)); // as the store does with its first large content
      seen.push((await call.exec("ls; mkdir -p sub; mv sessions.db.blobs sub; ls sub")).stdout.text);
      return "ok";
    });
    const at = { root, store: join(root, "sessions.db") };
    const { session, on } = await withCommands("overlay", { tools: [tool] }, at);
    expect((await session.runTool({ name: "hands", input: {} })).ok).toBe(true);
    expect(seen).toEqual(["", ""]);
    for (const name of made) expect(existsSync(on(name))).toBe(true);
  });

  test("[EXEC-14] a command cannot take the layers away, and reaches no process outside", async () => {
    const { sh, results, put, text, root } = await withCommands("overlay");
    put("a", "old");
    await sh(
      `umount -l '${root}' 2>&1; mount -t tmpfs none /mnt 2>&1; kill -9 ${process.pid} 2>&1; echo new > a; false`,
    );
    expect([results[0]?.exitCode, text("a")]).toEqual([1, "old"]);
  });
});

describe("portable", () => {
  test("[EXEC-38] a store that lies among the files is told before a command can reach it", async () => {
    const { root } = freshRoot();
    const { sh, results, text } = await withCommands("portable", {}, { root, store: join(root, "data/sessions.db") });
    const refused = await sh("echo ran > ran; rm -rf data");
    expect([refused.ok, refused.reason, text("ran")]).toEqual([false, "EXEC_NOT_COVERED", undefined]);
    expect(refused.output).toContain("data/sessions.db (store)");
    expect(refused.output).toContain("data/sessions.db-wal (store)");
    expect((await sh("echo ran > ran", { options: { uncovered: "report" } })).ok).toBe(true);
    expect(text("ran")).toBe("ran\n");
    expect(results[0]?.protection.uncovered).toContainEqual({ path: "data/sessions.db", why: "store" });
  });

  test("[EXEC-38] a store in the folder of ours is no hindrance", async () => {
    const { root } = freshRoot();
    const { sh } = await withCommands("portable", {}, { root, store: join(root, ".holdfast/sessions.db") });
    expect((await sh("true")).ok).toBe(true);
  });

  test("[EXEC-10] what somebody else writes while a command runs is in rescue when the command is undone", async () => {
    const { sh, put, text, rescued } = await withCommands("portable");
    put("a", "old");
    const running = sh("echo ours > c; sleep 0.5", { undo: true });
    await pause(250);
    put("a", "theirs");
    put("d", "their new one");
    await running;
    expect([text("a"), text("c"), text("d")]).toEqual(["old", undefined, undefined]);
    expect(rescued()).toEqual(expect.arrayContaining(["theirs", "their new one"]));
  });

  test("[EXEC-17] while a command changes the files themselves, nobody else's change comes between", async () => {
    const { sh, holdfast, text } = await withCommands("portable");
    const other = await holdfast.open("other");
    const running = sh("echo x > a; sleep 0.5");
    await pause(250);
    await expect(other.files.writeText("b", "other")).rejects.toMatchObject({ code: "EXEC_BUSY" });
    expect((await running).ok).toBe(true);
    await other.files.writeText("b", "other");
    expect([text("a"), text("b")]).toEqual(["x\n", "other"]);
    await other.close();
  });

  test("[EXEC-11] what cannot be brought back is said, and nothing more is built on it", async () => {
    const { sh, put, session, holdfast, root, store, text } = await withCommands("portable");
    put("a", "old");
    expect((await sh("rm .holdfast/workspace/images/*; echo new > a", { undo: true })).reason).toBe("EXEC_NOT_UNDONE");
    expect(session.state.poisoned).toBe(true);
    await expect(sh("true")).rejects.toMatchObject({ code: "STATE_POISONED" });
    await session.close();
    await holdfast.close();
    await expect(work({}, { root, store })).rejects.toMatchObject({ code: "EXEC_NOT_UNDONE" });
    rmSync(join(root, ".holdfast/workspace/exec"), { recursive: true });
    const again = await work({}, { root, store });
    expect([text("a"), again.rescued()]).toEqual([undefined, ["new\n"]]);
  });

  test("[EXEC-9] a file over the bound is told before the command runs", async () => {
    const { sh, results, put, text } = await withCommands("portable", { exec: { cover: { file: 100 } } });
    put("large", "x".repeat(101));
    const { reason, output } = await sh("echo new > a");
    expect([reason, results, text("a")]).toEqual(["EXEC_NOT_COVERED", [], undefined]);
    expect(output).toContain("large (too-large)");
  });
});

test("[EXEC-15] the driver is found by trying, and says why it is this one", async () => {
  const elsewhere = { ...realHost, platform: "darwin" as const };
  const { root, store } = await withCommands("portable");
  expect(store).not.toBe("");
  const tool = hands(async (_, call) => (await call.exec("echo x > x")).protection.driver);
  const run = async (options: Parameters<typeof work>[0]) => {
    const { session } = await work({ tools: [tool], ...options });
    const { output } = await session.runTool({ name: "hands", input: {} });
    return [output, session.protection?.why];
  };
  const folder = `${root}-elsewhere`;
  mkdirSync(folder);
  expect(await run({ workspace: { root: folder, port: elsewhere } })).toEqual([
    "portable",
    "overlay was refused: there is no overlay on darwin",
  ]);
  expect(await run({ exec: { driver: "portable" } })).toEqual(["portable", "it was asked for"]);
  if (missing("overlay") === undefined) expect(await run({})).toEqual(["overlay", "it works here"]);
  mkdirSync(`${folder}-2`);
  const { session } = await work({
    tools: [tool],
    exec: { driver: "overlay" },
    workspace: { root: `${folder}-2`, port: elsewhere },
  });
  expect((await session.runTool({ name: "hands", input: {} })).reason).toBe("EXEC_NO_DRIVER");
});

test("[EXEC-13] without a folder of the system, or with a bad order, nothing is started", async () => {
  const { createHoldfast } = await import("../../src/index.ts");
  const { memoryStore } = await import("../../src/stores/memory/entry.ts");
  const tool = hands(async (input, call) => call.exec(input as string));
  await using holdfast = await createHoldfast({ store: memoryStore(), tools: [tool] });
  await using session = await holdfast.open("s");
  expect((await session.runTool({ name: "hands", input: "true" })).reason).toBe("EXEC_UNAVAILABLE");
  const { session: there } = await work({ tools: [tool] });
  for (const bad of ["a\0b", [], [""], [7]])
    expect((await there.runTool({ name: "hands", input: bad })).reason).toBe("BAD_OPTION");
  await expect(work({ exec: { driver: "magic" as "auto" } })).rejects.toMatchObject({ code: "BAD_OPTION" });
  await expect(work({ exec: { limits: { timeMs: -1 } } })).rejects.toMatchObject({ code: "BAD_OPTION" });
});

test("[EXEC-2] a shell that cannot be started is said so", async () => {
  const { runToEnd } = await import("../../src/exec/spawn.ts");
  const { SystemClock } = await import("../../src/base/clock.ts");
  const ran = runToEnd({
    argv: ["/no/such/program"],
    env: {},
    limits: { timeMs: 1000, outputBytes: 1000, shownBytes: 100 },
    signal: new AbortController().signal,
    clock: new SystemClock(),
    onOutput: () => {},
    ask: () => {},
    endStrays: async () => 0,
  });
  await expect(ran).rejects.toMatchObject({ code: "EXEC_NOT_STARTED" });
});

test("[EXEC-22] a command in the background runs on after its call, unprotected, and ends with its session", async () => {
  const time = longTime();
  const started: BackgroundCommand[] = [];
  const serve = defineTool<string>({
    name: "serve",
    access: "external",
    async run(line, call) {
      const server = await call.exec(line, { background: true, cwd: "", env: { PORT: "1" } });
      started.push(server);
      return call.fail("failed", "its call is undone, and it is not");
    },
  });
  const wrong = hands((_, call) => call.exec("true", { background: true }));
  const { session, text } = await work({ tools: [serve, wrong] });
  await session.runTool({
    name: "serve",
    input: `echo "port $PORT"; echo here > here; setsid sleep ${time} & sleep ${time}`,
  });
  await session.runTool({ name: "serve", input: `trap '' TERM; sleep ${time}; sleep ${time}` });
  await session.runTool({ name: "serve", input: "exit 4" });
  expect(started.map(({ protection }) => protection)).toEqual(["none", "none", "none"]);
  expect(await started[2]?.ended).toEqual({ exitCode: 4, signal: null });
  await expect.poll(() => [text("here"), started[0]?.output().stdout]).toEqual(["here\n", "port 1\n"]);
  expect(runningLike(time)).not.toEqual([]);
  await started[1]?.stop();
  expect((await session.runTool({ name: "hands", input: {} })).reason).toBe("EXEC_NOT_ALLOWED");
  await session.close();
  expect([runningLike(time), text("here")]).toEqual([[], "here\n"]);
});

test("[EXEC-29] [EXEC-30] a command in the background with a folder or an option that cannot work is not started", async () => {
  const started: unknown[] = [];
  const serve = defineTool<object>({
    name: "serve",
    access: "external",
    async run(options, call) {
      await call.files.writeText("staged/f", "not on the disk before the call has ended");
      started.push(await call.exec("echo here > here", { background: true, ...options }));
      return "started";
    },
  });
  const { session, text } = await work({ tools: [serve] });
  const refused = async (options: object) => (await session.runTool({ name: "serve", input: options as never })).reason;
  for (const cwd of ["gone", "staged"]) expect(await refused({ cwd })).toBe("FILE_NOT_FOUND");
  for (const cwd of ["/", ".."]) expect(await refused({ cwd })).toBe("FILE_BAD_PATH");
  for (const shownBytes of [-1, 0, 1.5, "many"]) expect(await refused({ shownBytes })).toBe("BAD_OPTION");
  for (const options of [{ background: false }, { stdin: "x" }, { limits: {} }])
    expect(await refused(options)).toBe("BAD_OPTION");
  expect([started, text("here")]).toEqual([[], undefined]);
  expect(await refused({ shownBytes: 1 })).toBe("succeeded");
});

test("[EXEC-30] what a command in the background put out is not kept without a bound, because the bound was no number", async () => {
  const { session } = await work({
    tools: [
      defineTool({
        name: "serve",
        access: "external",
        run: (_, call) => call.exec("true", { background: true, shownBytes: Number.NaN }).then(() => "started"),
      }),
    ],
  });
  expect(await session.runTool({ name: "serve", input: {} })).toMatchObject({
    reason: "BAD_OPTION",
    output: expect.stringContaining("shownBytes"),
  });
});

/** Starts commands that run on, and waits for none. */
function starts(started: BackgroundCommand[]) {
  const run = async (line: string, call: Call) => {
    started.push(await call.exec(line, { background: true }));
    return "started";
  };
  return defineTool<string>({ name: "start", access: "external", run });
}

test("[EXEC-22] what a command in the background left running when its first process ended is ended with the session", async () => {
  const time = longTime();
  const started: BackgroundCommand[] = [];
  const { session, text } = await work({ tools: [starts(started)] });
  const loop = `(while :; do echo tick > tick; sleep 0.05; done; sleep ${time}) >/dev/null 2>&1 &`;
  await session.runTool({ name: "start", input: `${loop} sleep ${time} & exit 0` });
  await session.runTool({ name: "start", input: `trap 'echo cleaned > cleaned; exit' TERM; sleep ${time} & wait` });
  await session.runTool({ name: "start", input: `sh -c 'sleep ${time}' 3>&- >/dev/null 2>&1 & exit 0` });
  for (const n of [0, 2]) expect(await started[n]?.ended).toEqual({ exitCode: 0, signal: null });
  await pause(50);
  await expect.poll(() => text("tick")).toBe("tick\n");
  expect(runningLike(time)).not.toEqual([]);
  await session.close();
  expect([runningLike(time), text("cleaned")]).toEqual([[], "cleaned\n"]);
});

test("[EXEC-22] a session whose files are not those of the folder starts no command in it", async () => {
  const started: BackgroundCommand[] = [];
  const { session, text, run } = await work({ tools: [starts(started)] });
  const { callId } = await run((call) => call.files.writeText("a", "then"));
  for (const [n, how] of [{ workspace: "memory" as const }, {}].entries()) {
    const fork = await session.fork({ after: callId, as: `f${n}`, ...how });
    const { reason } = await fork.runTool({ name: "start", input: "echo x > made" });
    expect([reason, started, text("made")]).toEqual(["EXEC_UNAVAILABLE", [], undefined]);
    await fork.close();
  }
});

test("[EXEC-22] a process that waits for a command in the background lives until it has ended", () => {
  const lines = `
    import { Backgrounds } from ${JSON.stringify(new URL("../../src/exec/background.ts", import.meta.url).href)};
    import { SystemClock } from ${JSON.stringify(new URL("../../src/base/clock.ts", import.meta.url).href)};
    const ground = { folder: "/", env: { PATH: process.env.PATH }, clock: new SystemClock(), mark: "waits" };
    const { ended } = await new Backgrounds().start("exec 1>&- 2>&- 3>&-; sleep 0.3; exit 4", ground);
    console.log("ended", (await ended).exitCode);`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", lines], { encoding: "utf8" });
  expect([run.status, run.stdout]).toEqual([0, "ended 4\n"]);
});

test("[EXEC-20] what is kept of the output has no secret in it", async () => {
  const secret = "kx-quite-a-secret-value-4711";
  const { sh, results, session, holdfast } = await withCommands("portable", { exec: { limits: { shownBytes: 200 } } });
  holdfast.registerSecret(secret);
  await sh(`seq 1 500; echo ${secret}; seq 1 500`);
  const pieces = [];
  for await (const piece of session.journal.readBlob(results[0]!.stdout.whole!)) pieces.push(piece);
  const whole = Buffer.concat(pieces).toString();
  expect([whole.includes(secret), whole.startsWith("1\n2\n"), whole.endsWith("499\n500\n")]).toEqual([
    false,
    true,
    true,
  ]);
});

test("[EXEC-16] a file that is written twice within one tick, with the same size and time, is still noticed", async () => {
  const { sh, results, put, root } = await withCommands("portable");
  put("f", "aaa");
  await sh("true");
  for (let n = 0; n < 8; n += 1) {
    writeFileSync(join(root, "f"), n % 2 === 0 ? "bbb" : "aaa");
    await sh(`printf '${n % 2 === 0 ? "ccc" : "ddd"}' > t && touch -r f t && cat t > f && touch -r t f && rm t`, {
      undo: true,
    });
    expect([results.at(-1)?.changed.paths, readFileSync(join(root, "f"), "utf8")]).toEqual([
      ["f"],
      n % 2 === 0 ? "bbb" : "aaa",
    ]);
  }
});
