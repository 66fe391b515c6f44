import { expect, test } from "vitest";
import { parseUnified } from "./unified.ts";

const parsed = (...lines: readonly string[]) => parseUnified(lines);

test("[TOOL-9] a rename is a move, with and without a change of what it says", () => {
  const header = ["diff --git a/old.txt b/new.txt", "similarity index 90%", "rename from old.txt", "rename to new.txt"];
  expect(parsed(...header)).toEqual({
    ok: true,
    changes: [{ kind: "update", path: "old.txt", to: "new.txt", hunks: [] }],
  });
  const changed = parsed(...header, "--- a/old.txt", "+++ b/new.txt", "@@ -1 +1 @@", "-one", "+two");
  expect(changed).toMatchObject({ ok: true, changes: [{ path: "old.txt", to: "new.txt", hunks: [{}] }] });
});

test("[TOOL-22] a file that gets another name and another mode is moved and gets it, and the next file is another", () => {
  const header = ["diff --git a/old.sh b/new.sh", "old mode 100644", "new mode 100755"];
  const rename = ["similarity index 60%", "rename from old.sh", "rename to new.sh"];
  const lines = ["--- a/old.sh", "+++ b/new.sh", "@@ -1 +1 @@", "-one", "+two"];
  const next = ["diff --git a/b b/b", "old mode 100755", "new mode 100644"];
  const moved = { kind: "update", path: "old.sh", to: "new.sh", mode: 0o755 };
  const other = { kind: "update", path: "b", hunks: [], mode: 0o644 };
  expect(parsed(...header, ...rename, ...next)).toEqual({ ok: true, changes: [{ ...moved, hunks: [] }, other] });
  for (const named of [[...rename, ...lines], lines])
    expect(parsed(...header, ...named, ...next)).toMatchObject({
      ok: true,
      changes: [{ ...moved, hunks: [{ before: ["one"] }] }, other],
    });
  expect(parsed(...header, "@@ -1 +1 @@", "-one", "+two")).toMatchObject({ ok: false, line: 4 });
});

test("[TOOL-9] two files in one patch are two changes, though they follow each other at once", () => {
  const lines = (name: string) => [`--- a/${name}\t2026-01-01`, `+++ b/${name}`, "@@ -1 +1 @@", "-one", "+two"];
  expect(parsed(...lines("a"), ...lines("b"), ...lines("b"))).toMatchObject({
    ok: true,
    changes: [{ path: "a" }, { path: "b" }, { path: "b" }],
  });
  expect(parsed("--- a/a", "+++ b/b", "--- a/a", "+++ b/c")).toMatchObject({ changes: [{ to: "b" }, { to: "c" }] });
});

test("[TOOL-9] a new file may come without its last line's end", () => {
  const lines = ["--- /dev/null", "+++ b/a.txt", "@@ -0,0 +1,2 @@", "+one", "+two", "\\ No newline at end of file"];
  expect(parsed(...lines)).toMatchObject({ ok: true, changes: [{ kind: "add", path: "a.txt" }] });
  expect(parsed("--- a/a.txt", "+++ /dev/null", "@@ -1 +0,0 @@", "-one")).toMatchObject({
    changes: [{ kind: "delete" }],
  });
});

test.each<[string, readonly string[]]>([
  ["The patch names no file.", []],
  ["This is neither a header nor a line of a hunk.", ["rename to nowhere"]],
  ["A --- line must be followed by a +++ line.", ["--- a/a"]],
  ["A hunk comes before any --- and +++ line.", ["@@ -1 +1 @@", "-one", "+two"]],
  ["A line of a hunk begins with a space, - or +.", ["--- a/a", "+++ b/a", "@@ -1,2 +1,2 @@", "-one", "?"]],
  ["The hunk says 3 and 3 lines, but has 1 and 0.", ["--- a/a", "+++ b/a", "@@ -1,3 +1,3 @@", "-one"]],
  ["A hunk begins with @@ -line,count +line,count @@.", ["--- a/a", "+++ b/a", "@@ here @@"]],
  ["This is neither a header nor a line of a hunk.", ["--- a/a", "+++ b/a", "words"]],
])("[TOOL-9] what is no patch is refused with its line: %s", (why, lines) => {
  const result = parseUnified(lines);
  expect(result).toMatchObject({ ok: false });
  expect("why" in result ? result.why : "").toContain(why);
});

const OF_A = "diff --git a/a b/a";
test.each<[string, readonly string[]]>([
  ["A copy", ["diff --git a/a b/b", "similarity index 100%", "copy from a", "copy to b"]],
  ["A file that is not text", [OF_A, "index 1..2 100644", "Binary files a/a and b/a differ"]],
  ["A file that is not text", [OF_A, "index 1..2 100644", "GIT binary patch", "literal 3", "KcmZ"]],
  ["A symbolic link", [OF_A, "new file mode 120000", "index 0..1", "--- /dev/null", "+++ b/a", "@@ -0,0 +1 @@", "+b"]],
  ["A symbolic link", [OF_A, "deleted file mode 120000", "index 1..0", "--- a/a", "+++ /dev/null"]],
  ["A symbolic link", [OF_A, "index 1..2 120000", "--- a/a", "+++ b/a", "@@ -1 +1 @@", "-b", "+c"]],
  ["A submodule", [OF_A, "index 1..2 160000", "--- a/a", "+++ b/a", "@@ -1 +1 @@", "-Subproject commit 1", "+2"]],
])("[TOOL-27] what a patch does not change is named: %s", (what, lines) => {
  const fine = ["--- a/b", "+++ b/b", "@@ -1 +1 @@", "-one", "+two"];
  const result = parseUnified([...fine, ...lines]);
  expect(result).toMatchObject({ ok: false, why: expect.stringMatching(new RegExp(`^${what} .*patch`)) });
  expect(parseUnified([...fine.slice(0, 2), "@@ -1 +1 @@", "-copy from a", "+GIT binary patch"])).toMatchObject({
    ok: true,
  });
});
