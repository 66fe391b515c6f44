import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect } from "../support/stores.ts";
import { type Edit, freshRoot, work } from "../support/workspaces.ts";
import { type HostPort, realHost } from "../../src/files/host/port.ts";

/** A call that must succeed; its id. */
async function done(run: (edit: Edit) => Promise<{ readonly ok: boolean; readonly callId: string }>, edit: Edit) {
  const { ok, callId } = await run(edit);
  expect(ok).toBe(true);
  return callId;
}

test("[HOST-10] [K33] [T14] changed files come back, deleted ones are there again, made ones are gone, modes and links as they were", async () => {
  const { run, put, on, text, session } = await work();
  put("changed", "old");
  put("dir/deleted", "old");
  put("run.sh", "old");
  chmodSync(on("run.sh"), 0o711);
  const first = await done(run, async ({ files }) => {
    await files.writeText("changed", "new");
    await files.delete("dir", { recursive: true });
    await files.writeText("made/deep/file", "new");
    await files.chmod("run.sh", 0o600);
    await files.link("link", "changed");
  });
  await done(run, ({ files }) => files.writeText("changed", "newer"));
  const dry = await session.rewind({ before: first, dryRun: true });
  expect([text("changed"), dry.done]).toEqual(["newer", false]);
  const { files, ...rest } = await session.rewind({ before: first });
  expect(files).toEqual({ ...dry.files, unlike: [] });
  expect(files?.files).toEqual([
    { path: "changed", does: "restore" },
    { path: "dir", does: "make-folder" },
    { path: "dir/deleted", does: "restore" },
    { path: "link", does: "remove" },
    { path: "made", does: "remove" },
    { path: "made/deep", does: "remove" },
    { path: "made/deep/file", does: "remove" },
    { path: "run.sh", does: "restore" },
  ]);
  expect([rest.done, text("changed"), text("dir/deleted")]).toEqual([true, "old", "old"]);
  expect([existsSync(on("made")), existsSync(on("link")), statSync(on("run.sh")).mode & 0o777]).toEqual([
    false,
    false,
    0o711,
  ]);
});

test("[HOST-10] [K45] another process returns to a boundary it did not make, and files and slices match", async () => {
  const at = freshRoot();
  const one = await work({}, at);
  one.put("f", "0");
  const calls: string[] = [];
  for (const n of ["1", "2", "3"]) calls.push(await done(one.run, ({ files }) => files.writeText("f", n)));
  await one.session.close();
  await one.holdfast.close();
  const two = await work({}, at);
  await two.session.rewind({ after: calls[0] ?? "" });
  expect(two.text("f")).toBe("1");
  await two.session.rewind({ before: calls[0] ?? "" });
  expect(two.text("f")).toBe("0");
});

test("[HOST-11] somebody else's edit, removal or file is kept and told, and the rest goes back", async () => {
  const { run, put, on, text, session } = await work();
  for (const name of ["a", "b", "c"]) put(name, "old");
  const first = await done(run, async ({ files }) => {
    for (const name of ["a", "b", "c"]) await files.writeText(name, "ours");
    await files.writeText("made/ours", "ours");
    await files.writeText("made2", "ours");
  });
  put("a", "theirs");
  rmSync(on("b"));
  put("made/theirs", "theirs");
  put("made2", "theirs now");
  const { files } = await session.rewind({ before: first });
  expect(files?.kept).toEqual([
    { path: "a", why: "changed" },
    { path: "b", why: "removed" },
    { path: "made", why: "not-empty" },
    { path: "made2", why: "changed" },
  ]);
  expect(["a", "b", "c", "made/ours", "made/theirs", "made2"].map(text)).toEqual([
    "theirs",
    undefined,
    "old",
    undefined,
    "theirs",
    "theirs now",
  ]);
});

test("[HOST-11] an edit that came between two of our calls is as far back as a file goes", async () => {
  const { run, put, text, session } = await work();
  put("f", "old");
  const first = await done(run, ({ files }) => files.writeText("f", "ours"));
  put("f", "theirs");
  const second = await done(run, ({ files }) => files.edit("f", { find: "theirs", replace: "ours again" }));
  const before = await session.rewind({ before: second, dryRun: true });
  expect(before.files?.files).toEqual([{ path: "f", does: "restore" }]);
  const { files } = await session.rewind({ before: first });
  expect([text("f"), files?.kept]).toEqual(["theirs", [{ path: "f", why: "edited-before" }]]);
});

test("[HOST-12] [T15] a return that one file refuses changes nothing at all", async () => {
  const at = freshRoot();
  const refuses = { on: "" };
  const refuse = (path: string) => {
    if (refuses.on !== "" && realHost.readLink(path.slice(0, path.lastIndexOf("/"))).endsWith(refuses.on))
      throw Object.assign(new Error("EACCES"), { code: "EACCES" });
  };
  const port: HostPort = {
    ...realHost,
    openFile: (path, how) => {
      if (how === "create") refuse(path);
      return realHost.openFile(path, how);
    },
    linkAs: (from, to) => {
      refuse(to);
      realHost.linkAs(from, to);
    },
  };
  const { run, put, text, session, on } = await work({ workspace: { root: at.root, port } }, at);
  const names = ["1/f", "2/f", "3/f", "4/f", "5/f"];
  for (const name of names) put(name, "old");
  const were = names.map((name) => statSync(on(name)).ino);
  const first = await done(run, async ({ files }) => {
    for (const name of names) await files.writeText(name, "new");
  });
  refuses.on = "/3";
  const head = session.journal.head.seq;
  await expect(session.rewind({ before: first })).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
  expect([names.map(text), session.journal.head.seq]).toEqual([names.map(() => "new"), head]);
  refuses.on = "";
  await session.rewind({ before: first });
  expect(names.map(text)).toEqual(names.map(() => "old"));
  expect(names.map((name) => statSync(on(name)).ino)).toEqual(were);
});

test("[HOST-20] a file that a call replaced comes back as the very file, and is new to whoever goes by its time", async () => {
  const { run, put, on, text, session, rescued } = await work();
  put("f", "old");
  utimesSync(on("f"), 1, 1);
  const { ino } = statSync(on("f"));
  const first = await done(run, ({ files }) => files.writeText("f", "new"));
  await done(run, ({ files }) => files.writeText("f", "newer"));
  const built = statSync(on("f")).mtimeMs;
  expect(rescued()).toEqual(["new", "old"]);
  await session.rewind({ before: first });
  expect([text("f"), statSync(on("f")).ino, statSync(on("f")).nlink]).toEqual(["old", ino, 1]);
  expect(statSync(on("f")).mtimeMs).toBeGreaterThan(built - 10); // the system's own times are a little behind
  expect(rescued()).toEqual(["new", "newer"]);
});

test.each([
  ["before", "the next call"],
  ["after", "the next call, too late to be told of by it"],
])(
  "[HOST-20] what somebody wrote to it %s %s stays aside and is listed, and the content comes from what was kept",
  async (when) => {
    const { run, put, on, text, session, rescued } = await work();
    put("f", "old");
    const open = openSync(on("f"), "a");
    const first = await done(run, ({ files }) => files.writeText("f", "new"));
    if (when === "after") await done(run, ({ files }) => files.writeText("g", "other"));
    writeSync(open, " and late");
    closeSync(open);
    await session.rewind({ before: first });
    expect([text("f"), text("g")]).toEqual(["old", undefined]);
    expect(rescued()).toContain("old and late");
    expect(session.workspace?.rescued().map(({ path, whose }) => [path, whose])).toContainEqual(["f", "theirs"]);
  },
);

test.each<readonly [string, (path: string) => void]>([
  ["has a second name", (path) => linkSync(path, `${path}-too`)],
  ["has another mode", (path) => chmodSync(path, 0o640)],
  ["is gone", (path) => rmSync(path)],
])("[HOST-20] one that %s by then is made anew", async (_, change) => {
  const { run, put, on, text, session } = await work();
  put("f", "old");
  chmodSync(on("f"), 0o600);
  const first = await done(run, ({ files }) => files.writeText("f", "new"));
  await done(run, ({ files }) => files.writeText("g", "other"));
  const folder = on(".holdfast/workspace/rescue");
  for (const name of readdirSync(folder)) change(join(folder, name));
  await session.rewind({ before: first });
  const { mode, nlink } = statSync(on("f"));
  expect([text("f"), mode & 0o777, nlink]).toEqual(["old", 0o600, 1]);
});

test("[HOST-20] [HOST-8] one that waits to come back when its rewind is not decided goes back where it lay", async () => {
  const { run, put, on, text, session, holdfast, root } = await work();
  put("f", "old");
  const { ino } = statSync(on("f"));
  const first = await done(run, ({ files }) => files.writeText("f", "new"));
  const { store } = holdfast;
  const commit = store.commit.bind(store);
  store.commit = async (batch) => {
    if (JSON.stringify(batch).includes("rewound")) throw new Error("the store went away");
    return commit(batch);
  };
  await expect(session.rewind({ before: first })).rejects.toThrow("the store went away");
  expect(readdirSync(root).filter((name) => name.startsWith(".holdfast-"))).toHaveLength(1);
  store.commit = commit;
  await session.close();
  expect([text("f"), readdirSync(root).toSorted()]).toEqual(["new", [".holdfast", "f"]]);
  const rescue = on(".holdfast/workspace/rescue");
  expect(readdirSync(rescue).map((name) => statSync(join(rescue, name)).ino)).toContain(ino);
});

test("[HOST-20] one that the next call brings back, which finishes the one before first, is not taken for a late write", async () => {
  const at = freshRoot();
  const fails = { once: false };
  const port: HostPort = {
    ...realHost,
    rename: (from, to) => {
      if (fails.once && from.endsWith("/f")) {
        fails.once = false;
        throw Object.assign(new Error("not now"), { code: "EIO" });
      }
      realHost.rename(from, to);
    },
  };
  const { run, put, text, session } = await work({ workspace: { root: at.root, port } }, at);
  put("f", "old");
  fails.once = true;
  await done(run, ({ files }) => files.delete("f"));
  expect(text("f")).toBe("old"); // decided, and waiting
  await done(run, ({ files }) => files.writeText("f", "old"));
  await done(run, ({ files }) => files.writeText("g", "other"));
  const kinds = (await collect(session.read())).map(({ kind }) => kind);
  expect([text("f"), kinds.includes("file-diverged")]).toEqual(["old", false]);
});

test("[HOST-20] [HOST-8] one that a killed process had linked in is released by the next", async () => {
  const at = freshRoot();
  const state = { dead: false };
  const dead = () => {
    if (state.dead) throw Object.assign(new Error("dead"), { code: "EIO" });
  };
  const port: HostPort = {
    ...realHost,
    unlink: (path) => {
      dead();
      realHost.unlink(path);
    },
    write: (...args) => {
      if (state.dead && Buffer.from(args[1]).toString("utf8").startsWith("applied")) dead();
      return realHost.write(...args);
    },
  };
  const one = await work({ workspace: { root: at.root, port } }, at);
  for (const name of ["a", "dir/b", "dir/c"]) one.put(name, "old");
  const inode = (name: string) => statSync(one.on(name)).ino;
  const were = ["a", "dir/b", "dir/c"].map(inode);
  const first = await done(one.run, async ({ files }) => {
    await files.writeText("a", "new");
    await files.delete("dir/b");
    await files.delete("dir/c");
  });
  state.dead = true;
  await one.session.rewind({ before: first });
  await one.session.close().catch(() => {});
  await one.holdfast.close().catch(() => {});
  const two = await work({}, at);
  expect(["a", "dir/b", "dir/c"].map(inode)).toEqual(were);
  expect(["a", "dir/b", "dir/c"].map((name) => [two.text(name), statSync(two.on(name)).nlink])).toEqual([
    ["old", 1],
    ["old", 1],
    ["old", 1],
  ]);
  expect(two.rescued()).toEqual(["new"]);
});
