import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/index.ts";
import { workspaceTools } from "../../src/tools/entry.ts";
import { freshRoot, work } from "../support/workspaces.ts";

const refused = () => Object.assign(new Error("EACCES: permission denied"), { code: "EACCES", syscall: "open" });

/** The system does not let us look into what is called `secret`. Who runs the tests may be allowed everything. */
const port: HostPort = {
  ...realHost,
  openFolder: (path) => {
    if (path.endsWith("secret")) throw refused();
    return realHost.openFolder(path);
  },
};

async function withOddFiles() {
  const at = freshRoot();
  const working = await work({ workspace: { root: at.root, port }, tools: workspaceTools() }, at);
  const { on } = working;
  writeFileSync(on("a.txt"), "needle\n");
  mkdirSync(on("secret"));
  execFileSync("mkfifo", [on("pipe")]);
  writeFileSync(on("big.log"), "");
  truncateSync(on("big.log"), 70_000_000);
  return working;
}

test("[TOOL-10] [FILE-11] a pipe, a file that is too large and a folder that may not be read are passed over and told", async () => {
  const { session } = await withOddFiles();
  const said = async (name: string, input: object) => (await session.runTool({ name, input })).output;
  expect(await said("grep", { pattern: "needle" })).toBe(
    "a.txt:1:needle\n[skipped: secret (not readable), big.log (too large)]",
  );
  expect(await said("glob", { pattern: "**/*.txt" })).toBe("a.txt\n[skipped: secret (not readable)]");
  expect(await said("list_files", { depth: 2 })).toBe(
    "a.txt\nbig.log\npipe (neither file nor folder)\nsecret/ (not readable)",
  );
  const passed: string[] = [];
  const found: string[] = [];
  const passedOver = (path: string) => void passed.push(path);
  for await (const { path } of session.files.grep("needle", { passedOver })) found.push(path);
  expect([found, passed.toSorted()]).toEqual([["a.txt"], ["big.log", "secret"]]);
});

test("[HOST-15] what may not be read is refused as that, when it is what was asked for", async () => {
  const { session } = await withOddFiles();
  await expect(session.files.list("secret")).rejects.toMatchObject({ code: "FILE_NOT_READABLE" });
  expect(await session.runTool({ name: "grep", input: { pattern: "x", path: "secret" } })).toMatchObject({
    reason: "FILE_NOT_READABLE",
  });
});
