import { describe, expect, test } from "vitest";
import { PNG } from "../../test/support/pictures.ts";
import { withTools } from "../../test/support/tools.ts";

const TREE = {
  "README.md": "# Title\nsee src\n",
  "src/a.ts": "export const a = 1;\n// TODO: more\nexport const b = 2;\n",
  "src/deep/b.ts": "import { a } from '../a';\r\n// todo\r\n",
  "src/shot.png": PNG,
  ".git/config": "export TODO\n",
  "node_modules/m/index.js": "export TODO\n",
};

describe("list_files", () => {
  test("[TOOL-10] one level, or as deep as asked, without what nobody means", async () => {
    const { said } = await withTools(TREE);
    expect(await said("list_files", {})).toBe(".git/\nREADME.md\nnode_modules/\nsrc/");
    expect(await said("list_files", { depth: 3 })).toBe(
      ".git/\nREADME.md\nnode_modules/\nsrc/\nsrc/a.ts\nsrc/deep/\nsrc/deep/b.ts\nsrc/shot.png",
    );
    expect(await said("list_files", { path: "node_modules/", depth: 2 })).toBe(
      "node_modules/m/\nnode_modules/m/index.js",
    );
  });

  test("[TOOL-10] more than its limit is counted, not shown", async () => {
    const { said } = await withTools(TREE, { paths: 2 });
    expect(await said("list_files", {})).toBe(".git/\nREADME.md\n[and 2 more; list one of its folders, or use glob]");
  });

  test("[TOOL-10] links and empty folders are told as what they are", async () => {
    const { said, session } = await withTools({ "a.txt": "x" });
    await session.files.link("l", "a.txt");
    await session.files.mkdir("empty");
    expect(await said("list_files", {})).toBe("a.txt\nempty/\nl -> a.txt");
    expect(await said("list_files", { path: "empty" })).toBe("[empty is empty]");
  });
});

describe("glob", () => {
  test("[TOOL-10] files by their paths, from a folder if one is named", async () => {
    const { said } = await withTools(TREE);
    expect(await said("glob", { pattern: "**/*.ts" })).toBe("src/a.ts\nsrc/deep/b.ts");
    expect(await said("glob", { pattern: "./*.ts", path: "src" })).toBe("src/a.ts");
    expect(await said("glob", { pattern: "node_modules/**/*.js" })).toBe("node_modules/m/index.js");
    expect(await said("glob", { pattern: "*.rs" })).toBe("[no file matches]");
    expect(await said("glob", { pattern: "*", path: "nowhere" })).toMatch(/^There is no nowhere\./);
  });

  test("[TOOL-10] more than its limit is counted, not shown", async () => {
    const { said } = await withTools(TREE, { paths: 1 });
    expect(await said("glob", { pattern: "**/*.ts" })).toBe("src/a.ts\n[and 1 more; use a narrower pattern]");
  });
});

describe("grep", () => {
  test("[TOOL-21] the mark that some editors begin a file with is no part of its first line", async () => {
    const { said, text } = await withTools({ "a.cs": "\uFEFFusing System;\nusing A;\n", "b.cs": "\uFEFF" });
    expect(await said("grep", { pattern: "^using" })).toBe("a.cs:1:using System;\na.cs:2:using A;");
    const read = await said("read_file", { path: "a.cs" });
    expect(read).toBe("1\tusing System;\n2\tusing A;");
    expect(await said("read_file", { path: "b.cs" })).toBe("[b.cs is empty]");
    const edits = [{ find: read.split("\n")[0]?.slice(2) ?? "", replace: "using B;" }];
    expect(await said("edit_file", { path: "a.cs", edits })).toBe("Edited a.cs: 1 place, at line 1.");
    expect(await text("a.cs")).toBe("\uFEFFusing B;\nusing A;\n");
  });

  test("[TOOL-20] where it has looked into no file it says so, and not that nothing matches", async () => {
    const { said } = await withTools({ "src/a.ts": "TODO\n" });
    expect(await said("grep", { pattern: "TODO", glob: "*.ts" })).toBe(
      "[no file matches *.ts; put **/ before it to search every folder]",
    );
    expect(await said("grep", { pattern: "TODO", glob: "lib/**" })).toBe("[no file matches lib/**]");
    expect(await said("grep", { pattern: "TODO", glob: "x".repeat(9_000) })).toMatch(/^.{0,400}$/);
    expect(await (await withTools()).said("grep", { pattern: "TODO" })).toBe("[there are no files to search]");
  });

  test("[TOOL-20] what may be text in another encoding is named, and so is a file that was named and is none", async () => {
    const { said } = await withTools({
      "latin.c": Buffer.from("// caf\xe9 TODO\n", "latin1"),
      "notes.txt": Buffer.from("\uFEFFTODO\n", "utf16le"),
      "a.out": Uint8Array.of(0x7f, 0xff, 0, 1),
      zeros: "TODO\0",
    });
    const passed = "[no line matches]\n[skipped: latin.c (not UTF-8 text), notes.txt (not UTF-8 text)]";
    expect(await said("grep", { pattern: "TODO" })).toBe(passed);
    for (const path of ["a.out", "zeros", "latin.c"])
      expect(await said("grep", { pattern: "TODO", path })).toBe(
        `[no line matches]\n[skipped: ${path} (not UTF-8 text)]`,
      );
  });

  test("[TOOL-10] lines with their places; binary files and machines' folders are passed over", async () => {
    const { said } = await withTools(TREE);
    expect(await said("grep", { pattern: "^export|TODO" })).toBe(
      "src/a.ts:1:export const a = 1;\nsrc/a.ts:2:// TODO: more\nsrc/a.ts:3:export const b = 2;",
    );
    expect(await said("grep", { pattern: "TODO", path: "node_modules" })).toBe("node_modules/m/index.js:1:export TODO");
  });

  test("[TOOL-10] in one file, in files that match, in either case, as a text", async () => {
    const { said } = await withTools(TREE);
    expect(await said("grep", { pattern: "todo$", ignoreCase: true })).toBe("src/deep/b.ts:2:// todo");
    expect(await said("grep", { pattern: "see", path: "README.md" })).toBe("README.md:2:see src");
    expect(await said("grep", { pattern: "a", glob: "*.md" })).toBe("[no line matches]");
    expect(await said("grep", { pattern: "'../a';", literal: true })).toBe("src/deep/b.ts:1:import { a } from '../a';");
  });

  test("[TOOL-10] lines around a match are shown once", async () => {
    const { said } = await withTools({ "a.txt": "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n9\n" });
    expect(await said("grep", { pattern: "x", around: 1 })).toBe(
      "a.txt-1-1\na.txt:2:2 x\na.txt-3-3\na.txt:4:4 x\na.txt-5-5\n--\na.txt-7-7\na.txt:8:8 x\na.txt-9-9",
    );
  });

  test("[TOOL-10] lines around a match end like all others, whatever ends them in the file, and a file with NUL is no text", async () => {
    const { said } = await withTools({ "a.txt": "one\r\ntwo\r\nthree\r\n", "b.txt": "two\0two\n" });
    expect(await said("grep", { pattern: "two", around: 1 })).toBe("a.txt-1-one\na.txt:2:two\na.txt-3-three");
  });

  test("[TOOL-10] a last line break begins no line, a line around a match is not shown twice, a link leads to its file", async () => {
    const { said, session } = await withTools({ "a.txt": "one\r\nfoo\r\nfoo\r\n", "b.txt": "" });
    await session.files.link("l", "a.txt");
    expect(await said("grep", { pattern: "^$" })).toBe("[no line matches]");
    const seen = "a.txt-1-one\na.txt:2:foo\na.txt:3:foo";
    expect(await said("grep", { pattern: "foo$", path: "a.txt", around: 1 })).toBe(seen);
    expect(await said("grep", { pattern: "one", path: "l" })).toBe("l:1:one");
  });

  test("[TOOL-10] at its limit it ends and says so", async () => {
    const { said } = await withTools({ "a.txt": "x\n".repeat(50) });
    const answer = await said("grep", { pattern: "x", limit: 3 });
    expect(answer).toBe("a.txt:1:x\na.txt:2:x\na.txt:3:x\n[only the first 3; use a narrower pattern or glob]");
    const { said: all } = await withTools({ "a.txt": "x\n".repeat(3) });
    expect(await all("grep", { pattern: "x", limit: 3 })).toBe("a.txt:1:x\na.txt:2:x\na.txt:3:x");
  });

  test("[TOOL-10] a line of a minified file is cut", async () => {
    const { said } = await withTools({ "a.js": "x".repeat(1_000) });
    expect(await said("grep", { pattern: "x" })).toBe(`a.js:1:${"x".repeat(300)} […700 more characters]`);
  });

  test.each([
    ["NEEDLE", {}],
    ["needle", { literal: true, ignoreCase: true }],
    ["N(E+)DL.\\b", {}],
  ])(
    "[TOOL-28] of a long line the part is shown in which %j stands, and from which character on",
    async (pattern, more) => {
      const { said } = await withTools({
        "a.js": `${"x".repeat(5_000)} NEEDLE ${"y".repeat(5_000)}`,
        "b.js": `${"x".repeat(995)}NEEDLE`,
      });
      const [a, b] = (await said("grep", { pattern, ...more })).split("\n");
      expect(a).toBe(`a.js:1:[from column 4808] ${"x".repeat(193)} NEEDLE ${"y".repeat(99)} […4901 more characters]`);
      expect(b).toBe(`b.js:1:[from column 702] ${"x".repeat(294)}NEEDLE`);
      const read = await said("read_file", { path: "a.js", column: 4808 });
      expect(read).toMatch(/^1\tx{193} NEEDLE y/);
    },
  );

  test("[TOOL-29] a line break that is looked for is no answer that nothing is there", async () => {
    const { run, said } = await withTools({ "a.txt": "one\ntwo\n" });
    for (const literal of [true, false])
      expect(await run("grep", { pattern: "one\ntwo", literal })).toMatchObject({ ok: false, reason: "bad-pattern" });
    expect(await said("grep", { pattern: "one\\ntwo" })).toMatch(
      /^\[no line matches\]\n\[Lines are searched one by one/,
    );
    expect(await said("grep", { pattern: "on[^\\n]" })).toBe("a.txt:1:one");
    expect(await said("grep", { pattern: "", literal: true })).not.toContain("Set literal");
  });

  test("[TOOL-30] a name in brackets is found as it stands, unless something is in the set", async () => {
    const { said } = await withTools({
      "app/[id]/page.tsx": "x\n",
      "app/a/page.tsx": "x\n",
      "b/i/q.ts": "x\n",
      "b/[i]/q.ts": "x\n",
    });
    expect(await said("glob", { pattern: "app/[id]/*.{ts,tsx}" })).toBe("app/[id]/page.tsx");
    expect(await said("grep", { pattern: "x", glob: "app/[id]/**" })).toBe("app/[id]/page.tsx:1:x");
    expect(await said("glob", { pattern: "b/[i]/*" })).toBe("b/i/q.ts");
  });

  test("[TOOL-11] a pattern that cannot be run says why and what to do", async () => {
    const { run } = await withTools(TREE);
    const outcome = await run("grep", { pattern: "(?=x)" });
    expect(outcome).toMatchObject({ ok: false, reason: "bad-pattern" });
    expect(outcome.output).toContain("Lookahead, lookbehind and flags inside a pattern are not supported. Set literal");
  });
});

describe("whatever is asked", () => {
  const MOST = 2_000;
  /** One line of context may still be on its way when the limit is met. */
  const SLACK = 8_000;

  test("[TOOL-16] what is found has an upper bound in characters, and says that there is more", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [
        `${"deep-folder-".repeat(8)}/file-${at}.txt`,
        "line of words\n".repeat(100),
      ]),
    );
    const { said } = await withTools(files, { bytes: MOST });
    for (const [name, input] of [
      ["grep", { pattern: "words", around: 10 }],
      ["grep", { pattern: "line of words" }],
      ["glob", { pattern: "**" }],
      ["list_files", { depth: 8 }],
    ] as const) {
      const answer = await said(name, input);
      expect(answer.length).toBeLessThan(MOST + SLACK);
      expect(answer).toMatch(/\[(and (at least )?[0-9]+ more|only the first [0-9]+); /);
    }
  });

  test("[TOOL-16] a file with more lines, and more places, than a call can have arguments is edited and patched", async () => {
    const many = 300_000;
    const { run, text } = await withTools({ "long.txt": "a b\n".repeat(many) });
    const edited = await run("edit_file", { path: "long.txt", edits: [{ find: " ", replace: "_", all: true }] });
    expect(edited).toMatchObject({ ok: true, output: expect.stringContaining(`${many} places`) });
    const patch = `--- a/long.txt\n+++ b/long.txt\n@@ -${many},1 +${many},1 @@\n-a_b\n+the end\n`;
    expect(await run("apply_patch", { patch })).toMatchObject({ ok: true });
    expect((await text("long.txt")).slice(-12)).toBe("a_b\nthe end\n");
  });
});
