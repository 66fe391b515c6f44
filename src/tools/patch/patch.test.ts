import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withTools } from "../../../test/support/tools.ts";
import { applyHunks } from "./apply.ts";
import { parsePatch } from "./parse.ts";

const A = "class A {\n  run() {\n    return 1;\n  }\n  stop() {\n    return 1;\n  }\n}\n";
const files = { "a.js": A, "b.txt": "one\ntwo\nthree\n", "old.txt": "bye\n" };
const within = { ...files, "deep/c.txt": "c" };
const enveloped = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

describe("what it changes", () => {
  test.each([
    ["before the first", ["", "@@   stop() {", "-    return 1;", "+    return 0;"]],
    ["before the first, which has no @@", ["", "   stop() {", "-    return 1;", "+    return 0;"]],
    [
      "between two",
      ["@@ class A {", "-  run() {", "+  go() {", "", "", "@@   stop() {", "-    return 1;", "+    return 0;"],
    ],
    ["between anchors", ["", "@@ class A {", "", "@@   stop() {", "", "@@", "-    return 1;", "+    return 0;"]],
    [
      "before the mark of the end",
      ["@@   stop() {", "-    return 1;", "+    return 0;", "   }", " }", "", "*** End of File"],
    ],
  ])("[TOOL-25] empty lines %s separate, and are not looked for in the file", async (_, lines) => {
    const { said, text } = await withTools(files);
    expect(await said("apply_patch", { patch: enveloped("*** Update File: a.js", ...lines) })).toBe("Updated a.js.");
    expect((await text("a.js")).replace("go()", "run()")).toBe(
      A.replace("stop() {\n    return 1", "stop() {\n    return 0"),
    );
  });

  test("[TOOL-25] an empty line before the next hunk tells places apart where the file has it, and is none to insert before", async () => {
    const { said, text } = await withTools({ a: "top\nx\ny\nx\n\nend\n" });
    const patch = enveloped("*** Update File: a", "@@ top", "-x", "+z", "", "@@ end", "+new");
    expect(await said("apply_patch", { patch })).toBe("Updated a.");
    expect(await text("a")).toBe("top\nx\ny\nz\n\nend\nnew\n");
    const inserts = enveloped("*** Update File: a", "@@ top", "+1", "", "@@ y", "+2");
    expect(await said("apply_patch", { patch: inserts })).toBe("Updated a.");
    expect(await text("a")).toBe("top\n1\nx\ny\n2\nz\n\nend\nnew\n");
  });

  test("[TOOL-9] files are updated, added, moved and deleted at once", async () => {
    const { said, text, session } = await withTools(files);
    const patch = enveloped(
      "*** Update File: a.js",
      "@@   stop() {",
      "-    return 1;",
      "+    return 0;",
      "*** Add File: new/c.txt",
      "+hello",
      "+",
      "*** Update File: b.txt",
      "*** Move to: moved/b.txt",
      "@@",
      " one",
      "-two",
      "+2",
      "*** Delete File: old.txt",
    );
    expect(await said("apply_patch", { patch })).toBe(
      "Updated a.js.\nAdded new/c.txt.\nMoved b.txt to moved/b.txt.\nDeleted old.txt.",
    );
    expect(await text("a.js")).toBe(A.replace("stop() {\n    return 1", "stop() {\n    return 0"));
    expect(await text("new/c.txt")).toBe("hello\n\n");
    expect(await text("moved/b.txt")).toBe("one\n2\nthree\n");
    expect((await session.files.list()).map(({ name }) => name)).toEqual(["a.js", "moved", "new"]);
  });

  test("[TOOL-9] a unified diff as git writes it", async () => {
    const { said, text } = await withTools(files);
    const patch = [
      "diff --git a/b.txt b/b.txt",
      "index 123..456 100644",
      "--- a/b.txt",
      "+++ b/b.txt",
      "@@ -1,3 +1,4 @@",
      " one",
      "-two",
      "+2",
      "+2.5",
      " three",
      "diff --git a/new.txt b/new.txt",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/new.txt",
      "@@ -0,0 +1 @@",
      "+fresh",
      "diff --git a/old.txt b/old.txt",
      "deleted file mode 100644",
      "--- a/old.txt",
      "+++ /dev/null",
      "@@ -1 +0,0 @@",
      "-bye",
      "",
    ].join("\n");
    expect(await said("apply_patch", { patch: `\`\`\`diff\n${patch}\n\`\`\`` })).toBe(
      "Updated b.txt.\nAdded new.txt.\nDeleted old.txt.",
    );
    expect(await text("b.txt")).toBe("one\n2\n2.5\nthree\n");
    expect(await text("new.txt")).toBe("fresh\n");
  });

  test("[TOOL-9] where lines stand twice, the number of a unified diff decides, if it is right", async () => {
    const hunk = (line: number) =>
      `--- a/a.js\n+++ b/a.js\n@@ -${line},1 +${line},1 @@\n-    return 1;\n+    return 9;\n`;
    const { said, run, text } = await withTools(files);
    await said("apply_patch", { patch: hunk(6) });
    expect(await text("a.js")).toBe(A.replace("stop() {\n    return 1", "stop() {\n    return 9"));
    const { run: other } = await withTools(files);
    expect((await other("apply_patch", { patch: hunk(4) })).output).toContain("occur 2 times, at line 3 and 6.");
    expect((await run("apply_patch", { patch: hunk(6) })).ok).toBe(true); // now it stands there once, whatever the number
  });

  test.each([
    ["gets a line break at its end", "a", ["-a", "\\ No newline at end of file", "+b"], "b\n"],
    ["loses the line break at its end", "a\n", ["-a", "+b", "\\ No newline at end of file"], "b"],
    [
      "has none before and after",
      "a",
      ["-a", "\\ No newline at end of file", "+b", "\\ No newline at end of file"],
      "b",
    ],
  ])("[TOOL-9] a file that %s", async (_, before, body, after) => {
    const { said, text } = await withTools({ "x.txt": before });
    await said("apply_patch", { patch: ["--- a/x.txt", "+++ b/x.txt", "@@ -1 +1 @@", ...body].join("\n") });
    expect(await text("x.txt")).toBe(after);
  });

  test("[TOOL-9] lines without any around them go behind the anchor, to the line, or to the end", async () => {
    const at = async (patch: string) => {
      const { said, text } = await withTools(files);
      await said("apply_patch", { patch });
      return text("b.txt");
    };
    expect(await at(enveloped("*** Update File: b.txt", "@@ one", "+1.5"))).toBe("one\n1.5\ntwo\nthree\n");
    expect(await at(enveloped("*** Update File: b.txt", "+four"))).toBe("one\ntwo\nthree\nfour\n");
    expect(await at("--- a/b.txt\n+++ b/b.txt\n@@ -2,0 +3,1 @@\n+2.5\n")).toBe("one\ntwo\n2.5\nthree\n");
    expect(await at("--- a/b.txt\n+++ b/b.txt\n@@ -0,0 +1,1 @@\n+zero\n")).toBe("zero\none\ntwo\nthree\n");
  });

  test("[TOOL-9] blank lines between files, anchors one inside the other, the mark of the end, and a mere move", async () => {
    const { said, text, session } = await withTools(files);
    const patch = enveloped(
      "",
      "*** Update File: a.js",
      "@@ class A {",
      "@@   stop() {",
      "-    return 1;",
      "+    return 0;",
      "*** End of File",
      "",
      "*** Update File: old.txt",
      "*** Move to: new.txt",
    );
    expect(await said("apply_patch", { patch })).toBe("Updated a.js.\nMoved old.txt to new.txt.");
    expect(await text("a.js")).toBe(A.replace("stop() {\n    return 1", "stop() {\n    return 0"));
    expect(await text("new.txt")).toBe("bye\n");
    expect(await session.files.exists("old.txt")).toBe(false);
  });

  test("[TOOL-9] a file keeps its CR LF", async () => {
    const { said, text } = await withTools({ "w.txt": "a\r\nb\r\n" });
    await said("apply_patch", { patch: enveloped("*** Update File: w.txt", " a", "-b", "+c") });
    expect(await text("w.txt")).toBe("a\r\nc\r\n");
  });
});

test.each([
  ["whose every line becomes another", Array.from({ length: 40_000 }, (_, n) => `line ${n}`)],
  ["of which every line is the same", Array.from({ length: 40_000 }, () => "same")],
])("[TOOL-16] a hunk of a long file %s takes time with its length, and not with the square of it", (_, lines) => {
  const before = lines.slice(0, 30_000);
  const began = performance.now();
  const applied = applyHunks(lines.join("\n"), [
    { before, after: before.map((line) => `${line}!`), anchors: [], line: 1 },
  ]);
  expect(performance.now() - began).toBeLessThan(3_000); // with the square it takes half a minute
  expect(applied).toEqual({ ok: true, text: lines.map((line, at) => (at < 30_000 ? `${line}!` : line)).join("\n") });
});

test("[TOOL-9] lines are found wherever a plain look finds them, however they repeat", () => {
  const some = fc.array(fc.constantFrom("a", "b"), { maxLength: 12 });
  fc.assert(
    fc.property(some, fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }), (lines, before) => {
      const places = lines.flatMap((_, at) => (before.every((line, nth) => lines[at + nth] === line) ? [at] : []));
      const applied = applyHunks(lines.join("\n"), [{ before, after: ["x"], anchors: [] }]);
      const [at = 0] = places;
      const text = [...lines.slice(0, at), "x", ...lines.slice(at + before.length)].join("\n");
      expect(applied).toMatchObject(places.length === 1 ? { ok: true, text } : { ok: false });
    }),
  );
});

describe("the end of a file", () => {
  const twice = "class A\nfoo\n  return 1\nbar\nfoo\n  return 1\n";
  const unified = (...lines: readonly string[]) => ["--- a/f", "+++ b/f", ...lines, ""].join("\n");
  const UNENDED = "\\ No newline at end of file";

  test.each([
    [
      "the last of several places, also behind an anchor",
      twice,
      enveloped("*** Update File: f", "@@ class A", " foo", "-  return 1", "+  return 2", "*** End of File"),
      twice.replace(/1\n$/, "2\n"),
    ],
    [
      "new lines, whatever anchor is named",
      twice,
      enveloped("*** Update File: f", "@@ class A", "+end", "*** End of File"),
      `${twice}end\n`,
    ],
    [
      "a line of the file that reads like the mark",
      "a\n*** End of File\nb\n",
      enveloped("*** Update File: f", " *** End of File", "-b", "+c"),
      "a\n*** End of File\nc\n",
    ],
    ["a line break that is added", "a\nfoo\nfoo", unified("@@ -3 +3 @@", "-foo", UNENDED, "+foo"), "a\nfoo\nfoo\n"],
    ["a line break that is taken", "foo\n\nfoo\n", unified("@@ -3 +3 @@", "-foo", "+foo", UNENDED), "foo\n\nfoo"],
  ])("[TOOL-19] a hunk that says it ends the file is made there: %s", async (_, before, patch, after) => {
    const { said, text } = await withTools({ f: before });
    expect(await said("apply_patch", { patch })).toBe("Updated f.");
    expect(await text("f")).toBe(after);
  });

  test.each([
    ["other lines follow", "a\nfoo\nb\n", unified("@@ -2 +2 @@", "-foo", UNENDED, "+foo")],
    ["blank lines follow", "foo\n\nb\n", unified("@@ -1 +1 @@", "-foo", "+foo", UNENDED)],
    ["the line has its break", "foo\n", unified("@@ -1 +1 @@", "-foo", UNENDED, "+foo")],
    ["several places", "a\na\nb\n", enveloped("*** Update File: f", "-a", "+c", "*** End of File")],
  ])("[TOOL-19] and is refused where the file does not end with its lines: %s", async (_, before, patch) => {
    const { said, text } = await withTools({ f: before });
    expect(await said("apply_patch", { patch })).toContain("the patch says that the file ends with them");
    expect(await text("f")).toBe(before);
  });
});

test("[TOOL-23] a file that only its diff --git line names is changed with the others, and half a rename is refused", async () => {
  const { said, text } = await withTools({ a: "1\n", b: "1\n" });
  const hunk = "@@ -1 +1 @@\n-1\n+2\n";
  const patch = `diff --git a/a b/a\nindex 1..2 100644\n${hunk}diff --git a/b b/b\n--- a/b\n+++ b/b\n${hunk}`;
  expect(await said("apply_patch", { patch })).toBe("Updated a.\nUpdated b.");
  expect([await text("a"), await text("b")]).toEqual(["2\n", "2\n"]);
  for (const half of ["rename from a\n", "rename to c\n", "diff --git a/a b/c\nrename to c\n"])
    expect(await said("apply_patch", { patch: `${half}--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+3\n` })).toMatch(
      /^Line \d of/,
    );
  expect([await text("a"), await text("b")]).toEqual(["2\n", "2\n"]);
});

describe("what it refuses", () => {
  test("[TOOL-9] one answer names every file and hunk that stands in the way, and nothing is changed", async () => {
    const { run, text, session } = await withTools(files);
    const patch = enveloped(
      "*** Update File: b.txt",
      " one",
      "-two",
      "+2",
      "*** Update File: a.js",
      "@@ class A {",
      "-  go() {",
      "+  went() {",
      "*** Add File: old.txt",
      "+again",
      "*** Delete File: gone.txt",
    );
    const outcome = await run("apply_patch", { patch });
    expect(outcome).toMatchObject({ ok: false, reason: "patch-failed" });
    expect(outcome.output).toContain("a.js: hunk 1 of 1: its lines are not in the file.");
    expect(outcome.output).toContain("old.txt: already exists.");
    expect(outcome.output).toContain("gone.txt: does not exist.");
    expect(await text("b.txt")).toBe("one\ntwo\nthree\n");
    expect(await session.files.exists("old.txt")).toBe(true);
  });

  test.each([
    [
      "white space that differs",
      enveloped("*** Update File: a.js", "-   run() {", "+  x() {"),
      "differs in white space",
    ],
    ["two places", enveloped("*** Update File: a.js", "-    return 1;", "+    return 2;"), "2 times, at line 3 and 6"],
    [
      "hunks out of order",
      enveloped("*** Update File: b.txt", "-three", "+3", "@@", "-one", "+1"),
      "Put hunks in the order of the file",
    ],
    [
      "an anchor that is not there",
      enveloped("*** Update File: a.js", "@@ class B {", "-x", "+y"),
      'no line "class B {"',
    ],
    ["a folder that shall go", enveloped("*** Delete File: deep"), "deep: is a folder."],
    ["a folder that shall be changed", enveloped("*** Update File: deep", "-a", "+b"), "deep: "],
    ["a place to move to that is taken", enveloped("*** Update File: b.txt", "*** Move to: a.js"), "already exists"],
  ])("[TOOL-9] %s", async (_, patch, words) => {
    const { run, session } = await withTools(within);
    const outcome = await run("apply_patch", { patch });
    expect(outcome.ok).toBe(false);
    expect(outcome.output).toContain(words);
    for (const [path, content] of Object.entries(files)) expect(await session.files.readText(path)).toBe(content);
  });

  test.each([
    ["nothing", "", "Line 1 of the patch: The patch is empty."],
    ["no end", "*** Begin Patch\n*** Delete File: a", "The last line must be *** End Patch."],
    ["no header", enveloped("-x"), "A file begins with *** Add File:"],
    [
      "a bare line",
      enveloped("*** Update File: a.js", "class A {"),
      "Line 3 of the patch: A line of a hunk begins with",
    ],
    ["an added line without +", enveloped("*** Add File: n", "x"), "Every line of an added file begins with +."],
    ["wrong counts", "--- a/b.txt\n+++ b/b.txt\n@@ -1,3 +1,1 @@\n-one\n+1\n", "says 3 and 1 lines, but has"],
    ["a hunk without numbers", "--- a/b.txt\n+++ b/b.txt\n@@\n-one\n+1\n", "which needs no numbers"],
    ["no file", enveloped("", " "), "The patch names no file."],
    ["lines of a deleted file", enveloped("*** Delete File: a.js", "-class A {"), "A deleted file has no lines."],
    [
      "an update of nothing",
      enveloped("*** Update File: a.js", "@@", "*** End of File"),
      "The update of a.js has no lines.",
    ],
    ["one file twice", enveloped("*** Delete File: a.js", "*** Delete File: ./a.js"), "names a.js twice"],
  ])("[TOOL-9] a patch with %s says where it is wrong", async (_, patch, words) => {
    const { run } = await withTools(files);
    const outcome = await run("apply_patch", { patch });
    expect(outcome).toMatchObject({ ok: false, reason: "bad-patch" });
    expect(outcome.output).toContain(words);
  });
});

/** A unified diff of two lists of lines, with every line of the file in one hunk. */
function diffOf(before: readonly string[], after: readonly string[]): string {
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  const head = before.slice(0, same).map((line) => ` ${line}`);
  const out = before.slice(same).map((line) => `-${line}`);
  const into = after.slice(same).map((line) => `+${line}`);
  return ["--- a/f", "+++ b/f", `@@ -1,${before.length} +1,${after.length} @@`, ...head, ...out, ...into, ""].join(
    "\n",
  );
}

const line = fc.constantFrom("", "a", "b", "c", "  a", "@@ x", "-a", "*** End Patch", "\\ no", "--- a/f");

test("[TOOL-9] whatever the lines, the diff of two texts turns the first into the second", () => {
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), fc.array(line), (before, after) => {
      const parsed = parsePatch(diffOf(before, after));
      expect(parsed.ok).toBe(true);
      const [change] = parsed.ok ? parsed.changes : [];
      const applied = applyHunks(
        before.map((one) => `${one}\n`).join(""),
        change?.kind === "update" ? change.hunks : [],
      );
      expect(applied).toEqual({ ok: true, text: after.map((one) => `${one}\n`).join("") });
    }),
  );
});

test("[TOOL-9] no text, however odd, makes the reader throw", () => {
  const text = fc.array(
    fc.oneof(line, fc.constantFrom("*** Begin Patch", "*** Update File: a", "+", "@@ -1 +1 @@"), fc.string()),
  );
  fc.assert(
    fc.property(text, (lines) => {
      const parsed = parsePatch(lines.join("\n"));
      if (!parsed.ok) expect(parsed.line).toBeGreaterThan(0);
    }),
  );
});

test.each([
  ["keeps", "-\uFEFFone", "+\uFEFF1", "\uFEFF1\r\ntwo\r\n"],
  ["has beside its change", " \uFEFFone", "+1", "\uFEFFone\r\n1\r\ntwo\r\n"],
  ["takes away", "-\uFEFFone", "+one", "one\r\ntwo\r\n"],
])("[TOOL-21] a mark that a patch made by a program %s is the file's", async (_, before, after, made) => {
  const { said, text } = await withTools({ "a.txt": "\uFEFFone\r\ntwo\r\n" });
  const lines = before.startsWith("-") ? "@@ -1,2 +1,2 @@" : "@@ -1,2 +1,3 @@";
  const patch = ["--- a/a.txt", "+++ b/a.txt", lines, before, after, " two", ""].join("\r\n");
  expect(await said("apply_patch", { patch })).toBe("Updated a.txt.");
  expect(await text("a.txt")).toBe(made);
});
