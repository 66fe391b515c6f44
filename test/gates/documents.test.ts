import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { findDocumentFaults } from "./documents.ts";
import { plant, readTree } from "./tree.ts";

test("documents link to files that exist and name commands that exist; the README stays short", () => {
  expect(findDocumentFaults(readTree("."), Object.keys(packageJson.scripts))).toEqual([]);
});

describe("the gate sees", () => {
  const commands = "npm ci && npm start\nnpm ci && npm test\n";
  const page = `${commands}[a](docs/a.md#top) [b](docs) [c](https://x.test) [d](#here) \`npm run check\`\n`;
  const files = { "README.md": page, "docs/a.md": "[up](../README.md)" };

  test("nothing wrong in sound documents", () => {
    expect(findDocumentFaults(plant(files), ["check"])).toEqual([]);
  });

  test.each([
    ["a dead link", { "docs/a.md": "[b](b.md)" }, "docs/a.md: links to docs/b.md, which does not exist"],
    ["a dead folder", { "docs/a.md": "[b](b)" }, "docs/a.md: links to docs/b, which does not exist"],
    ["a command nobody answers", { "docs/a.md": "npm run chck" }, 'docs/a.md: there is no script "chck"'],
    ["a long README", { "README.md": commands + "line\n".repeat(149) }, "README.md: 151 lines, at most 150"],
    ["a dead link for models", { "llms.txt": "[b](docs/b.md)" }, "llms.txt: links to docs/b.md, which does not exist"],
    [
      "a command that is not on the first screen",
      { "README.md": `npm ci && npm start\n${"line\n".repeat(24)}npm ci && npm test\n` },
      "README.md: `npm ci && npm test` is not on its first screen",
    ],
    [
      "a guide that nobody finds",
      { "docs/guides/g.md": "", "docs/README.md": "[g](guides/g.md)" },
      "llms.txt: does not name docs/guides/g.md",
    ],
  ])("%s", (_name, more, fault) => {
    expect(findDocumentFaults(plant({ ...files, ...(more as object) }), ["check"])).toEqual([fault]);
  });
});
