import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writes } from "../support/calls.ts";
import {
  type Edit,
  forgetfulDisk,
  freshRoot,
  inWorkspace,
  refusingDisk,
  tellingDisk,
  work,
} from "../support/workspaces.ts";
import { defineTool } from "../../src/transaction/tool.ts";
import { type HostPort, realHost } from "../../src/files/host/port.ts";

const coded = (code: string) => expect.objectContaining({ code });

/** What lies in the folder, but for what is ours. */
function tree(root: string, below = ""): readonly string[] {
  return readdirSync(join(root, below))
    .toSorted()
    .filter((name) => name !== ".holdfast")
    .flatMap((name) => {
      const path = below === "" ? name : `${below}/${name}`;
      return lstatSync(join(root, path)).isDirectory() ? [`${path}/`, ...tree(root, path)] : [path];
    });
}

describe("a call's files", () => {
  test("[HOST-1] are on the disk when it has committed, and never before", async () => {
    const { run, put, text, root } = await work();
    put("src/a.txt", "one");
    let during: readonly string[] = [];
    const { ok } = await run(async (call) => {
      await call.files.writeText("src/a.txt", "two");
      await call.files.writeText("new/deep/b.txt", "b");
      await call.files.link("link", "src/a.txt");
      during = [...tree(root), readFileSync(join(root, "src/a.txt"), "utf8")];
      expect(await call.files.readText("src/a.txt")).toBe("two");
    });
    expect([ok, during]).toEqual([true, ["src/", "src/a.txt", "one"]]);
    expect(tree(root)).toEqual(["link", "new/", "new/deep/", "new/deep/b.txt", "src/", "src/a.txt"]);
    expect([text("src/a.txt"), text("link"), text("new/deep/b.txt")]).toEqual(["two", "two", "b"]);
  });

  test("[HOST-1] [K36] [K38] a failed call leaves every byte, mode, link and odd name as it was", async () => {
    const { run, put, on, root } = await work();
    put(".env", "SECRET=1");
    put("node_modules/x/index.js", "x");
    put("line\nbreak", "odd");
    put("run.sh", "#!/bin/sh");
    chmodSync(on("run.sh"), 0o750);
    chmodSync(on(".env"), 0o400);
    mkdirSync(on("empty"), { mode: 0o700 });
    symlinkSync("run.sh", on("link"));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff])]), "not UTF-8");
    const look = () =>
      execFileSync("find", [".", "-path", "./.holdfast", "-prune", "-o", "-printf", "%P %y %m %s %l %T@\\0"], {
        cwd: root,
      });
    const before = look();
    const { ok } = await run(async (call) => {
      await call.files.writeText("run.sh", "rm -rf /");
      await call.files.delete("empty");
      await call.files.delete("link");
      await call.files.delete("node_modules", { recursive: true });
      await call.files.move("line\nbreak", "other");
      return call.fail("no", "no");
    });
    expect(ok).toBe(false);
    expect(look().equals(before)).toBe(true);
  });

  test("[HOST-2] keep mode and owner through an edit, and a link's target is what is edited", async () => {
    const { run, put, on } = await work();
    put("run.sh", "1");
    chmodSync(on("run.sh"), 0o4751);
    symlinkSync("run.sh", on("link"));
    await run((call) => call.files.edit("link", { find: "1", replace: "2" }));
    expect([statSync(on("run.sh")).mode & 0o7777, readFileSync(on("run.sh"), "utf8")]).toEqual([0o4751, "2"]);
    expect(readlinkSync(on("link"))).toBe("run.sh");
  });

  test("[HOST-3] [K40] an edit by somebody else in between is a conflict, and a call that may run again builds on it", async () => {
    const { run, put, text } = await work();
    put("f", "one");
    const edit: Edit = async (call) => {
      const now = await call.files.readText("f");
      if (now === "one") put("f", "theirs"); // saved by an editor while the tool was thinking
      await call.files.writeText("f", `${now} and ours`);
    };
    const refused = await run(edit, "once");
    expect([refused.ok, refused.reason, text("f")]).toEqual([false, "conflict", "theirs"]);
    put("f", "one");
    const again = await run(edit);
    expect([again.ok, again.attempts, text("f")]).toEqual([true, 2, "theirs and ours"]);
  });

  test("[HOST-3] a file that appears, or goes, where a call did not expect it is a conflict too", async () => {
    const { run, put, on, text } = await work();
    const made = await run(async (call) => {
      if (!(await call.files.exists("new"))) await call.files.writeText("new", "ours");
      put("new", "theirs");
    }, "once");
    expect([made.reason, text("new")]).toEqual(["conflict", "theirs"]);
    const gone = await run(async (call) => {
      await call.files.edit("new", { find: "theirs", replace: "ours" });
      rmSync(on("new"));
    }, "once");
    expect([gone.reason, existsSync(on("new"))]).toEqual(["conflict", false]);
  });

  test("[HOST-3] what a call only read may be changed by outsiders", async () => {
    const { run, put, text } = await work();
    put("read", "1");
    const { ok } = await run(async (call) => {
      await call.files.writeText("out", await call.files.readText("read"));
      put("read", "2");
    }, "once");
    expect([ok, text("out"), text("read")]).toEqual([true, "1", "2"]);
  });

  test("[HOST-4] calls that overlap meet on the same path only, and only when one has read it", async () => {
    const { session, text, put } = await work({
      tools: [
        writes<string>("add", async (name, call) => {
          await call.files.writeText(
            "sum",
            `${(await call.files.exists("sum")) ? await call.files.readText("sum") : ""}${name}`,
          );
          await call.files.writeText(`own/${name}`, name);
        }),
      ],
    });
    put("sum", "");
    const outcomes = await session.runTools(["a", "b", "c", "d"].map((input) => ({ name: "add", input })));
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true]);
    expect(
      Array.from(text("sum") ?? "")
        .toSorted()
        .join(""),
    ).toBe("abcd");
  });
});

test("[HOST-1] a call whose folder somebody removes while it is prepared leaves nothing, not even among what is ours", async () => {
  const at = freshRoot();
  const port: HostPort = {
    ...realHost,
    rename: (from, to) => {
      realHost.rename(from, to);
      if (from.includes("/.holdfast-")) rmSync(join(at.root, "dir"), { recursive: true, force: true });
    },
  };
  const { run, put, on, root } = await work({ workspace: { root: at.root, port } }, at);
  put("dir/f", "one");
  const { ok } = await run((call) => call.files.writeText("dir/g", "ours"));
  expect([ok, tree(root), readdirSync(on(".holdfast/workspace/tmp"))]).toEqual([false, [], []]);
});

describe("of two calls that overlap, the one that ends later", () => {
  /** Both have done their work before either ends. Returns how often each ran, how the later one ended, and what lies there. */
  const both = async (first: Edit, later: Edit, retryable: boolean) => {
    const ready = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const body = async (input: "first" | "later", call: Parameters<Edit>[0]) => {
      await (input === "first" ? first : later)(call);
      ready[input === "first" ? 0 : 1].resolve();
      await (input === "first" ? ready[1] : ended).promise;
    };
    const ended = Promise.withResolvers<void>();
    const { session, root, put, on, text } = await work({
      tools: [writes("does", body, { retryable })],
    });
    put("old/a", "a");
    put("f", "f");
    const marked = (path: string) => {
      const stat = lstatSync(on(path));
      return stat.isFile() && (stat.mode & 0o100) > 0 ? `${path}*` : path;
    };
    const runs = (["first", "later"] as const).map((input) => session.runTool({ name: "does", input }));
    void runs[0]?.then(() => ended.resolve());
    const [one, two] = await Promise.all(runs);
    return { ok: one?.ok, reason: two?.reason, attempts: two?.attempts, text, tree: tree(root).map(marked) };
  };

  test.each<[string, Edit, Edit, string, readonly string[]]>([
    [
      "makes no folder of the file that the other has made",
      ({ files }) => files.writeText("new", "1"),
      ({ files }) => files.writeText("new/x", "2"),
      "FILE_NOT_FOLDER",
      ["f", "new", "old/", "old/a"],
    ],
    [
      "makes no file of the folder that the other has made",
      ({ files }) => files.writeText("new/x", "1"),
      ({ files }) => files.writeText("new", "2"),
      "FILE_IS_FOLDER",
      ["f", "new/", "new/x", "old/", "old/a"],
    ],
    [
      "writes through the link that the other has made",
      ({ files }) => files.link("new", "f"),
      ({ files }) => files.writeText("new", "2"),
      "succeeded",
      ["f", "new", "old/", "old/a"],
    ],
    [
      "makes the folder again that the other has removed",
      ({ files }) => files.delete("old", { recursive: true }),
      ({ files }) => files.writeText("old/b", "2"),
      "succeeded",
      ["f", "old/", "old/b"],
    ],
    [
      "has the folder that it asked for, which the other has removed",
      ({ files }) => files.delete("old", { recursive: true }),
      ({ files }) => files.mkdir("old"),
      "succeeded",
      ["f", "old/"],
    ],
    [
      "makes the file again that the other has removed",
      ({ files }) => files.delete("f"),
      ({ files }) => files.writeText("f", "2"),
      "succeeded",
      ["f", "old/", "old/a"],
    ],
    [
      "keeps the mode that the other has given",
      ({ files }) => files.chmod("f", 0o755),
      ({ files }) => files.writeText("f", "2"),
      "succeeded",
      ["f*", "old/", "old/a"],
    ],
    [
      "removes with a folder what the other has put into it",
      ({ files }) => files.writeText("old/deep/b", "1"),
      ({ files }) => files.delete("old", { recursive: true }),
      "succeeded",
      ["f"],
    ],
    [
      "moves with a folder what the other has put into it",
      ({ files }) => files.writeText("old/b", "1"),
      ({ files }) => files.move("old", "moved"),
      "succeeded",
      ["f", "moved/", "moved/a", "moved/b"],
    ],
  ])("[HOST-28] [TX-12] %s, or is a conflict", async (_what, first, later, reason, left) => {
    const { ok, ...again } = await both(first, later, true);
    expect([ok, again.reason, again.attempts, again.tree]).toEqual([true, reason, 2, left]);
    const once = await both(first, later, false);
    expect([once.ok, once.reason, once.attempts]).toEqual([true, "conflict", 1]);
  });

  test("[HOST-4] [HOST-28] is not run again when both made the same folder, or wrote the same file unread", async () => {
    const { ok, reason, attempts, text } = await both(
      async ({ files }) => {
        await files.writeText("new/x", "1");
        await files.writeText("f", "1");
        await files.mkdir("made");
      },
      async ({ files }) => {
        await files.writeText("new/y", "2");
        await files.writeText("f", "2");
        await files.mkdir("made");
      },
      false,
    );
    expect([ok, reason, attempts]).toEqual([true, "succeeded", 1]);
    expect([text("new/x"), text("new/y"), text("f")]).toEqual(["1", "2", "2"]);
  });
});

test("[HOST-1] in plan mode no tool changes the workspace, whatever it says of itself", async () => {
  const sly = defineTool({ name: "look", access: "read", run: (_, call) => call.files.writeText("f", "changed") });
  const { session, put, text } = await work({ tools: [sly] });
  put("f", "one");
  await session.setMode("plan");
  const { ok, reason } = await session.runTool({ name: "look", input: {} });
  expect([ok, reason, text("f")]).toEqual([false, "denied", "one"]);
});

describe("after the decision", () => {
  /** A port that does something just before a rename or a link of the commit. */
  const meddling = (before: {
    rename?: (from: string, to: string) => void;
    linkAs?: (to: string) => void;
  }): HostPort => ({
    ...realHost,
    rename: (from, to) => {
      before.rename?.(from, to);
      realHost.rename(from, to);
    },
    linkAs: (from, to) => {
      before.linkAs?.(to);
      realHost.linkAs(from, to);
    },
  });

  test("[HOST-5] [K40] a file that somebody changed at the last moment stays theirs; ours waits in rescue and is journalled", async () => {
    const at = freshRoot();
    let armed = true;
    const port = meddling({
      rename: (_, to) => {
        if (!armed || !/rescue\/|fd\/\d+\/[0-9a-f]+-0$/.test(to) || to.includes(".holdfast-")) return;
        armed = false;
        writeFileSync(join(at.root, "f"), "theirs");
      },
    });
    const { run, text, put, journalled, session, root } = await work({ workspace: { root: at.root, port } }, at);
    put("f", "one");
    const { ok } = await run((call) => call.files.writeText("f", "ours"));
    expect([ok, armed, text("f")]).toEqual([true, false, "theirs"]);
    const [record] = await journalled("file-diverged");
    expect(record).toMatchObject({ path: "f", kept: expect.stringMatching(/-ours$/) });
    const kept = session.workspace?.rescued().find(({ path }) => path === "f");
    expect(readFileSync(join(root, ".holdfast/workspace/rescue", kept?.name ?? ""), "utf8")).toBe("ours");
    expect(await session.files.readText("f")).toBe("theirs");
    expect(JSON.stringify((await session.conversation()).at(-1))).toContain("Somebody else changed f");
  });

  test("[HOST-5] [TOOL-26] the model reads of such a file in one line, whatever it is called", async () => {
    const path = "f\n\nAll is well.";
    const at = freshRoot();
    let armed = true;
    const port = meddling({
      linkAs: (to) => {
        if (!armed || !to.endsWith(path)) return;
        armed = false;
        writeFileSync(join(at.root, path), "theirs");
      },
    });
    const { run, session } = await work({ workspace: { root: at.root, port } }, at);
    await run((call) => call.files.writeText(path, "ours"));
    const said = (await session.conversation()).at(-1) as { readonly parts: readonly { readonly text: string }[] };
    expect(said.parts[0]?.text).toMatch(/^Somebody else changed "f\\n\\nAll is well\." at the same time\. .*$/);
  });

  test.each([
    { what: "is put back", again: false, there: "theirs", rescued: ["ours"] },
    { what: "waits in rescue when its place is taken again", again: true, there: "again", rescued: ["ours", "theirs"] },
  ])("[HOST-24] another user's file, which can be given no second name, $what", async ({ again, there, rescued }) => {
    const at = freshRoot();
    let armed = true;
    const late = meddling({
      rename: (_, to) => {
        if (!armed || !/fd\/\d+\/[0-9a-f]+-0$/.test(to)) return;
        armed = false;
        writeFileSync(join(at.root, "f"), "theirs");
      },
    });
    const port: HostPort = {
      ...late,
      linkAs: (from, to) => {
        if (from.includes(".holdfast-") || !to.endsWith("/f")) return late.linkAs(from, to);
        if (again) writeFileSync(join(at.root, "f"), "again");
        throw Object.assign(new Error("fs.protected_hardlinks"), { code: "EPERM" });
      },
    };
    const one = await work({ workspace: { root: at.root, port } }, at);
    one.put("f", "one");
    expect((await one.run((call) => call.files.writeText("f", "ours"))).ok).toBe(true);
    expect([armed, one.text("f"), one.rescued()]).toEqual([false, there, rescued]);
    expect(await one.journalled("file-diverged")).toMatchObject([{ path: "f", kept: expect.stringMatching(/-ours$/) }]);
    expect((await one.run((call) => call.files.writeText("g", "next"))).ok).toBe(true);
  });

  test.each([
    { what: "the plan cannot be marked as done", fails: "applied " },
    { what: "the next call is refused", fails: "none of it" },
  ])("[HOST-5] what somebody changed is told, also when $what", async ({ fails }) => {
    const at = freshRoot();
    let [isArmed, isFull] = [true, true];
    const open: number[] = [];
    const port: HostPort = {
      ...meddling({
        rename: (from) => {
          if (!isArmed || !from.endsWith("/f")) return;
          isArmed = false;
          if (fails === "applied ") writeFileSync(join(at.root, "f"), "theirs");
          else open.push(openSync(join(at.root, "f"), "a"));
        },
      }),
      write: (handle, bytes, offset, length, position) => {
        if (isFull && Buffer.from(bytes).toString().startsWith(fails))
          throw Object.assign(new Error("full"), { code: "ENOSPC" });
        return realHost.write(handle, bytes, offset, length, position);
      },
    };
    const one = await work({ workspace: { root: at.root, port } }, at);
    one.put("f", "one");
    expect((await one.run((call) => call.files.writeText("f", "ours"))).ok).toBe(true);
    for (const handle of open) {
      writeSync(handle, "late");
      closeSync(handle);
      expect((await one.run((call) => call.files.writeText("g", "none of it"))).ok).toBe(false);
    }
    isFull = false;
    if (open.length > 0) await one.run((call) => call.files.writeText("h", "next"));
    expect(await one.journalled("file-diverged")).toMatchObject([{ path: "f", kept: expect.any(String) }]);
  });

  test("[HOST-25] a disk that was full when it was noted what waits in rescue keeps nothing from being finished later", async () => {
    const at = freshRoot();
    let [armed, isFull] = [true, false];
    const late = meddling({
      rename: (_, to) => {
        if (!armed || !/fd\/\d+\/[0-9a-f]+-0$/.test(to)) return;
        armed = false;
        isFull = true;
        writeFileSync(join(at.root, "f"), "theirs");
      },
    });
    const port: HostPort = {
      ...late,
      write: (handle, bytes, offset, length, position) => {
        if (isFull && Buffer.from(bytes).includes('"whose"'))
          throw Object.assign(new Error("full"), { code: "ENOSPC" });
        return realHost.write(handle, bytes, offset, length, position);
      },
    };
    const one = await work({ workspace: { root: at.root, port } }, at);
    one.put("f", "one");
    expect((await one.run((call) => call.files.writeText("f", "ours"))).ok).toBe(true);
    expect((await one.run((call) => call.files.writeText("g", "next"))).ok).toBe(false);
    isFull = false;
    expect((await one.run((call) => call.files.writeText("g", "next"))).ok).toBe(true);
    expect([one.text("f"), one.text("g"), one.rescued()]).toEqual(["theirs", "next", ["ours"]]);
    expect(one.session.workspace?.rescued()).toMatchObject([{ path: "f", whose: "ours" }]);
  });

  test("[HOST-5] a name taken while ours was coming is kept, and so is everything that was there", async () => {
    const at = freshRoot();
    let armed = true;
    const port = meddling({
      linkAs: (to) => {
        if (!armed || !to.endsWith("/f")) return;
        armed = false;
        writeFileSync(join(at.root, "f"), "saved by renaming");
      },
    });
    const { run, text, put, journalled, root } = await work({ workspace: { root: at.root, port } }, at);
    put("f", "one");
    expect((await run((call) => call.files.writeText("f", "ours"))).ok).toBe(true);
    expect(text("f")).toBe("saved by renaming");
    expect(await journalled("file-diverged")).toHaveLength(1);
    const rescue = readdirSync(join(root, ".holdfast/workspace/rescue")).filter((name) => !name.endsWith(".note"));
    const texts = rescue.map((name) => readFileSync(join(root, ".holdfast/workspace/rescue", name), "utf8"));
    expect(texts.toSorted()).toEqual(["one", "ours"]);
  });

  test("[HOST-5] who had the old file open and writes on is told at the next commit, and finds it in rescue", async () => {
    const { run, put, on, journalled, root } = await work();
    put("log", "start");
    linkSync(on("log"), `${root}.same`); // a second way to the file, as an open editor has it
    await run((call) => call.files.writeText("log", "ours"));
    writeFileSync(`${root}.same`, "written late");
    await run((call) => call.files.writeText("x", "x"));
    const [record] = (await journalled("file-diverged")) as { path: string; kept: string }[];
    expect(record?.path).toBe("log");
    expect(readFileSync(join(root, ".holdfast/workspace/rescue", record?.kept ?? ""), "utf8")).toBe("written late");
  });
});

describe("a commit that was cut off", () => {
  const system = (code: string) => Object.assign(new Error(code), { code });
  /** Fails every rename and link of the commits, from the moment it is armed. */
  const failing = (armed: { now: boolean }): HostPort => ({
    ...realHost,
    rename: (from, to) => {
      if (armed.now && !to.includes(".holdfast-") && !from.includes(".holdfast-")) throw system("EIO");
      realHost.rename(from, to);
    },
    linkAs: (from, to) => {
      if (armed.now) throw system("EIO");
      realHost.linkAs(from, to);
    },
  });

  test("[HOST-8] is finished by whoever opens the workspace next, whichever session that is", async () => {
    const at = freshRoot();
    const armed = { now: false };
    const { run, put, holdfast, text } = await work({ workspace: { root: at.root, port: failing(armed) } }, at);
    put("f", "one");
    put("gone", "x");
    armed.now = true;
    const { ok } = await run(async (call) => {
      await call.files.writeText("f", "two");
      await call.files.writeText("new/g", "g");
      await call.files.delete("gone");
    });
    expect([ok, text("f")]).toEqual([true, "one"]); // decided, and not yet in place
    await holdfast.close().catch(() => {});
    await work({}, at);
    expect([text("f"), text("new/g"), existsSync(join(at.root, "gone"))]).toEqual(["two", "g", false]);
    expect(tree(at.root)).toEqual(["f", "new/", "new/g"]);
  });

  test("[HOST-9] while it waits it is read as decided, nothing more is written, and it goes in when it can", async () => {
    const at = freshRoot();
    const armed = { now: false };
    const { run, put, session, text } = await work({ workspace: { root: at.root, port: failing(armed) } }, at);
    put("f", "one");
    armed.now = true;
    expect((await run((call) => call.files.writeText("f", "two"))).ok).toBe(true);
    expect([text("f"), await session.files.readText("f")]).toEqual(["one", "two"]);
    let read = "";
    const next = await run(async (call) => {
      read = await call.files.readText("f");
      await call.files.writeText("g", "g");
    });
    expect([read, next.ok, next.reason]).toEqual(["two", false, "WORKSPACE_PENDING"]);
    armed.now = false;
    expect((await run((call) => call.files.writeText("g", "g"))).ok).toBe(true);
    expect([text("f"), text("g")]).toEqual(["two", "g"]);
  });

  test("[HOST-8] that was not decided is taken back, and leaves nothing beside the files", async () => {
    const { run, put, session, root, text, holdfast } = await work();
    put("f", "one");
    const { store } = holdfast;
    const commit = store.commit.bind(store);
    store.commit = async (batch) => {
      if (JSON.stringify(batch).includes("state-changed")) throw new Error("the store went away");
      return commit(batch);
    };
    await expect(run((call) => call.files.writeText("f", "two"))).rejects.toThrow("the store went away");
    expect(tree(root)).toHaveLength(2); // what waits beside the file, and the file
    store.commit = commit;
    await session.close();
    expect([tree(root), text("f")]).toEqual([["f"], "one"]);
  });
});

describe("one workspace", () => {
  test("[HOST-6] is used by one process at a time, and sessions of one kernel share it", async () => {
    const at = freshRoot();
    const { holdfast, run, text } = await work({}, at);
    await run((call) => call.files.writeText("f", "first"));
    const second = await holdfast.open("second");
    await second.files.writeText("f", "second");
    await second.close();
    expect(text("f")).toBe("second");
    await expect(inWorkspace({}, { ...at, store: `${at.store}2` })).rejects.toEqual(coded("WORKSPACE_BUSY"));
  });

  test("[HOST-7] what is ours is no part of it: tools cannot name it, lists do not show it", async () => {
    const at = freshRoot();
    const { session } = await work({}, { root: at.root, store: join(at.root, "data/holdfast.db") });
    const { files } = session;
    for (const path of [
      ".holdfast",
      ".holdfast/workspace/id",
      ".HOLDFAST/x",
      "a/.holdfast-0123456789abcdef01234567-1",
      "data/holdfast.db",
      "data/holdfast.db-wal",
      "data/holdfast.db.blobs/x",
    ]) {
      await expect(files.readText(path)).rejects.toEqual(coded("FILE_BAD_PATH"));
      await expect(files.writeText(path, "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
      await expect(files.delete(path, { recursive: true })).rejects.toEqual(coded("FILE_BAD_PATH"));
      expect(await files.exists(path)).toBe(false);
    }
    await files.writeText("data/holdfast.dbx", "mine");
    expect((await files.list()).map(({ name }) => name)).toEqual(["data"]);
    expect((await files.list("data")).map(({ name }) => name)).toEqual(["holdfast.dbx"]);
    await expect(files.delete("data", { recursive: true })).rejects.toEqual(coded("FILE_NOT_COVERED"));
  });

  test.each([
    ["the store is named through a link to the workspace", "via", "via/data/holdfast.db"],
    ["only the workspace is", "via", "root/data/holdfast.db"],
    ["only the store is", "root", "via/data/holdfast.db"],
  ])("[HOST-22] a store in the workspace is ours whichever way it is named: %s", async (_, root, store) => {
    const at = freshRoot();
    const beside = (name: string) => join(at.root, "..", name);
    symlinkSync(at.root, beside("via"));
    const { files } = await work({}, { root: beside(root), store: beside(store) });
    for (const path of ["data/holdfast.db", "data/holdfast.db-wal"]) {
      await expect(files.delete(path)).rejects.toEqual(coded("FILE_BAD_PATH"));
      await expect(files.writeText(path, "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
    }
    expect(await files.list("data")).toEqual([]);
  });
});

describe("the two plans that are written down", () => {
  const slots = (root: string) =>
    ["a", "b"].map((name) => readFileSync(join(root, `.holdfast/workspace/intent-${name}`), "utf8"));

  test("[HOST-8] a call that is refused takes the slot of the older one, and leaves the newest alone", async () => {
    const at = freshRoot();
    const state = { full: false };
    const port = refusingDisk((text) => state.full && text === "too much");
    const { run } = await work({ workspace: { root: at.root, port } }, at);
    await run(({ files }) => files.writeText("a", "first"));
    await run(({ files }) => files.writeText("b", "second"));
    const [, newest] = slots(at.root);
    state.full = true;
    expect((await run(({ files }) => files.writeText("c", "too much"))).ok).toBe(false);
    state.full = false;
    expect(slots(at.root)).toEqual([expect.stringMatching(/^none\n/), newest]);
    await run(({ files }) => files.writeText("d", "fourth"));
    expect(slots(at.root)).toEqual([expect.stringContaining('"path":"d"'), newest]);
  });

  test("[HOST-8] one that was refused is gone from its slot for good before anything else happens", async () => {
    const at = { ...freshRoot(), synced: true };
    const { synced, port: telling } = tellingDisk(at.root);
    const refusing = refusingDisk((text) => {
      if (text === "none\n") synced.clear();
      return text === "refused";
    });
    const port = { ...refusing, sync: (handle: number) => telling.sync(handle) };
    const { run } = await work({ workspace: { root: at.root, port } }, at);
    await run(({ files }) => files.writeText("a", "first"));
    expect((await run(({ files }) => files.writeText("b", "refused"))).ok).toBe(false);
    expect([...synced]).toContain(".holdfast/workspace/intent-b");
  });

  test("[HOST-8] one that was refused, and could not be removed, is never carried out", async () => {
    const at = freshRoot();
    const state = { broken: false };
    const port = refusingDisk((text) => state.broken && (text === "refused" || text === "none\n"));
    const { run, root, session, holdfast } = await work({ workspace: { root: at.root, port } }, at);
    await run(({ files }) => files.writeText("a", "first"));
    state.broken = true;
    expect((await run(({ files }) => files.writeText("b", "refused"))).ok).toBe(false);
    expect((await run(({ files }) => files.writeText("c", "third"))).ok).toBe(false); // as long as it lies there
    // A plan whose place in the journal was cut counts as decided.
    await session.append({ kind: "user-said", text: "well?" });
    await session.checkpoint();
    expect((await holdfast.retain(session, { records: 0 })).forgotten).toBeGreaterThan(0);
    state.broken = false;
    expect((await run(({ files }) => files.writeText("d", "fourth"))).ok).toBe(true);
    expect(tree(root)).toEqual(["a", "d"]);
  });

  test.each(["made", "made/deep"])(
    "[HOST-8] a folder that a killed process had put in place, and somebody removed, stays removed: %s",
    async (gone) => {
      const at = freshRoot();
      const { state, port } = forgetfulDisk();
      const one = await work({ workspace: { root: at.root, port } }, at);
      state.notes = 0;
      await one.run(({ files }) => files.writeText("made/deep/file", "new"));
      await one.session.close().catch(() => {});
      await one.holdfast.close().catch(() => {});
      rmSync(one.on(gone), { recursive: true });
      const { root } = await work({}, at);
      expect(tree(root)).toEqual(gone === "made" ? [] : ["made/"]);
    },
  );

  const later: readonly [string, Edit, (root: string) => void, readonly string[]][] = [
    [
      "an empty folder that it made is removed",
      ({ files }) => files.mkdir("made"),
      (root) => rmdirSync(join(root, "made")),
      ["f", "old/"],
    ],
    [
      "a folder that it removed is made",
      ({ files }) => files.delete("old"),
      (root) => mkdirSync(join(root, "old")),
      ["f", "old/"],
    ],
    [
      "a file that it deleted is brought back out of rescue",
      ({ files }) => files.delete("f"),
      (root) => {
        const rescue = join(root, ".holdfast/workspace/rescue");
        const [name = ""] = readdirSync(rescue).filter((one) => !one.endsWith(".note"));
        renameSync(join(rescue, name), join(root, "f"));
      },
      ["f", "old/"],
    ],
  ];
  /** A process that was killed after it had put all in place, what came over it since, and what the next one leaves. */
  const found = async (edit: Edit, since: (root: string) => void, boots: readonly [string?, string?]) => {
    const at = freshRoot();
    const { state, port } = forgetfulDisk();
    const one = await work({ workspace: { root: at.root, port: { ...port, boot: boots[0] } } }, at);
    one.put("f", "theirs");
    mkdirSync(one.on("old"));
    state.notes = 1; // that it is applied, and not that nothing is left to do
    expect((await one.run(edit)).ok).toBe(true);
    await one.session.close().catch(() => {});
    await one.holdfast.close().catch(() => {});
    const done = tree(one.root);
    since(one.root);
    const before = tree(one.root);
    await work({ workspace: { root: at.root, port: { ...realHost, boot: boots[1] } } }, at);
    return { done, before, after: tree(one.root) };
  };
  test.each(later)(
    "[HOST-8] what somebody does after a killed process had put all in place stays: %s",
    async (_, edit, since, left) => {
      const { done, after } = await found(edit, since, ["first", "first"]);
      expect(done).not.toEqual(left);
      expect(after).toEqual(left);
    },
  );
  test.each(later)(
    "[HOST-8] what looks like that when the system was started anew may be a loss of power, and is done again: %s",
    async (_, edit, since) => {
      for (const boots of [["first", "second"], []] as const) {
        const { done, before, after } = await found(edit, since, boots);
        expect(before).not.toEqual(done);
        expect(after).toEqual(done);
      }
    },
  );

  test("[HOST-8] what a killed process had put in place is synced by the next, before the plan is forgotten", async () => {
    const at = { ...freshRoot(), synced: true };
    const { state, port } = forgetfulDisk();
    const one = await work({ workspace: { root: at.root, port } }, at);
    one.put("held/file", "old");
    state.notes = 0;
    await one.run(({ files }) => files.writeText("held/file", "new"));
    await one.session.close().catch(() => {});
    await one.holdfast.close().catch(() => {});
    const { synced, port: telling } = tellingDisk(at.root);
    const { text } = await work({ workspace: { root: at.root, port: telling } }, at);
    expect(text("held/file")).toBe("new");
    expect([...synced]).toContain("held");
  });
});
