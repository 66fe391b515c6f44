import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { defineTool, type ExecNote, type HostPort, realHost } from "../../src/index.ts";
import { plainly, portrait, withCommands } from "../support/commands.ts";
import { forgetfulDisk, freshRoot, refusingDisk, tellingDisk, work } from "../support/workspaces.ts";
import { driverLaws } from "./driver-laws.ts";

driverLaws("portable");

test.each([
  { what: "a version", later: [], kept: ["theirs"] },
  { what: "a version, and one more before the first is back", later: ["newer"], kept: ["newer", "theirs"] },
])("[EXEC-34] $what that somebody writes while the call's own is laid in its place is not lost", async (row) => {
  const at = freshRoot();
  let isArmed = false;
  const port: HostPort = {
    ...realHost,
    rename: (from, to) => {
      const isTaken = isArmed && from.endsWith("/f");
      isArmed &&= !isTaken;
      if (isTaken) writeFileSync(join(at.root, "f"), "theirs");
      realHost.rename(from, to);
      if (isTaken) for (const text of row.later) writeFileSync(join(at.root, "f"), text);
    },
  };
  const prepared = defineTool({
    name: "prepared",
    access: "execute",
    async run(_, call) {
      await call.files.writeText("f", "ours");
      isArmed = true;
      return (await call.exec("cat f")).stdout.text;
    },
  });
  const one = await withCommands("portable", { workspace: { root: at.root, port }, tools: [prepared] }, at);
  one.put("f", "original");
  const { ok, reason } = await one.session.runTool({ name: "prepared", input: {} });
  expect([isArmed, ok, reason]).toEqual([false, false, "FILE_CONFLICT"]);
  expect([one.text("f"), one.rescued()]).toEqual(["original", row.kept]);
});

test("[EXEC-35] a file that somebody makes while the one that a command removed is written back is not lost", async () => {
  const at = freshRoot();
  let comes = false;
  const port: HostPort = {
    ...realHost,
    write: (handle, bytes, offset, length, position) => {
      if (comes && Buffer.from(bytes).toString() === "original") {
        comes = false;
        writeFileSync(join(at.root, "f"), "theirs");
      }
      return realHost.write(handle, bytes, offset, length, position);
    },
  };
  const one = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  one.put("f", "original");
  await one.sh("true");
  comes = true;
  await one.sh("rm f", { undo: true });
  expect([comes, one.text("f"), one.rescued()]).toEqual([false, "original", ["theirs"]]);
  expect(one.session.workspace?.rescued()).toMatchObject([{ path: "f", whose: "theirs" }]);
});

test("[EXEC-36] undoing that is done again replaces nothing that the first attempt had brought to rescue", async () => {
  const at = freshRoot();
  let fails = false;
  const port: HostPort = {
    ...realHost,
    rename: (from, to) => {
      if (fails && from.endsWith("/a")) throw Object.assign(new Error("the disk"), { code: "EIO" });
      realHost.rename(from, to);
    },
  };
  const one = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  for (const path of ["a", "b"]) one.put(path, "original");
  fails = true;
  await one.sh("printf ours > a; printf theirs > b", { undo: true }).catch(() => {});
  expect(one.rescued()).toEqual(["theirs"]);
  fails = false;
  await one.session.close().catch(() => {});
  await one.holdfast.close().catch(() => {});
  const next = await work({}, at);
  expect([next.text("a"), next.text("b"), next.rescued()]).toEqual(["original", "original", ["ours", "theirs"]]);
  expect(
    next.session.workspace
      ?.rescued()
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(["a", "b"]);
});

test.each([
  { what: "a file that it made is removed", line: "rm new" },
  { what: "a folder that it made is removed", line: "rm -r made" },
  { what: "a file comes into a folder that it made", line: "echo theirs > made/theirs" },
  { what: "a file comes where it made a folder", line: "rm -r made; echo theirs > made" },
  { what: "a file that it changed is removed", line: "rm src/f" },
  { what: "a folder comes where it changed a file", line: "rm src/f; mkdir src/f; echo theirs > src/f/in" },
  { what: "a folder comes where it removed a file", line: "mkdir gone" },
  { what: "the folder of a file that it changed is removed", line: "rm -r src" },
])("[EXEC-37] a command is undone when, after its end, $what", async ({ line }) => {
  const at = freshRoot();
  const meddled = defineTool({
    name: "meddled",
    access: "execute",
    async run(_, call) {
      await call.exec("echo new > new; mkdir made; echo x > made/x; echo changed > src/f; rm gone");
      plainly(at.root, `${line}; echo theirs > elsewhere`);
      return call.fail("undone", "on purpose");
    },
  });
  const one = await withCommands("portable", { tools: [meddled] }, at);
  for (const path of ["src/f", "gone"]) one.put(path, "original");
  const undone = await one.session.runTool({ name: "meddled", input: {} });
  expect([undone.ok, undone.reason]).toEqual([false, "undone"]);
  expect([one.text("src/f"), one.text("gone"), one.text("elsewhere")]).toEqual(["original", "original", "theirs\n"]);
  expect(["new", "made"].filter((path) => existsSync(one.on(path)))).toEqual([]);
  const kept = readdirSync(one.on(".holdfast/workspace/rescue"), { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
  expect(kept.includes("theirs\n")).toBe(line.includes("echo"));
  expect((await one.sh("echo next > next")).ok).toBe(true);
});

test("[EXEC-27] content that could not be kept while the disk was full is kept when there is room", async () => {
  let isFull = true;
  const at = freshRoot();
  const port = refusingDisk((text) => isFull && text === "precious");
  const one = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  one.put("f", "precious");
  expect((await one.sh("true")).ok).toBe(false);
  isFull = false;
  expect([(await one.sh("rm f", { undo: true })).reason, one.text("f")]).toEqual(["undone", "precious"]);
});

test("[EXEC-32] a command whose work could not be looked at is undone, also when its tool goes on", async () => {
  const at = freshRoot();
  let fails = false;
  const port: HostPort = {
    ...realHost,
    textNames: (path) => {
      if (fails && path.endsWith("/folder")) throw Object.assign(new Error("the disk"), { code: "EIO" });
      return realHost.textNames(path);
    },
  };
  const heard: unknown[] = [];
  const deaf = defineTool({
    name: "deaf",
    access: "execute",
    async run(_, call) {
      await call.exec("echo new > folder/new; rm a; seq 1 20000").catch((error) => heard.push(error.code));
      fails = false;
      return "fine";
    },
  });
  const workspace = { root: at.root, port };
  const { session, put, root } = await withCommands("portable", { workspace, tools: [deaf] }, at);
  put("a", "a");
  put("folder/b", "b");
  const before = portrait(root, { times: true });
  const begun = await session.runTool({ name: "deaf", input: {} }, { onProgress: () => (fails = true) });
  expect([begun.ok, heard]).toEqual([false, ["WORKSPACE_IO"]]);
  expect(portrait(root, { times: true })).toEqual(before);
  const [note] = session.state.root.get("holdfast.exec") as readonly ExecNote[];
  expect(note?.stdout).toEqual(expect.any(String));
});

test("[EXEC-1] bringing a line back takes no megabyte of memory", async () => {
  let largest = 0;
  const port: HostPort = {
    ...realHost,
    read: (handle, bytes, offset, length, position) => {
      largest = Math.max(largest, bytes.length);
      return realHost.read(handle, bytes, offset, length, position);
    },
  };
  const at = freshRoot();
  const { sh, put, text } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  put("line", "as it was\n");
  await sh("echo other > line", { undo: true });
  expect(text("line")).toBe("as it was\n");
  expect(largest).toBeLessThanOrEqual(64 * 1024);
});

test("[EXEC-28] [EXEC-1] in a tree of thousands of files nothing that a command did is missed, and nothing of the user's is taken for its", async () => {
  const { sh, put, on, text } = await withCommands("portable");
  for (let folder = 0; folder < 32; folder += 1) {
    mkdirSync(on(`d${folder}`), { recursive: true });
    for (let file = 0; file < 100; file += 1) writeFileSync(on(`d${folder}/f${file}`), `${folder} ${file}\n`);
  }
  await sh("true"); // knows the tree from here on
  await pause(100);
  for (let round = 0; round < 6; round += 1) {
    const [theirs, ours] = [`d${round}/f${round}`, `d${31 - round}/f${99 - round}`];
    put(theirs, `edited in round ${round}\n`);
    await sh(`echo more >> ${ours}; echo new > d${round}/new; rm d${31 - round}/f0; echo lost >> ${theirs}`, {
      undo: true,
    });
    expect([text(theirs), text(ours), text(`d${31 - round}/f0`)]).toEqual([
      `edited in round ${round}\n`,
      `${31 - round} ${99 - round}\n`,
      `${31 - round} 0\n`,
    ]);
    expect(existsSync(on(`d${round}/new`))).toBe(false);
    await sh(`echo kept > d${round}/kept`);
    expect(text(`d${round}/kept`)).toBe("kept\n");
  }
});

test.each([
  ["removed a folder that the rewind had brought back", "mkdir odd && mv even/file odd && rmdir even"],
  ["made a folder again that the rewind had removed", "mkdir odd"],
])("[HOST-8] after a crash, a rewind is not done again over a command that %s", async (_, line) => {
  const at = freshRoot();
  const { state, port } = forgetfulDisk();
  const one = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  await one.sh("mkdir even; echo held > even/file");
  const { callId } = await one.sh("mkdir odd && mv even/file odd && rmdir even");
  await one.session.rewind({ before: callId });
  state.notes = 0; // nobody hears any more that a plan is in place, or that the folder is closed
  expect((await one.sh(line)).ok).toBe(true);
  const left = portrait(at.root, { times: false });
  await one.session.close().catch(() => {});
  await one.holdfast.close().catch(() => {});
  await work({}, at);
  expect(portrait(at.root, { times: false })).toEqual(left);
});

test.each([1, 2])(
  "[HOST-8] nor when the opening after the crash is cut off in the middle: %s commands before",
  async (before) => {
    const at = freshRoot();
    const { state, port } = forgetfulDisk();
    const workspace = { root: at.root, port };
    const one = await withCommands("portable", { workspace }, at);
    for (let n = 0; n < before; n += 1) await one.sh(`mkdir -p even; echo ${n} > even/file`);
    const { callId } = await one.sh("mkdir odd && mv even/file odd && rmdir even");
    await one.session.rewind({ before: callId });
    state.notes = 0;
    await one.sh("mkdir odd && mv even/file odd && rmdir even");
    const left = portrait(at.root, { times: false });
    await one.session.close().catch(() => {});
    await one.holdfast.close().catch(() => {});
    state.notes = 2; // that the newest plan is in place, and that one of the two is done with
    await expect(work({ workspace }, at)).rejects.toMatchObject({ code: "WORKSPACE_IO" });
    await work({}, at);
    expect(portrait(at.root, { times: false })).toEqual(left);
  },
);

test("[HOST-21] a folder that was moved to rescue goes with its time, and what will not go keeps nobody out", async () => {
  const at = freshRoot();
  const one = await withCommands("portable", {}, at);
  const odd = String.raw`"$(printf 'odd\377')"`; // a name that is no text is moved whole
  const { ok } = await one.sh(`mkdir ${odd} && echo in > ${odd}/file`);
  expect(ok).toBe(false);
  await one.session.close();
  await one.holdfast.close();
  const rescue = join(at.root, ".holdfast/workspace/rescue");
  expect(readdirSync(rescue)).toHaveLength(2); // with its note
  const root = { root: at.root, rescue: { ageMs: 0 } };
  const removeTree = () => {
    throw Object.assign(new Error("the disk"), { code: "EACCES" });
  };
  await pause(5);
  const kept = await work({ workspace: { ...root, port: { ...realHost, removeTree } } }, at);
  expect((await kept.run(({ files }) => files.writeText("mine", "mine"))).ok).toBe(true);
  await kept.session.close();
  await kept.holdfast.close();
  expect(readdirSync(rescue).length).toBeGreaterThan(0);
  await work({ workspace: root }, at);
  expect(readdirSync(rescue)).toEqual([]);
});

const EXEC = ".holdfast/workspace/exec";

test.each(["true", "echo more > made"])(
  "[EXEC-18] a folder of commands that is gone stays gone with the power, or they would be undone: %s",
  async (line) => {
    const at = { ...freshRoot(), synced: true };
    const { synced, port } = tellingDisk(at.root);
    const { sh, run } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    await sh(line);
    synced.clear();
    await run(({ files }) => files.writeText("mine", "mine"));
    expect([...synced]).toContain(EXEC);
  },
);

test("[EXEC-18] what a crash left of a command is synced when it is undone", async () => {
  const at = { ...freshRoot(), synced: true };
  const commands = join(at.root, EXEC);
  const one = await withCommands("portable", {}, at);
  await one.sh("mkdir held; echo as it was > held/file");
  await one.sh(`cp -r ${commands} ${at.store}.left; echo changed > held/file`);
  await one.session.close();
  await one.holdfast.close();
  rmSync(commands, { recursive: true });
  cpSync(`${at.store}.left`, commands, { recursive: true }); // as if the second had been killed
  const { synced, port } = tellingDisk(at.root);
  await work({ workspace: { root: at.root, port } }, at);
  expect(readFileSync(join(at.root, "held/file"), "utf8")).toBe("as it was\n");
  expect([...synced]).toEqual(expect.arrayContaining(["held/file", "held", EXEC]));
});

describe("whoever writes on when a command has ended, and was not found and ended with it", () => {
  test.each(["a call that writes elsewhere", "another command", "a rewind"])(
    "[EXEC-25] is told at the next boundary: %s",
    async (boundary) => {
      const { sh, run, put, on, session, journalled } = await withCommands("portable");
      put("other", "other\n");
      const first = await run(({ files }) => files.writeText("mine", "mine"));
      await sh("echo made > made; echo more >> other; echo still > still");
      writeFileSync(on("made"), "late and longer\n");
      if (boundary === "another command") await sh("true");
      else if (boundary === "a rewind") await session.rewind({ before: first.callId });
      else await run(({ files }) => files.writeText("elsewhere", "x"));
      expect(await journalled("file-diverged")).toMatchObject([{ path: "made" }]);
      expect(readFileSync(on("made"), "utf8")).toBe("late and longer\n");
      await sh("true");
      expect(await journalled("file-diverged")).toHaveLength(1);
    },
  );

  test("[EXEC-25] is told where the command was undone, too", async () => {
    const { sh, put, on, run, journalled } = await withCommands("portable");
    put("there", "as it was\n");
    await sh("echo changed > there; echo made > made", { undo: true });
    expect(readFileSync(on("there"), "utf8")).toBe("as it was\n");
    writeFileSync(on("made"), "late\n");
    await run(({ files }) => files.writeText("elsewhere", "x"));
    expect(await journalled("file-diverged")).toMatchObject([{ path: "made" }]);
    expect(readFileSync(on("made"), "utf8")).toBe("late\n");
  });

  test("[EXEC-25] is not made up: what calls of ours write afterwards is nobody else's", async () => {
    const { sh, run, journalled } = await withCommands("portable");
    await sh("mkdir d; echo made > d/made; echo b > b");
    await run(({ files }) => files.writeText("d/made", "ours"));
    await sh("echo again > b; touch d/new");
    await run(({ files }) => files.delete("b"));
    await sh("true");
    expect(await journalled("file-diverged")).toEqual([]);
  });
});

describe("a disk that fails for a moment", () => {
  const denied = (path: string) => Object.assign(new Error(`EACCES: ${path}`), { code: "EACCES" });

  test.each(["", "/deep"])(
    "[EXEC-26] keeps nothing out of place when a folder cannot be listed: kept%s",
    async (below) => {
      for (let nth = 1; nth <= 4; nth += 1) {
        let listed = 0;
        const port: HostPort = {
          ...realHost,
          textNames: (path) => {
            if (!path.endsWith(`/kept${below}`)) return realHost.textNames(path);
            listed += 1;
            if (listed === nth) throw denied(path);
            return realHost.textNames(path);
          },
        };
        const at = freshRoot();
        const { sh, put, on, text } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
        mkdirSync(on("kept/deep"), { recursive: true });
        put("kept/deep/file", "as it was\n");
        put("other", "as it was\n");
        await sh("echo changed > other; echo changed > kept/deep/file", { undo: true });
        expect([text("kept/deep/file"), text("other")]).toEqual(["as it was\n", "as it was\n"]);
      }
    },
  );

  test("[EXEC-26] says what could not be looked into, and brings all of it back when it can be again", async () => {
    let isClosed = false;
    const port: HostPort = {
      ...realHost,
      textNames: (path) => {
        if (isClosed && path.endsWith("/kept")) throw denied(path);
        return realHost.textNames(path);
      },
    };
    const at = freshRoot();
    const { sh, put, text, session } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    put("kept/file", "as it was\n");
    isClosed = true;
    const outcome = await sh("echo changed > kept/file");
    expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining("kept (unreadable)") as string });
    expect(text("kept/file")).toBe("as it was\n");
    isClosed = false;
    expect(await sh("echo changed > kept/file")).toMatchObject({ ok: true });
    await session.close();
  });

  test("[EXEC-26] what was there and cannot be looked into is not taken for undone; whoever opens it next undoes it", async () => {
    let listed = 0;
    const port: HostPort = {
      ...realHost,
      textNames: (path) => {
        if (path.endsWith("/kept") && listed++ > 0) throw denied(path); // whatever its mode is
        return realHost.textNames(path);
      },
    };
    const at = freshRoot();
    const failing = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    failing.put("kept/file", "as it was\n");
    await failing.sh("rm kept/file", { undo: true }).catch(() => {});
    await failing.session.close().catch(() => {});
    await failing.holdfast.close();
    const { text } = await withCommands("portable", {}, at);
    expect(text("kept/file")).toBe("as it was\n");
  });

  test("[EXEC-26] a closed folder of somebody else that a command made is no obstacle to undoing it", async () => {
    const isTheirs = (path: string) => path.endsWith("/made");
    const port: HostPort = {
      ...realHost,
      textNames: (path) => {
        if (isTheirs(path)) throw denied(path);
        return realHost.textNames(path);
      },
      stat: (path) => {
        const found = realHost.stat(path);
        return found !== undefined && isTheirs(path) ? { ...found, uid: found.uid + 1 } : found;
      },
    };
    const at = freshRoot();
    const { sh, put, on, text } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    put("file", "as it was\n");
    await sh("mkdir made; echo changed > file", { undo: true });
    expect([text("file"), existsSync(on("made"))]).toEqual(["as it was\n", false]);
  });

  test("[EXEC-27] while the mark of a command is written leaves a workspace that can be opened", async () => {
    let full = false;
    const port: HostPort = {
      ...realHost,
      write: (...args) => {
        if (full) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
        return realHost.write(...args);
      },
      openFile: (path, how) => {
        if (path.endsWith("/in-place")) full = true;
        return realHost.openFile(path, how);
      },
      removeTree: (path) => {
        if (full) throw Object.assign(new Error("EIO"), { code: "EIO" });
        realHost.removeTree(path);
      },
    };
    const at = freshRoot();
    const failing = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    failing.put("file", "as it was\n");
    await failing.sh("echo changed > file");
    full = false;
    await failing.session.close();
    await failing.holdfast.close();
    const { sh, text } = await withCommands("portable", {}, at);
    expect(text("file")).toBe("as it was\n");
    expect(await sh("echo changed > file")).toMatchObject({ ok: true });
  });

  test("[EXEC-27] while old content is removed does not make later commands believe that it is there", async () => {
    let removed = 0;
    const port: HostPort = {
      ...realHost,
      unlink: (path) => {
        realHost.unlink(path);
        if (!/\/sha256-[0-9a-f]+$/.test(path)) return;
        removed += 1;
        if (removed === 1) throw Object.assign(new Error("EIO"), { code: "EIO" });
      },
    };
    const at = freshRoot();
    const { sh, put, text } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
    put("file", "once\n");
    await sh("true");
    put("file", "between\n");
    await sh("true");
    expect(removed).toBeGreaterThan(0);
    put("file", "once\n");
    await sh("echo changed > file", { undo: true });
    expect(text("file")).toBe("once\n");
  });
});
