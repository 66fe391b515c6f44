import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { ROOMS } from "../../rooms.ts";
import { findMapFaults, findRoomFaults, type RoomRules } from "./rooms.ts";
import { plant, readTree } from "./tree.ts";

test("src/ follows rooms.ts", () => {
  const dependencies = Object.keys((packageJson as { dependencies?: Record<string, string> }).dependencies ?? {});
  expect(findRoomFaults(readTree("src"), { rooms: ROOMS, dependencies })).toEqual([]);
});

test("ARCHITECTURE.md says of every room whether it is here", () => {
  expect(findMapFaults(readTree("ARCHITECTURE.md").get("ARCHITECTURE.md") ?? "", readTree("src"))).toEqual([]);
});

describe("the gate sees", () => {
  const rules: RoomRules = {
    rooms: {
      base: [],
      records: ["base"],
      history: ["base", "records"],
      stores: ["base"],
      testing: ["base", "door"],
      door: ["base", "records", "history"],
    },
    dependencies: ["mutative"],
  };
  const house = {
    "src/index.ts": 'export { pair } from "./history/pair.ts";',
    "src/base/json.ts": 'import { create } from "mutative";\nimport { hash } from "node:crypto";',
    "src/records/codec.ts": 'import type { Json } from "../base/json.ts";',
    "src/history/pair.ts": 'import { decode } from "../records/codec.ts";',
    "src/history/pair.test.ts":
      'import { laws } from "../testing/laws.ts";\nimport { pair } from "../index.ts";\nimport { x } from "../../test/x.ts";\nimport fc from "fast-check";',
    "src/stores/retry.ts": "",
    "src/stores/sqlite/vendor.ts": 'import Database from "better-sqlite3";\nimport { retry } from "../retry.ts";',
    "src/testing/laws.ts": 'import { test } from "vitest";\nimport { pair } from "../index.ts";',
  };

  test("nothing wrong in a sound house", () => {
    expect(findRoomFaults(plant(house), rules)).toEqual([]);
  });

  test.each([
    [
      "a room looking up",
      "src/base/up.ts",
      'import type { R } from "../records/codec.ts";',
      "base may not see records",
    ],
    ["a re-export", "src/base/up.ts", 'export { R } from "../records/codec.ts";', "base may not see records"],
    ["a late import", "src/base/up.ts", 'await import("../records/codec.ts");', "base may not see records"],
    ["the door from within", "src/history/in.ts", 'import { a } from "../index.ts";', "history may not see door"],
    ["a barrel", "src/history/in.ts", 'import { a } from "./index.ts";', "imports the barrel src/history/index.ts"],
    ["an unknown room", "src/utils/x.ts", "", "the room utils is not in rooms.ts"],
    ["a file outside every room", "src/helper.ts", "", "lies in no room"],
    [
      "a neighbour's folder",
      "src/stores/memory/x.ts",
      'import { a } from "../sqlite/vendor.ts";',
      "stores/memory may not see stores/sqlite",
    ],
    [
      "a test looking up",
      "src/base/up.test.ts",
      'import { a } from "../records/codec.ts";',
      "base may not see records",
    ],
    [
      "code that imports a test",
      "src/base/x.ts",
      'import { a } from "./json.test.ts";',
      "imports the test src/base/json.test.ts",
    ],
    ["a way out of src", "src/base/x.ts", 'import { a } from "../../rooms.ts";', "rooms.ts, which is not in src/"],
    ["a file that is not there", "src/base/x.ts", 'import { a } from "./gone.ts";', "which does not exist"],
    [
      "a vendor in the open",
      "src/stores/sqlite/x.ts",
      'import x from "@scope/pg/sub";',
      "a vendor enters only in vendor.ts",
    ],
    ["the package by its own name", "src/testing/x.ts", 'import { a } from "holdfast";', "inside, import the file"],
  ])("%s", (_name, path, source, fault) => {
    const more = { "src/history/index.ts": "", "src/base/json.test.ts": "" };
    const faults = findRoomFaults(plant({ ...house, ...more, [path]: source }), rules);
    expect(faults).toEqual([expect.stringContaining(`${path}: `)]);
    expect(faults[0]).toContain(fault);
  });

  test("files in a circle, also by types alone", () => {
    const circle = {
      "src/base/a.ts": 'import type { B } from "./b.ts";',
      "src/base/b.ts": 'import { c } from "./c.ts";',
      "src/base/c.ts": 'import type { A } from "./a.ts";',
    };
    expect(findRoomFaults(plant({ ...house, ...circle }), rules)).toEqual([
      "files import each other in a circle: src/base/a.ts → src/base/b.ts → src/base/c.ts → src/base/a.ts",
    ]);
  });

  test("a table that knows an unknown room or runs in a circle", () => {
    const rooms = { ...rules.rooms, base: ["cellar", "door"] };
    expect(findRoomFaults(plant({}), { ...rules, rooms })).toEqual([
      "rooms.ts: base may see cellar, which is no room",
      "rooms.ts: rooms see each other in a circle: base → door → base",
    ]);
  });

  test("a map that is out of date", () => {
    const map =
      "| Room | Its job | Status |\n|---|---|---|\n| `base` | values | planned |\n| `wire` | rules | here |\n";
    expect(findMapFaults(map, plant({ "src/index.ts": "", "src/base/a.ts": "", "src/turn/b.ts": "" }))).toEqual([
      "turn: not in ARCHITECTURE.md",
      "base: ARCHITECTURE.md says planned, but it is here",
      "wire: ARCHITECTURE.md says here, but it is planned",
    ]);
  });
});
