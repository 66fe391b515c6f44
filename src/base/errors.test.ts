import { expect, test, vi } from "vitest";
import { ERROR_CODES } from "./error-codes.ts";
import { HoldfastError } from "./errors.ts";
import { err, ok } from "./result.ts";
import { ensure, unreachable } from "./unreachable.ts";

test("[ID-15] an error says what happened, with the details, and what to do", () => {
  const cause = new Error("disk");
  const error = new HoldfastError(
    "VALUE_TOO_LARGE",
    { path: "a.db", bytes: 5, gone: undefined, list: ["x"] },
    { cause },
  );
  expect(error.name).toBe("HoldfastError");
  expect(error.message).toBe('A value is larger than the limit. (path: a.db, bytes: 5, list: ["x"])');
  expect(error.tryThis).toBe(ERROR_CODES.VALUE_TOO_LARGE.tryThis);
  expect(error.details).toEqual({ path: "a.db", bytes: 5, list: ["x"] });
  expect(error.cause).toBe(cause);
  expect(error).toBeInstanceOf(Error);
});

test("[ID-18] control characters in details are shown quoted and escaped, and the details stay as they are", () => {
  const details = { path: "a\nb\u001b[2J", list: ["c\u009bd", "\u2028"], plain: "e f" };
  const error = new HoldfastError("VALUE_TOO_LARGE", details);
  expect(error.message).toBe(
    'A value is larger than the limit. (path: "a\\nb\\u001b[2J", list: ["c\\u009bd","\\u2028"], plain: e f)',
  );
  expect(error.details).toEqual(details);
});

test("[ID-15] without details the message is the sentence of the table", () => {
  const error = new HoldfastError("BAD_OPTION");
  expect(error.message).toBe(ERROR_CODES.BAD_OPTION.says);
  expect(error.details).toEqual({});
  expect("cause" in error).toBe(false);
});

test("[ID-14] an error is known across two copies of the package, with and without a code", async () => {
  vi.resetModules();
  const copy = await import("./errors.ts");
  expect(copy.HoldfastError).not.toBe(HoldfastError);
  const theirs = new copy.HoldfastError("BAD_OPTION");
  expect(theirs).not.toBeInstanceOf(HoldfastError);
  expect(HoldfastError.is(theirs)).toBe(true);
  expect(HoldfastError.is(theirs, "BAD_OPTION")).toBe(true);
  expect(HoldfastError.is(theirs, "VALUE_TOO_LARGE")).toBe(false);
});

test.each([null, undefined, "BAD_OPTION", 5, {}, new Error("BAD_OPTION"), { code: "BAD_OPTION" }, () => 1])(
  "[ID-14] nothing else is taken for one: %s",
  (value) => {
    expect(HoldfastError.is(value)).toBe(false);
    expect(HoldfastError.is(value, "BAD_OPTION")).toBe(false);
  },
);

test("a result is a value or an error", () => {
  expect(ok(1)).toEqual({ ok: true, value: 1 });
  expect(err("no")).toEqual({ ok: false, error: "no" });
});

test("a case that nobody handled is named", () => {
  expect(() => unreachable({ kind: "new" } as never)).toThrow('Unhandled case: {"kind":"new"}');
});

test("what must hold and does not is said, and nothing goes on", () => {
  expect(() => ensure(1 + 1 === 2, "two")).not.toThrow();
  expect(() => ensure(1 + 1 === 3, "one and one are not two")).toThrow("This cannot be: one and one are not two.");
});
