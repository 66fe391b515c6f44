import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTool } from "../../src/transaction/tool.ts";
import { missing, withCommands } from "../support/commands.ts";
import { type At, freshRoot, work } from "../support/workspaces.ts";

// A store may keep its large content in a folder of its own, `sqlite(…, { blobs: fileBlobs("elsewhere") })`. Where that folder
// lay in the workspace nobody knew that it was ours: tools wrote to it, and a command's `rm -rf` took content for good.

const coded = (code: string) => expect.objectContaining({ code });
const CONTENT = new Uint8Array(200_000).fill(7);

/** A store outside the workspace whose content lies in it. */
function place(folder = "data/content"): At {
  const at = freshRoot();
  return { ...at, blobs: join(at.root, folder) };
}

type Place = Pick<Awaited<ReturnType<typeof work>>, "holdfast" | "put">;

async function fill({ holdfast, put }: Place): Promise<() => boolean> {
  const { blobs } = holdfast.store;
  const { name } = await blobs.put(CONTENT);
  put("data/theirs", "theirs");
  put("data/content-notes.txt", "theirs, too");
  return () => blobs.holds(name);
}

test("[HOST-7] content of a store in the workspace cannot be named, and is not listed; what only begins like its folder is the user's", async () => {
  const one = await work({}, place());
  const { files, on } = one;
  const isThere = await fill(one);
  expect(existsSync(on("data/content"))).toBe(true);
  expect((await files.list("data")).map(({ name }) => name)).toEqual(["content-notes.txt", "theirs"]);
  for (const path of ["data/content", "data/content/ab", "data/content/tmp/x"]) {
    await expect(files.readText(path)).rejects.toEqual(coded("FILE_BAD_PATH"));
    await expect(files.writeText(path, "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
    await expect(files.delete(path, { recursive: true })).rejects.toEqual(coded("FILE_BAD_PATH"));
  }
  await expect(files.delete("data", { recursive: true })).rejects.toEqual(coded("FILE_NOT_COVERED"));
  await files.writeText("data/content-notes.txt", "ours");
  await files.delete("data/content-notes.txt");
  expect([await files.glob("**/*"), isThere()]).toEqual([["data/theirs"], true]);
});

test.each([
  ["through a link to the workspace", (root: string) => symlinkSync(root, join(root, "../via")), "../via/new/content"],
  [
    "by a link that lies in it",
    (root: string) => {
      mkdirSync(join(root, "new/content"), { recursive: true });
      symlinkSync("new/content", join(root, "link"));
    },
    "link",
  ],
])("[HOST-22] content in the workspace is ours whichever way it is named: %s", async (_, make, folder) => {
  const at = freshRoot();
  make(at.root);
  const one = await work({}, { ...at, blobs: join(at.root, folder) });
  const isThere = await fill(one);
  expect(existsSync(one.on("new/content"))).toBe(true);
  for (const path of ["new/content", folder.replace("../via/", ""), "new/content/x"])
    await expect(one.files.writeText(path, "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
  expect(isThere()).toBe(true);
});

test("[HOST-7] content beside the store, where it lies unless somebody says otherwise, is hidden once", async () => {
  const at = freshRoot();
  const one = await work(
    {},
    { root: at.root, store: join(at.root, "data/s.db"), blobs: join(at.root, "data/s.db.blobs") },
  );
  const isThere = await fill(one);
  expect((await one.files.list("data")).map(({ name }) => name)).toEqual(["content-notes.txt", "theirs"]);
  expect(isThere()).toBe(true);
});

test("[HOST-7] the copy that a fork gets has nothing of it", async () => {
  const at = place();
  const one = await work({}, at);
  await fill(one);
  const { callId } = await one.run((call) => call.files.writeText("data/new", "new"));
  const fork = await one.session.fork({ after: callId, as: "copy", workspace: join(at.root, "../copy") });
  await fork.close();
  expect([existsSync(join(at.root, "../copy/data/theirs")), existsSync(join(at.root, "../copy/data/content"))]).toEqual(
    [true, false],
  );
});

describe.skipIf(missing("overlay") !== undefined)("overlay", () => {
  test.each(["data/content", "data/s.db.blobs", "data/s.db.blobs/deep"])(
    "[EXEC-14] a command sees nothing of a store's content that lies among the files, and takes none of it: %s",
    async (folder) => {
      const at = place(folder);
      const one = await withCommands("overlay", {}, { ...at, store: join(at.root, "data/s.db") });
      const isThere = await fill(one);
      const { sh, results, text } = one;
      expect((await sh("ls data; rm -rf data; mkdir -p data; echo new > data/new")).ok).toBe(true);
      expect([results[0]?.stdout.text, text("data/new"), isThere()]).toEqual([
        "content-notes.txt\ntheirs\n",
        "new\n",
        true,
      ]);
      expect(await sh(`mkdir -p ${folder}`)).toMatchObject({ reason: "EXEC_NOT_COVERED" });
      expect(isThere()).toBe(true);
    },
  );

  test("[EXEC-14] a command sees nothing of content that comes while its call runs", async () => {
    const seen: string[] = [];
    const tool = defineTool({
      name: "hands",
      access: "execute",
      run: async (_, call) => {
        seen.push((await call.exec("ls data")).stdout.text);
        await one.holdfast.store.blobs.put(CONTENT);
        seen.push((await call.exec("ls data; mkdir -p sub; mv data/content sub; ls sub")).stdout.text);
        return "ok";
      },
    });
    const at = place();
    const one = await withCommands("overlay", { tools: [tool] }, { ...at, store: join(at.root, "data/s.db") });
    expect((await one.session.runTool({ name: "hands", input: {} })).ok).toBe(true);
    expect(seen).toEqual(["", ""]);
    expect(existsSync(one.on("data/content"))).toBe(true);
  });

  test("[EXEC-14] content that has no folder yet costs no command one", async () => {
    const one = await withCommands("overlay", {}, place("later/deep/content"));
    expect((await one.sh("ls; echo a > a")).ok).toBe(true);
    expect([one.results[0]?.stdout.text, one.results[0]?.changed.paths]).toEqual(["", ["a"]]);
    expect(existsSync(one.on("later"))).toBe(false);
  });
});

test("[EXEC-38] with the portable driver a store's content among the files is told before a command can reach it", async () => {
  const one = await withCommands("portable", {}, place());
  const isThere = await fill(one);
  const refused = await one.sh("rm -rf data");
  expect([refused.reason, refused.output]).toEqual([
    "EXEC_NOT_COVERED",
    expect.stringContaining("data/content (store)"),
  ]);
  expect(isThere()).toBe(true);
});
