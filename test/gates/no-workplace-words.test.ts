import { describe, expect, test } from "vitest";
import { findWorkplaceWords } from "./no-workplace-words.ts";
import { plant, readTree } from "./tree.ts";

test("no file names a registry, a machine path or a folder outside the project", () => {
  const tree = readTree(".");
  expect(tree.size).toBeGreaterThan(40);
  expect(findWorkplaceWords(tree)).toEqual([]);
});

describe("the gate sees", () => {
  test.each([
    ["https://registry.npmjs.org/vitest", "a registry host: registry.npmjs.org"],
    ["registry=http://npm.corp.example:4873", "a registry host: npm.corp.example"],
    ["read /work/main/x", "an absolute machine path: /work/m"],
    ["(/root/.cache/x)", "an absolute machine path: /root/."],
    ["`/home/me/project`", "an absolute machine path: /home/m"],
    ["see ../shared/notes.md", "a folder outside the project: ../shared"],
  ])("%s", (line, fault) => {
    expect(findWorkplaceWords(plant({ "docs/a.md": `fine\n${line}` }))).toEqual([`docs/a.md:2: ${fault}`]);
  });

  test("nothing wrong with ordinary words", () => {
    const lines = [
      "npm run door",
      "node_modules/work/x",
      "src/work/a.ts",
      "the root/a.ts",
      "./home/x",
      "https://keepachangelog.com",
    ];
    expect(findWorkplaceWords(plant({ "docs/a.md": lines.join("\n") }))).toEqual([]);
  });
});
