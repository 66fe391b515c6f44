import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { freshRoot, inWorkspace, type Working } from "../../test/support/workspaces.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { wayBack } from "./rewind-files.ts";
import type { Session } from "./session.ts";

const opened: Working[] = [];
const forks: Session[] = [];
afterEach(async () => {
  for (const fork of forks.splice(0)) await fork.close();
  for (const { session, holdfast } of opened.splice(0)) {
    await session.close();
    await holdfast.close();
  }
});

const put = writes<{ readonly path: string; readonly text: string }>("put", ({ path, text }, call) =>
  call.files.writeText(path, text),
);

/** Two calls: the fork begins between them. */
async function working() {
  const one = await inWorkspace({ tools: [put] }, freshRoot());
  opened.push(one);
  writeFileSync(join(one.root, "f"), "0");
  writeFileSync(join(one.root, "untouched"), "same");
  const run = async (session: Session, path: string, text: string) =>
    (await session.runTool({ name: "put", input: { path, text } })).callId;
  const first = await run(one.session, "f", "1");
  await run(one.session, "f", "2");
  await run(one.session, "late", "2");
  const fork = async (options: { readonly workspace?: string }) => {
    const made = await one.session.fork({ after: first, as: "fork", ...options });
    forks.push(made);
    return made;
  };
  const text = (path: string) => readFileSync(join(one.root, path), "utf8");
  return { ...one, run, fork, text };
}

test("[HOST-13] a fork without a workspace of its own reads the files as they were, and changes none", async () => {
  const { fork, run, text, session } = await working();
  const other = await fork({});
  expect([await other.files.readText("f"), await other.files.readText("untouched")]).toEqual(["1", "same"]);
  expect(await other.files.exists("late")).toBe(false);
  await expect(other.files.writeText("f", "x")).rejects.toMatchObject({ code: "FILES_READ_ONLY" });
  const { ok, reason } = await other.runTool({ name: "put", input: { path: "f", text: "x" } });
  expect([ok, reason]).toEqual([false, "FILES_READ_ONLY"]);
  await run(session, "f", "3");
  expect([text("f"), await other.files.readText("f")]).toEqual(["3", "1"]);
});

test.each(["memory", undefined])(
  "[HOST-13] a folder that was gone where a fork begins is gone with all that somebody puts there (workspace: %s)",
  async (workspace) => {
    const { session, run, root } = await working();
    await run(session, "old/a", "1");
    const folder = await session.begin({ name: "remove", input: {} });
    await folder.call.files.delete("old", { recursive: true });
    await folder.commit("removed");
    const other = await session.fork({
      after: folder.call.id,
      as: "other",
      ...(workspace === undefined ? {} : { workspace }),
    });
    forks.push(other);
    mkdirSync(join(root, "old"));
    writeFileSync(join(root, "old/theirs"), "theirs");
    expect(await other.files.list()).not.toContainEqual({ name: "old", kind: "folder" });
    expect([await other.files.exists("old/theirs"), await other.files.exists("old")]).toEqual([false, false]);
    await expect(other.files.readText("old/theirs")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    if (workspace === undefined) return;
    await run(other, "old/theirs", "ours");
    expect([await other.files.readText("old/theirs"), await other.files.list("old")]).toEqual([
      "ours",
      [{ name: "theirs", kind: "file" }],
    ]);
  },
);

test("[HOST-10] [HOST-13] a fork in memory goes back past its own change of a file that lay there untouched", async () => {
  const { fork, run, text } = await working();
  const other = await fork({ workspace: "memory" });
  const call = await run(other, "untouched", "mine");
  expect(await other.files.readText("untouched")).toBe("mine");
  await other.rewind({ before: call });
  expect([await other.files.readText("untouched"), text("untouched")]).toEqual(["same", "same"]);
});

test("[HOST-13] a fork in memory changes files that never reach the disk, also after it was reopened", async () => {
  const { fork, run, text, holdfast, root } = await working();
  const other = await fork({ workspace: "memory" });
  const call = await run(other, "f", "mine");
  await run(other, "new/file", "mine");
  expect([await other.files.readText("f"), text("f"), existsSync(join(root, "new"))]).toEqual(["mine", "2", false]);
  await other.close();
  forks.splice(0);
  const again = await holdfast.open("fork");
  forks.push(again);
  expect([await again.files.readText("f"), await again.files.readText("new/file")]).toEqual(["mine", "mine"]);
  expect((await again.files.list()).map(({ name }) => name)).toEqual(["f", "new", "untouched"]);
  await again.rewind({ before: call });
  expect([await again.files.readText("f"), await again.files.exists("new")]).toEqual(["1", false]);
});

test("[HOST-13] a fork in a folder of its own begins with the files as they were, and neither sees the other", async () => {
  const { fork, run, text, root, session } = await working();
  const folder = `${root}-fork`;
  const other = await fork({ workspace: folder });
  const there = (path: string) => readFileSync(join(folder, path), "utf8");
  expect([there("f"), there("untouched"), existsSync(join(folder, "late"))]).toEqual(["1", "same", false]);
  await run(other, "f", "theirs");
  await run(session, "f", "3");
  expect([there("f"), text("f")]).toEqual(["theirs", "3"]);
  mkdirSync(`${root}-full`);
  writeFileSync(join(`${root}-full`, "x"), "x");
  const full = session.fork({
    after: session.checkpoints.list()[0]?.callId ?? "",
    as: "full",
    workspace: `${root}-full`,
  });
  await expect(full).rejects.toMatchObject({ code: "FILE_EXISTS" });
});

test("[HOST-13] a fork in a folder of its own is on the disk before it is there", async () => {
  const { fork, root } = await working();
  const [folder, programs, log] = [`${root}-synced`, `${root}-programs`, `${root}-log`];
  mkdirSync(programs);
  // In place of the system's own, which nobody can watch: it tells what it was asked for, and what lay there by then.
  const script = `#!/bin/sh\necho "$@" >>'${log}'\ncat '${folder}/f' '${folder}/untouched' >>'${log}'\n`;
  writeFileSync(join(programs, "sync"), script, { mode: 0o755 });
  const { PATH: before } = process.env;
  try {
    process.env["PATH"] = `${programs}:${before}`;
    await fork({ workspace: folder });
  } finally {
    process.env["PATH"] = before;
  }
  expect(readFileSync(log, "utf8")).toBe(`-f ${folder}\n1same`);
});

test("[TURN-11] a snapshot that knows of no workspace returns to where none of its files was touched", async () => {
  const { session, text } = await working();
  const stranger = ExecutionState.create({ slices: [] });
  const { plan } = await wayBack(session.state, await stranger.snapshot());
  expect(plan?.value.paths).toBeUndefined();
  expect(text("f")).toBe("2"); // looked at, not yet done
});

test("[HOST-13] a fork in a folder of its own has the bounds of its origin's workspace", async () => {
  const at = freshRoot();
  const one = await inWorkspace({ tools: [put], workspace: { root: at.root, limits: { file: 10 } } }, at);
  opened.push(one);
  const input = { path: "f", text: "short" };
  const { callId } = await one.session.runTool({ name: "put", input });
  const fork = await one.session.fork({ after: callId, as: "fork", workspace: join(at.root, "..", "bounded") });
  forks.push(fork);
  const long = { name: "put", input: { path: "f", text: "longer than that" } };
  expect([(await one.session.runTool(long)).reason, (await fork.runTool(long)).reason]).toEqual([
    "FILE_TOO_LARGE",
    "FILE_TOO_LARGE",
  ]);
});
