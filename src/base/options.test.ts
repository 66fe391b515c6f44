import { describe, expect, test } from "vitest";
import { AMOUNT, ANYTHING, BOOLEAN, checkOptions, FUNCTION, OBJECT, oneOf, whole } from "./options.ts";

const refusal = (details: object) => expect.objectContaining({ code: "BAD_OPTION", details });

test("[ID-16] what may be given may be left out, and may be undefined", () => {
  const rules = { color: oneOf("red", "blue"), size: whole(1) };
  for (const given of [{}, { color: undefined }, { color: "red" }, { color: "blue", size: 3 }])
    expect(() => checkOptions(given as { color?: string; size?: number }, rules)).not.toThrow();
});

test("[ID-16] an option that does not exist is told with those that do", () => {
  for (const option of ["colour", "__proto__x", "toString", "constructor"])
    expect(() => checkOptions({ [option]: "red" } as object, { color: ANYTHING, size: ANYTHING } as never)).toThrow(
      refusal({ option, known: "color, size" }),
    );
});

test.each([null, undefined, 7, "text", true])("[ID-16] %j instead of options is refused", (options) => {
  expect(() => checkOptions(options as never, {} as never)).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
});

describe("[ID-16] the value of an option", () => {
  const values = [
    0,
    1,
    10,
    11,
    1.5,
    -1,
    Number.NaN,
    Infinity,
    2 ** 53,
    "a",
    "",
    true,
    null,
    {},
    [],
    () => 1,
    7n,
    Symbol("s"),
  ];
  test.each([
    ["whole", whole(1, 10), [1, 10]],
    ["whole without end", whole(0), [0, 1, 10, 11]],
    ["an amount", AMOUNT, [0, 1, 10, 11, 1.5, Infinity, 2 ** 53]],
    ["a word", oneOf("a", "b"), ["a"]],
    ["yes or no", BOOLEAN, [true]],
  ])("%s", (_, rule, fitting) => {
    expect(values.filter((value) => rule.fits(value))).toEqual(fitting);
    for (const value of values) {
      const check = () => checkOptions({ option: value }, { option: rule });
      if (fitting.includes(value as never)) check();
      else expect(check).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
    }
  });

  test("an object, or a function", () => {
    expect(values.filter(OBJECT.fits)).toEqual([{}, []]);
    expect(values.filter(FUNCTION.fits).length).toBe(1);
  });

  test("is shown, but an object is only called one, and a long text is cut", () => {
    const check = (option: unknown) => () => checkOptions({ option }, { option: whole(0) });
    const wants = "a whole number from 0";
    expect(check({ key: "secret" })).toThrow(refusal({ option: "option", value: "an object", wants }));
    expect(check("x".repeat(999))).toThrow(refusal({ option: "option", value: "x".repeat(80), wants }));
  });
});
