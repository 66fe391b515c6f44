import { writeFileSync } from "node:fs";
import { platform } from "node:os";
import { expect, test } from "vitest";
import { type HoldfastError, type HostPort, realHost } from "../index.ts";
import { withTools } from "../../test/support/tools.ts";
import { freshRoot, work } from "../../test/support/workspaces.ts";
import { execTool, workspaceTools } from "./entry.ts";

const ODD = {
  "src/a\nb.ts": "find me\n",
  'src/"c"': "find me\n",
  "src/d\u001b[31m": "find me\n",
  "src/e f": "find me\n",
};
const SHOWN = ['"src/a\\nb.ts"', 'src/"c"', '"src/d\\u001b[31m"', "src/e f"];

test("[TOOL-26] one line of a listing is one path, whatever it is called", async () => {
  const { said, session } = await withTools(ODD);
  const inOrder = [SHOWN[1], SHOWN[0], SHOWN[2], SHOWN[3]];
  expect((await said("glob", { pattern: "src/*" })).split("\n")).toEqual(inOrder);
  expect((await said("grep", { pattern: "me" })).split("\n")).toEqual(inOrder.map((path) => `${path}:1:find me`));
  await session.files.mkdir("src/f\tg");
  await session.files.link("src/h", "a\nb.ts");
  expect((await said("list_files", { path: "src" })).split("\n")).toEqual([
    ...inOrder,
    '"src/f\\tg/"',
    'src/h -> "a\\nb.ts"',
  ]);
  expect(await said("read_file", { path: "a\nb.ts" })).toContain('There is no "a\\nb.ts". There is: "src/a\\nb.ts".');
});

test("[TOOL-26] what is done to such a path is told in one line, and a command's changes are", async () => {
  const { said } = await withTools(ODD);
  const path = "src/a\nb.ts";
  expect(await said("write_file", { path, text: "1\n" })).toBe('Replaced "src/a\\nb.ts": 1 lines.');
  const edits = [{ find: "1", replace: "2" }];
  expect(await said("edit_file", { path, edits })).toBe('Edited "src/a\\nb.ts": 1 place, at line 1.');
  expect(await said("edit_file", { path, edits })).toContain('In "src/a\\nb.ts" the text to find is not in the file');
  await said("write_file", { path, text: "" });
  expect(await said("read_file", { path })).toBe('["src/a\\nb.ts" is empty]');
  const { session } = await work({ tools: [execTool()] });
  const command = "printf x > 'a\nb'; touch c";
  expect((await session.runTool({ name: "exec", input: { command } })).output).toBe(
    'Exit code 0.\nChanged: "a\\nb", c.',
  );
});

test("[TOOL-26] apply_patch takes a path as it is shown, in either form of a patch", async () => {
  const { said, text, session } = await withTools(ODD);
  const marked = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  const update = marked('*** Update File: "src/a\\nb.ts"', '*** Move to: "src/\\u001bb.ts"', "-find me", "+found");
  expect(await said("apply_patch", { patch: update })).toBe('Moved "src/a\\nb.ts" to "src/\\u001bb.ts".');
  expect(await text("src/\u001bb.ts")).toBe("found\n");
  const unified = '--- "a/src/\\u001bb.ts"\n+++ "b/src/\\u001bb.ts"\n@@ -1 +1 @@\n-found\n+again\n';
  expect(await said("apply_patch", { patch: unified })).toBe('Updated "src/\\u001bb.ts".');
  expect(await said("apply_patch", { patch: marked('*** Add File: "as it stands"', "+x") })).toBe(
    'Added "\\"as it stands\\"".',
  );
  expect(await session.files.exists('"as it stands"')).toBe(true);
});

test("[TOOL-12] a name that is like another in letters of any script is told, also with its accents written apart", async () => {
  const { said } = await withTools({ "über.txt": "", "設定.json": "", "nur.md": "" });
  expect(await said("read_file", { path: "u\u0308ber.txt" })).toContain("The workspace has: über.txt.");
  expect(await said("read_file", { path: "設定.yaml" })).toContain("The workspace has: 設定.json.");
});

test("[TOOL-31] [FILE-20] names that are not UTF-8 are counted by every list and search that would hold them", async () => {
  const at = freshRoot();
  const odd: Uint8Array[] = [];
  const port: HostPort = {
    ...realHost,
    names: (path) => {
      const names = realHost.names(path);
      return names.some((name) => Buffer.from(name).equals(Buffer.from("b.ts"))) ? [...names, ...odd] : names;
    },
  };
  const { session, put, files } = await work({ tools: workspaceTools(), workspace: { root: at.root, port } }, at);
  put("src/a.ts", "find me\n");
  put("src/b.ts", "");
  const said = async (name: string, input: object) => (await session.runTool({ name, input })).output;
  expect(await said("list_files", { depth: 2 })).toBe("src/\nsrc/a.ts\nsrc/b.ts");
  odd.push(Buffer.from([0xff]), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  const skipped = "[skipped: src (2 names that are not UTF-8)]";
  expect(await said("list_files", { depth: 2 })).toBe(`src/\nsrc/a.ts\nsrc/b.ts\n${skipped}`);
  expect(await said("list_files", { depth: 1 })).toBe("src/"); // it did not look into src
  expect(await said("glob", { pattern: "**/*" })).toBe(`src/a.ts\nsrc/b.ts\n${skipped}`);
  expect(await said("glob", { pattern: "*.md" })).toBe("[no file matches]");
  expect(await said("grep", { pattern: "find" })).toBe(`src/a.ts:1:find me\n${skipped}`);
  const passed: unknown[] = [];
  const passedOver = (path: string, { code, details }: HoldfastError) => passed.push([path, code, details["names"]]);
  expect((await files.list("src", { passedOver })).map(({ name }) => name)).toEqual(["a.ts", "b.ts"]);
  expect(await files.glob("**", { passedOver })).toEqual(["src/a.ts", "src/b.ts"]);
  for await (const match of files.grep("nothing", { passedOver })) expect(match).toBe(undefined);
  expect(passed).toEqual(Array.from({ length: 3 }, () => ["src", "FILE_NAME_NOT_TEXT", 2]));
});

test.skipIf(platform() !== "linux")(
  "[TOOL-31] a folder that holds nothing but such names is not called empty",
  async () => {
    const { session, put, on } = await work({ tools: workspaceTools() });
    put("src/a.ts", "");
    writeFileSync(Buffer.concat([Buffer.from(`${on("src")}/`), Buffer.from([0xff])]), "x");
    await session.files.delete("src/a.ts");
    expect((await session.runTool({ name: "list_files", input: { path: "src" } })).output).toBe(
      "[skipped: src (a name that is not UTF-8)]",
    );
  },
);
