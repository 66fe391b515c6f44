import { spawnSync } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { plant, readTree, ROOT } from "./tree.ts";
import { findVendors } from "./vendor-free-core.ts";

const ENTRY = "src/index.ts";

test("the door loads no vendor, no package and no driver", () => {
  expect(findVendors(ENTRY, readTree("src"))).toEqual([]);
});

test("a process that imports the door has no SQLite in it, and one that imports SQLite is told apart", () => {
  expect(loadedBy(`${ROOT}${ENTRY}`)).toEqual([]);
  expect(loadedBy("node:sqlite")).not.toEqual([]);
});

describe("the gate sees", () => {
  const files = {
    [ENTRY]: 'export { a } from "./base/a.ts";\nexport type { Store } from "./stores/sqlite/open.ts";',
    "src/base/a.ts": 'import { hash } from "node:crypto";\nconst later = () => import("pg");',
    "src/stores/sqlite/open.ts": 'import { DatabaseSync } from "node:sqlite";',
  };

  test("nothing wrong with types and with what is loaded later", () => {
    expect(findVendors(ENTRY, plant(files))).toEqual([]);
  });

  test.each([
    ["a package", 'import x from "pg";', "src/base/b.ts loads pg"],
    ["a driver", 'import { DatabaseSync } from "node:sqlite";', "src/base/b.ts loads node:sqlite"],
    [
      "a driver by a list of types",
      'import { type DatabaseSync } from "node:sqlite";',
      "src/base/b.ts loads node:sqlite",
    ],
  ])("%s, two imports away", (_name, source, fault) => {
    const tree = plant({ ...files, "src/base/a.ts": 'import "./b.ts";', "src/base/b.ts": source });
    expect(findVendors(ENTRY, tree)).toEqual([fault]);
  });

  test("a room at the edge, and what lies behind it", () => {
    const tree = plant({ ...files, "src/base/a.ts": 'export { open } from "../stores/sqlite/open.ts";' });
    expect(findVendors(ENTRY, tree)).toEqual([
      "src/base/a.ts loads src/stores/sqlite/open.ts",
      "src/stores/sqlite/open.ts loads node:sqlite",
    ]);
  });
});

test.runIf(existsSync("/proc/self/fdinfo"))(
  "a process that imports the door can still read its standard input itself",
  () => {
    expect(inputFlags(`${ROOT}${ENTRY}`) & constants.O_NONBLOCK).toBe(0);
    expect(inputFlags("node:process") & constants.O_NONBLOCK).not.toBe(0);
  },
);

/** What the system says of standard input after an import. */
function inputFlags(specifier: string): number {
  const program = `await import(${JSON.stringify(specifier)});
    const { readFileSync } = await import("node:fs");
    console.log(readFileSync("/proc/self/fdinfo/0", "utf8"));`;
  const child = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(child.stderr).toBe("");
  return Number.parseInt(/flags:\s+(\d+)/.exec(child.stdout)?.[1] ?? "", 8);
}

function loadedBy(specifier: string): readonly string[] {
  const program = `await import(${JSON.stringify(specifier)});
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => /sqlite/i.test(name))));`;
  const child = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(child.stderr).toBe("");
  return JSON.parse(child.stdout) as readonly string[];
}
