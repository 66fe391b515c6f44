import { describe, expect, test } from "vitest";
import { findSeedFaults, type SeedFacts } from "./seeds.ts";
import { plant, readTree } from "./tree.ts";

/** The open issues. A title leaves this list when its issue closes, and every row that still names it turns red. */
const ISSUES = [
  "The house, the journal and a store that survives anything",
  "History: one normalizer and declared wire rules",
  "Doctor: everybody's broken sessions, read, judged and repaired",
  "State and transactions: a tool call happened, or it did not",
  "The loop: real models through the official SDKs, against a server that refuses what providers refuse",
  "Files: the workspace inside the transaction, without git",
  "Context: typed pages with floors, prefix-stable views, resolvable pointers",
  "Prompt, catalog, plan mode: one story, checked before every request",
  "Exec: a subprocess inside the transaction, at the cost of what it changed",
  "Boundaries and writeback: nothing durable is lost when context is destroyed, and the paper's tables hold",
  "Call records, generated code that reads them, and telemetry",
  "Hosts and tools: one semantics wherever the loop lives",
  "The product in hand: CLI, demo, agent, configuration, docs",
];

/** How many rows docs/seeds.md had when it was last extended. */
const MINIMUM = 362;

test("docs/seeds.md says of every seed entry where it is, why it departs, or which issue brings it", () => {
  const tree = readTree(".");
  const page = tree.get("docs/seeds.md") ?? "";
  const door = tree.get("test/gates/public-door.txt") ?? "";
  expect(findSeedFaults(page, { tree, door, issues: ISSUES, minimum: MINIMUM })).toEqual([]);
});

describe("the gate sees", () => {
  const facts: SeedFacts = {
    tree: plant({ "src/base/clock.ts": "", "src/base/clock.test.ts": 'test("[ID-12] stands still")' }),
    door: "holdfast\n  type Clock\n  FixedClock\n",
    issues: ["Files: the workspace"],
    minimum: 1,
  };
  const head = "# Seeds\n\n| id | seed entry | ours | where | proof |\n|---|---|---|---|---|\n";

  test.each([
    "| S004-01 | `Clock` | exactly | `export:Clock`, `src/base/clock.ts` | [ID-12] |",
    "| S004-01 | a \\| b | exactly | `src/base/clock.ts` | [ID-12] |",
    "| S004-01 | git commits | no git | departed: git loses acknowledged work | - |",
    "| S004-01 | fixed time | it moves | departed: tests need time · `src/base/clock.ts` | [ID-12] |",
    "| S004-01 | `HostFilesystem` | exactly | planned: Files: the workspace | - |",
  ])("nothing wrong with %s", (row) => {
    expect(findSeedFaults(`${head}${row}\n`, facts)).toEqual([]);
  });

  test.each([
    ["a file that is gone", "| S004-01 | a | b | `src/gone.ts` | [ID-12] |", "S004-01: src/gone.ts does not exist"],
    ["an export that is gone", "| S004-01 | a | b | `export:Cloc` | [ID-12] |", "S004-01: nothing exports Cloc"],
    ["a test that is gone", "| S004-01 | a | b | `export:Clock` | [ID-99] |", "S004-01: no test wears ID-99"],
    ["code without proof", "| S004-01 | a | b | `export:Clock` | - |", 'S004-01: "-" names no test'],
    [
      "an issue that is closed",
      "| S004-01 | a | b | planned: Old issue | - |",
      'S004-01: no open issue is called "Old issue"',
    ],
    [
      "a plan with a proof",
      "| S004-01 | a | b | planned: Files: the workspace | [ID-12] |",
      "S004-01: what is planned has no proof yet",
    ],
    [
      "a departure without a reason",
      "| S004-01 | a | b | departed: | - |",
      'S004-01: "departed:" is neither a file nor an export',
    ],
    [
      "a departure that claims a lost test",
      "| S004-01 | a | b | departed: why · `export:Clock` | [ID-99] |",
      "S004-01: no test wears ID-99",
    ],
    [
      "words instead of a place",
      "| S004-01 | a | b | somewhere | [ID-12] |",
      'S004-01: "somewhere" is neither a file nor an export',
    ],
    ["no place", "| S004-01 | a | b | | [ID-12] |", "S004-01: names no file, no export, no departure and no issue"],
    ["an empty cell", "| S004-01 | | b | `export:Clock` | [ID-12] |", "S004-01: a cell is empty"],
    [
      "a cell too many",
      "| S004-01 | a | b | `export:Clock` | [ID-12] | x |",
      'S004-01: "too many cells" names no test',
    ],
    ["an odd id", "| S9-1 | a | b | `export:Clock` | [ID-12] |", "S9-1: not a row id such as S000-01"],
  ])("%s", (_name, row, fault) => {
    expect(findSeedFaults(`${head}${row}\n`, facts)).toContain(fault);
  });

  test("an id given twice, and rows that vanished", () => {
    const row = "| S004-01 | a | b | `export:Clock` | [ID-12] |\n";
    expect(findSeedFaults(head + row + row, facts)).toEqual(["S004-01: given twice"]);
    expect(findSeedFaults(head, facts)).toEqual(["0 rows, at least 1 were written"]);
  });
});
