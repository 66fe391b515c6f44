import { expect, test } from "vitest";
import { HoldfastError } from "../../base/errors.ts";
import { storeError } from "./failures.ts";

const none = { codeOf: () => undefined } as unknown as Parameters<typeof storeError>[0];
const system = (code: string, syscall = "open") => Object.assign(new Error(code), { code, syscall });

test.each([
  ["ENOSPC", "STORE_FULL"],
  ["EDQUOT", "STORE_FULL"],
  ["EROFS", "STORE_READONLY"],
  ["EACCES", "STORE_READONLY"],
  ["ENOENT", "STORE_UNREACHABLE"],
  ["ENAMETOOLONG", "STORE_UNREACHABLE"],
  ["EIO", "STORE_IO"],
  ["EMFILE", "STORE_IO"],
])("[STORE-29] the system's %s is told as %s, with its cause", (code, told) => {
  const error = system(code);
  expect(storeError(none, error, "/s.db")).toMatchObject({
    code: told,
    details: { path: "/s.db", system: code },
    cause: error,
  });
});

test("[STORE-29] what is not the system's passes as it is, and SQLite's word that nobody knows is damage", () => {
  const bug = new TypeError("a bug");
  const ours = new HoldfastError("STORE_CLOSED");
  for (const error of [bug, ours, undefined, null, "text", { code: "EIO" }])
    expect(storeError(none, error, "p")).toBe(error);
  const odd = { codeOf: () => 9_999 } as unknown as typeof none;
  expect(storeError(odd, new Error("novel"), "p")).toMatchObject({
    code: "STORE_DAMAGED",
    details: { sqlite: "novel" },
  });
});
