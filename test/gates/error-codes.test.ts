import { describe, expect, test } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../src/base/error-codes.ts";
import { type CodeTable, errorsPage, findCodeFaults } from "./error-codes.ts";
import { plant, readTree } from "./tree.ts";

/** Codes whose room has not been built yet. An entry that is no longer needed fails the gate. */
const ARRIVING: readonly ErrorCode[] = [];

test("every code has a remedy, a use and a test", () => {
  expect(findCodeFaults(ERROR_CODES, ARRIVING, readTree("src", "test"))).toEqual([]);
});

test("docs/errors.md is the printed table (after a wanted change: npm run docs:errors)", () => {
  expect(readTree("docs/errors.md").get("docs/errors.md")).toBe(errorsPage(ERROR_CODES));
});

describe("the gate sees", () => {
  const codes: CodeTable = { DISK_FULL: { says: "The disk is full.", tryThis: "Free some space." } };
  const files = {
    "src/base/error-codes.ts": "DISK_FULL",
    "src/stores/a.ts": 'throw new HoldfastError("DISK_FULL")',
    "src/stores/a.test.ts": 'toThrow("DISK_FULL")',
  };
  const without = (path: keyof typeof files) =>
    plant(Object.fromEntries(Object.entries(files).filter(([key]) => key !== path)));

  test("nothing wrong when all is there", () => {
    expect(findCodeFaults(codes, [], plant(files))).toEqual([]);
    expect(findCodeFaults(codes, ["DISK_FULL"], without("src/stores/a.ts"))).toEqual([]);
  });

  test.each([
    ["a code nobody throws", codes, [], without("src/stores/a.ts"), "DISK_FULL: never used in src"],
    ["a code nobody tests", codes, [], without("src/stores/a.test.ts"), "DISK_FULL: in no test"],
    ["a stale excuse", codes, ["DISK_FULL"], plant(files), "DISK_FULL: has arrived; remove it from ARRIVING"],
    ["an excuse for nothing", codes, ["GONE_NOW"], plant(files), "GONE_NOW: in ARRIVING, but not a code"],
    [
      "a missing remedy",
      { DISK_FULL: { says: "Full.", tryThis: "" } },
      [],
      plant(files),
      "DISK_FULL: tryThis is no full sentence",
    ],
    [
      "half a sentence",
      { DISK_FULL: { says: "disk full", tryThis: "Go." } },
      [],
      plant(files),
      "DISK_FULL: says is no full sentence",
    ],
    [
      "an odd name",
      { full: { says: "Full.", tryThis: "Go." } },
      ["full"],
      plant({}),
      "full: a code is written LIKE_THIS",
    ],
  ])("%s", (_name, table, arriving, tree, fault) => {
    expect(findCodeFaults(table, arriving, tree)).toEqual([fault]);
  });

  test("a page that no longer matches", () => {
    const changed = { DISK_FULL: { says: "The disk is full.", tryThis: "Buy a disk | two." } };
    expect(errorsPage(changed)).not.toBe(errorsPage(codes));
    expect(errorsPage(changed)).toContain("| `DISK_FULL` | The disk is full. | Buy a disk \\| two. |");
  });
});
