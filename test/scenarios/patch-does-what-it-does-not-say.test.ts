import { describe, expect, test } from "vitest";
import { withTools } from "../support/tools.ts";

const twelve = Array.from({ length: 12 }, (_, nth) => `line ${nth + 1}\n`).join("");
const patched = async (files: Record<string, string>, ...patch: readonly string[]) => {
  const tools = await withTools(files);
  return { ...tools, outcome: await tools.run("apply_patch", { patch: patch.join("\n") }) };
};
const header = (name: string) => [`--- a/${name}`, `+++ b/${name}`];

describe("[TOOL-9] apply_patch refuses", () => {
  test("new lines that stand before the hunk above them, and after the end", async () => {
    const first = ["@@ -10,1 +10,1 @@", "-line 10", "+LINE 10"];
    const { outcome, text } = await patched({ f: twelve }, ...header("f"), ...first, "@@ -3,0 +4,1 @@", "+new");
    expect(outcome).toMatchObject({ ok: false, output: expect.stringContaining("in the order of the file") });
    expect(await text("f")).toBe(twelve);
    const beyond = await patched({ f: twelve }, ...header("f"), "@@ -100,0 +101,1 @@", "+new");
    expect(beyond.outcome).toMatchObject({ ok: false, output: expect.stringContaining("the file has 12") });
  });

  test("to delete a file that holds something else than the patch says", async () => {
    const gone = ["--- a/f", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-one", "-two"];
    for (const holds of ["mine\n", "one\ntwo\nmine\n"]) {
      const { outcome, text } = await patched({ f: holds }, ...gone);
      expect(outcome.ok).toBe(false);
      expect(await text("f")).toBe(holds);
    }
    expect((await patched({ f: "one\ntwo\n" }, ...gone)).outcome).toMatchObject({ ok: true, output: "Deleted f." });
  });
});

describe("[TOOL-9] apply_patch does", () => {
  test("both changes of a file that it names twice, through a link", async () => {
    const { session, run, text } = await withTools({ "a.txt": "one\ntwo\nthree\n" });
    await session.files.link("l.txt", "a.txt");
    const hunk = (name: string, at: number, from: string) => [
      ...header(name),
      `@@ -${at} +${at} @@`,
      `-${from}`,
      `+${from.toUpperCase()}`,
    ];
    const patch = [...hunk("a.txt", 1, "one"), ...hunk("l.txt", 3, "three")].join("\n");
    expect(await run("apply_patch", { patch })).toMatchObject({ ok: true });
    expect(await text("a.txt")).toBe("ONE\ntwo\nTHREE\n");
    const again = [...hunk("a.txt", 2, "two"), ...hunk("l.txt", 2, "two")].join("\n");
    expect(await run("apply_patch", { patch: again })).toMatchObject({ ok: false });
    expect(await text("a.txt")).toBe("ONE\ntwo\nTHREE\n");
  });

  test("what git says without a line of text: empty files, modes, names in quotes", async () => {
    const { outcome, session } = await patched(
      { "run.sh": "exit\n", "empty.txt": "" },
      "diff --git a/run.sh b/run.sh",
      "old mode 100644",
      "new mode 100755",
      "diff --git a/empty.txt b/empty.txt",
      "deleted file mode 100644",
      "index e69de29..0000000",
      "diff --git a/new.txt b/new.txt",
      "new file mode 100644",
      "index 0000000..e69de29",
      'diff --git "a/\\303\\244 b.txt" "b/\\303\\244 b.txt"',
      "new file mode 100755",
      "--- /dev/null",
      '+++ "b/\\303\\244 b.txt"',
      "@@ -0,0 +1 @@",
      "+hello",
    );
    expect(outcome.output).toBe("Updated run.sh.\nDeleted empty.txt.\nAdded new.txt.\nAdded ä b.txt.");
    expect((await session.files.list()).map(({ name }) => name)).toEqual(["new.txt", "run.sh", "ä b.txt"]);
    const modes = await Promise.all(["run.sh", "ä b.txt", "new.txt"].map((path) => session.files.stat(path)));
    expect(modes.map((stat) => (stat.kind === "file" ? stat.mode : 0))).toEqual([0o755, 0o755, 0o644]);
  });

  test("a change in a folder that is really called b", async () => {
    const { text } = await patched(
      { "b/x.txt": "one\n", "x.txt": "one\n" },
      "--- b/x.txt",
      "+++ b/x.txt",
      "@@ -1 +1 @@",
      "-one",
      "+two",
    );
    expect([await text("b/x.txt"), await text("x.txt")]).toEqual(["two\n", "one\n"]);
  });

  test("a move of a file that is no text, and a deletion of a link that leads nowhere", async () => {
    const { session, run } = await withTools({ "a.bin": Uint8Array.of(0xc3, 0x28), gone: "" });
    await session.files.link("l", "gone");
    await session.files.delete("gone");
    const patch = [
      "*** Begin Patch",
      "*** Update File: a.bin",
      "*** Move to: b.bin",
      "*** Delete File: l",
      "*** End Patch",
    ];
    expect(await run("apply_patch", { patch: patch.join("\n") })).toMatchObject({ ok: true });
    expect((await session.files.list()).map(({ name }) => name)).toEqual(["b.bin"]);
  });
});

test("[TOOL-8] [TOOL-9] what nobody sees need not be written: a mark at the beginning, line breaks of both kinds", async () => {
  const before = "\uFEFFone\r\ntwo\nthree\r\nfour\r\n";
  const { run, text, session } = await withTools({ f: before });
  const patch = [...header("f"), "@@ -1,3 +1,4 @@", " one", "-two", "+2", "+2.5", " three"].join("\n");
  expect(await run("apply_patch", { patch })).toMatchObject({ ok: true });
  expect(await text("f")).toBe("\uFEFFone\r\n2\r\n2.5\r\nthree\r\nfour\r\n");
  await session.files.writeText("f", before);
  const edits = [{ find: "one\ntwo\nthree", replace: "1\n2\n3" }];
  expect(await run("edit_file", { path: "f", edits })).toMatchObject({ ok: true });
  expect(await text("f")).toBe("\uFEFF1\r\n2\r\n3\r\nfour\r\n");
  await session.files.writeText("f", before);
  await run("edit_file", { path: "f", edits: [{ find: "four", replace: "4" }] });
  expect(await text("f")).toBe(before.replace("four", "4"));
});

test("[TOOL-8] [FILE-9] places that overlap are several", async () => {
  const { run, session } = await withTools({ f: "}\n}\n}\n" });
  const edit = { find: "}\n}", replace: "x" };
  expect(await run("edit_file", { path: "f", edits: [edit] })).toMatchObject({ ok: false, reason: "ambiguous" });
  await expect(session.files.edit("f", edit)).rejects.toMatchObject({ code: "FILE_EDIT_AMBIGUOUS" });
  expect(await session.files.edit("f", { ...edit, all: true })).toBe(1);
});
