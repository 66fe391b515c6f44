import { describe, expect, test } from "vitest";
import { largePicture, PDF, PNG } from "../../test/support/pictures.ts";
import { withTools } from "../../test/support/tools.ts";
import { workspaceTools } from "./entry.ts";

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\tline ${from + at}`).join("\n");
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

describe("read_file", () => {
  test("[TOOL-6] a whole file comes with its numbers", async () => {
    const { said } = await withTools({ "a.txt": "one\ntwo\r\n\nfour" });
    expect(await said("read_file", { path: "a.txt" })).toBe("1\tone\n2\ttwo\n3\t\n4\tfour");
  });

  test("[TOOL-6] a range says where it lies and how to go on", async () => {
    const { said } = await withTools({ "a.txt": lines(100) });
    const part = await said("read_file", { path: "a.txt", from: 11, lines: 10 });
    expect(part).toBe(`${numbered(11, 20)}\n[lines 11 to 20 of 100; read on with from: 21]`);
    expect(await said("read_file", { path: "a.txt", from: 91 })).toBe(`${numbered(91, 100)}\n[lines 91 to 100 of 100]`);
    expect(await said("read_file", { path: "a.txt", from: 101 })).toMatch(
      /^a.txt has 100 lines; there is no line 101\./,
    );
  });

  test("[TOOL-6] following what it says reads a file of any length whole, once", async () => {
    const { said } = await withTools({ "a.txt": lines(997) }, { lines: 100, bytes: 700 });
    const read: string[] = [];
    for (let from = 1; ; ) {
      const answer = await said("read_file", { path: "a.txt", from });
      read.push(...answer.split("\n").filter((line) => /^\d+\t/.test(line)));
      const next = /read on with from: (\d+)\]$/.exec(answer)?.[1];
      if (next === undefined) break;
      from = Number(next);
    }
    expect(read.join("\n")).toBe(numbered(1, 997));
  });

  test("[TOOL-6] a line that is too long is cut, and says by how much", async () => {
    const { said } = await withTools({ "a.js": `${"x".repeat(500)}\nshort\n` }, { lineLength: 100 });
    expect(await said("read_file", { path: "a.js" })).toBe(
      `1\t${"x".repeat(100)} […400 more characters in this line; read on with column: 101]\n2\tshort`,
    );
  });

  test.each(["\n", "\r\n", ""])(
    "[TOOL-28] following what it says reads a line of any length whole, before %j",
    async (end) => {
      const line = Array.from({ length: 40_000 }, (_, at) => `${at} 🥊 `).join("");
      const { said } = await withTools({ "a.json": `first\n${line}${end}` }, { lineLength: 99_999 });
      let read = "";
      for (let column = 1; ; ) {
        const answer = await said("read_file", { path: "a.json", from: 2, lines: 1, column });
        const [, part = "", next] =
          /^2\t(.*?)(?: \[…\d+ more characters in this line; read on with column: (\d+)\])?\n\[lines/.exec(answer) ??
          [];
        read += part;
        if (next === undefined) break;
        column = Number(next);
      }
      expect(read.replaceAll(/\ufffd+/g, "🥊")).toBe(line);
      expect(await said("read_file", { path: "a.json", column: 3 })).toMatch(/^1\trst\n2\t🥊 1 /);
    },
  );

  test("[TOOL-6] lines that lie across pieces of a large file are whole", async () => {
    const text = lines(40_000);
    const { said } = await withTools({ "big.txt": text });
    expect(await said("read_file", { path: "big.txt", from: 39_999, lines: 2 })).toBe(
      `${numbered(39_999, 40_000)}\n[lines 39999 to 40000 of 40000]`,
    );
  });

  test("[TOOL-6] pictures and PDF files are shown, whatever they are called", async () => {
    const { run } = await withTools({ "shot.txt": PNG, "doc.pdf": PDF, "big.png": largePicture() }, { media: 100_000 });
    expect((await run("read_file", { path: "shot.txt" })).parts).toMatchObject([
      { type: "text", text: `shot.txt: image/png, ${PNG.length} bytes` },
      { type: "image", mediaType: "image/png", bytes: PNG },
    ]);
    expect((await run("read_file", { path: "doc.pdf" })).parts?.[1]).toMatchObject({ mediaType: "application/pdf" });
    expect(await run("read_file", { path: "big.png" })).toMatchObject({ ok: false, reason: "too-large" });
  });

  test.each([
    ["NUL", Uint8Array.from([65, 0, 66])],
    ["bytes that are no UTF-8", Uint8Array.from([0xc3, 0x28])],
    ["half a character at the end", Uint8Array.from([65, 0xe2, 0x82])],
  ])("[TOOL-6] a file with %s is refused, never shown damaged", async (_, bytes) => {
    const { run } = await withTools({ "a.bin": bytes });
    expect(await run("read_file", { path: "a.bin" })).toMatchObject({ ok: false, reason: "not-text" });
  });

  test("[TOOL-6] a file that is text to begin with and holds a NUL far below is refused as well", async () => {
    const { run } = await withTools({ "a.bin": `${"line\n".repeat(40_000)}\0` });
    expect(await run("read_file", { path: "a.bin" })).toMatchObject({ ok: false, reason: "not-text" });
  });

  test.each([
    "convert WEBP to PNG\n",
    "GIF8 and its header\n",
    "GIF89a\n",
    "RIFF....WEBP\n",
    "%PDF-1.7 begins a PDF\n",
  ])("[TOOL-6] text about a format, %j, is read as text", async (text) => {
    const { run } = await withTools({ "notes.txt": text });
    expect(await run("read_file", { path: "notes.txt" })).toMatchObject({
      output: expect.stringContaining(text.trim()),
    });
  });

  test("[TOOL-6] an empty file says so", async () => {
    const { said } = await withTools({ "a.txt": "" });
    expect(await said("read_file", { path: "a.txt" })).toBe("[a.txt is empty]");
  });
});

describe("write_file", () => {
  test("[TOOL-7] it says whether it made or replaced the file", async () => {
    const { said, text } = await withTools();
    expect(await said("write_file", { path: "./src/a.txt", text: "one\ntwo\n" })).toBe("Created src/a.txt: 2 lines.");
    expect(await said("write_file", { path: "src/a.txt", text: "three" })).toBe("Replaced src/a.txt: 1 lines.");
    expect(await text("src/a.txt")).toBe("three");
  });

  test("[TOOL-24] a path of the whole disk makes no file in folders of that name, by any tool", async () => {
    const { run, said, session } = await withTools({ "src/a.txt": "a" });
    const there = "/disk/project/src/b.txt";
    const why = "Paths are relative to the workspace, and there is no disk in it.";
    expect(await run("write_file", { path: there, text: "x" })).toMatchObject({
      reason: "FILE_BAD_PATH",
      output: expect.stringContaining(`${why} If you mean a new folder, say disk/project/src/b.txt.`),
    });
    for (const change of [`Add File: ${there}\n+x`, `Update File: src/a.txt\n*** Move to: ${there}\n@@\n-a\n+b`]) {
      const patch = `*** Begin Patch\n*** ${change}\n*** End Patch`;
      expect(await said("apply_patch", { patch })).toContain(`${there}: ${why}`);
    }
    expect(await session.files.list()).toMatchObject([{ name: "src" }]);
    expect(await said("write_file", { path: "/src/b.txt", text: "x" })).toContain("Created src/b.txt");
    expect(await said("write_file", { path: "/c.txt", text: "x" })).toContain("Created c.txt");
    expect(await said("write_file", { path: "new/d.txt", text: "x" })).toContain("Created new/d.txt");
  });

  test("[TOOL-7] where a folder stands nothing is written", async () => {
    const { run, text } = await withTools({ "src/a.txt": "a" });
    expect(await run("write_file", { path: "src", text: "x" })).toMatchObject({ ok: false, reason: "FILE_IS_FOLDER" });
    expect(await text("src/a.txt")).toBe("a");
  });
});

describe("edit_file", () => {
  const CODE = "function a() {\n  return 1;\n}\nfunction b() {\n  return 1;\n}\n";

  test("[TOOL-8] every edit is made where it says", async () => {
    const { said, text } = await withTools({ "a.js": CODE });
    const edits = [
      { find: "a() {\n  return 1", replace: "a() {\n  return 2" },
      { find: "return", replace: "yield", all: true },
    ];
    expect(await said("edit_file", { path: "a.js", edits })).toBe("Edited a.js: 3 places, at line 1, 2 and 5.");
    expect(await text("a.js")).toBe("function a() {\n  yield 2;\n}\nfunction b() {\n  yield 1;\n}\n");
  });

  test("[TOOL-8] a text that stands in several places is refused, and the places are named", async () => {
    const { run, text } = await withTools({ "a.js": CODE });
    const outcome = await run("edit_file", { path: "a.js", edits: [{ find: "return 1", replace: "return 2" }] });
    expect(outcome).toMatchObject({ ok: false, reason: "ambiguous" });
    expect(outcome.output).toContain("occurs 2 times, at line 2 and 5.");
    expect(await text("a.js")).toBe(CODE);
  });

  test("[TOOL-8] one edit that fails undoes those before it", async () => {
    const { run, text } = await withTools({ "a.js": CODE });
    const edits = [
      { find: "function a", replace: "function c" },
      { find: "nowhere", replace: "" },
    ];
    const outcome = await run("edit_file", { path: "a.js", edits });
    expect(outcome).toMatchObject({ ok: false, reason: "not-found" });
    expect(outcome.output).toContain("of edit 2 of 2 is not in the file");
    expect(await text("a.js")).toBe(CODE);
  });

  test("[TOOL-8] where only white space differs, the place is told and not changed", async () => {
    const { run, text } = await withTools({ "a.js": CODE });
    const outcome = await run("edit_file", { path: "a.js", edits: [{ find: "function  b(){", replace: "x" }] });
    expect(outcome.output).toContain("differs in white space or further down:\n4: function b() {");
    expect(await text("a.js")).toBe(CODE);
  });

  test("[TOOL-8] in a file with CR LF a model need not know of it", async () => {
    const { said, text } = await withTools({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
    await said("edit_file", { path: "a.txt", edits: [{ find: "one\ntwo", replace: "1\n2" }] });
    expect(await text("a.txt")).toBe("1\r\n2\r\nthree\r\n");
  });

  test("[TOOL-8] what stands in a replacement is text: no $ is read as anything else", async () => {
    const { said, text } = await withTools({ "a.txt": "price" });
    await said("edit_file", { path: "a.txt", edits: [{ find: "price", replace: "$& $1 $$" }] });
    expect(await text("a.txt")).toBe("$& $1 $$");
  });

  test.each([
    ["an empty text to find", [{ find: "", replace: "x" }], "empty-find"],
    ["edits that change nothing", [{ find: "function a", replace: "function a" }], "no-change"],
  ])("[TOOL-8] %s are refused", async (_, edits, reason) => {
    const { run } = await withTools({ "a.js": CODE });
    expect(await run("edit_file", { path: "a.js", edits })).toMatchObject({ ok: false, reason });
  });
});

describe("paths and arguments", () => {
  test("[TOOL-12] a file that is elsewhere is named", async () => {
    const { said } = await withTools({ "src/deep/util.ts": "x", "node_modules/m/util.ts": "x" });
    expect(await said("read_file", { path: "util.ts" })).toMatch(
      /^There is no util\.ts\. There is: src\/deep\/util\.ts\./,
    );
  });

  test("[TOOL-12] else what its folder holds is", async () => {
    const { said } = await withTools({ "src/helper.ts": "x", "src/main.ts": "x" });
    expect(await said("edit_file", { path: "src/helpers.ts", edits: [{ find: "a", replace: "b" }] })).toMatch(
      /^There is no src\/helpers\.ts\. src has: helper\.ts\./,
    );
    expect(await said("list_files", { path: "lib" })).toMatch(/^There is no lib\. The workspace has: src\/\./);
  });

  test("[TOOL-12] of many that were likely meant a few are named and the rest counted; of a pattern none is looked for", async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, nth) => [`d${nth}/same.ts`, "x"]));
    const { said } = await withTools(many);
    expect(await said("read_file", { path: "same.ts" })).toMatch(/There is: d0\/same\.ts, .* and 3 more\./);
    expect(await said("read_file", { path: "d0/sa*.ts" })).toMatch(/^There is no d0\/sa\*\.ts\. d0 has: same\.ts\./);
    expect(await said("read_file", { path: "nowhere/at/all.ts" })).toMatch(/^There is no nowhere\/at\/all\.ts\.$/);
  });

  test("[TOOL-8] of a text with nothing telling in it no place is guessed", async () => {
    const { said } = await withTools({ "a.js": "let a = 1;\n" });
    expect(await said("edit_file", { path: "a.js", edits: [{ find: "?\n!", replace: "" }] })).not.toContain(
      "begins like this",
    );
  });

  test("[TOOL-12] a folder that was to be read is told as one", async () => {
    const { said } = await withTools({ "src/a.ts": "x" });
    expect(await said("read_file", { path: "." })).toMatch(/^The workspace is a folder\. list_files shows/);
    expect(await said("read_file", { path: "src" })).toMatch(/^src is a folder\. list_files shows/);
  });

  test.each([
    ["read_file", { file: "a" }, "there is no argument file; there are: path, from, lines"],
    ["read_file", {}, "path is missing"],
    ["read_file", { path: "a", from: 0 }, "from must be a whole number from 1"],
    ["edit_file", { path: "a", edits: [] }, "edits must have at least 1"],
    ["edit_file", { path: "a", edits: [{ find: "a", replace: 1 }] }, "edits [0] replace must be a string"],
    ["grep", { pattern: "a", literal: "yes" }, "literal must be true or false"],
    ["edit_file", { path: "a", edits: "all" }, "edits must be a list"],
    ["apply_patch", [], "must be an object"],
  ])("[TOOL-12] %s(%j) says %s", async (name, input, words) => {
    const { run } = await withTools();
    const outcome = await run(name, input);
    expect(outcome).toMatchObject({ ok: false, reason: "bad-arguments" });
    expect(outcome.output).toContain(words);
  });

  test("[TOOL-12] a limit that is none is refused by its name", () => {
    expect(() => workspaceTools({ limits: { lines: 0 } })).toThrow(/limits\.lines/);
    expect(() => workspaceTools({ limits: { line: 5 } as object })).toThrow(/limits\.line/);
  });

  test("[TOOL-12] no path leaves the workspace", async () => {
    const { run } = await withTools();
    for (const path of ["../a", "a/../../b", "x\0y"])
      expect(await run("read_file", { path })).toMatchObject({ ok: false, reason: "FILE_BAD_PATH" });
  });
});
