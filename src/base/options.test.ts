import { describe, expect, test } from "vitest";
import {
  AMOUNT,
  ANYTHING,
  BOOLEAN,
  checkOptions,
  either,
  FUNCTION,
  having,
  listOf,
  madeBy,
  OBJECT,
  oneOf,
  options,
  TEXT,
  whole,
} from "./options.ts";

const refusal = (details: object) => expect.objectContaining({ code: "BAD_OPTION", details });

test("[ID-16] what may be given may be left out, and may be undefined", () => {
  const rules = { color: oneOf("red", "blue"), size: whole(1) };
  for (const given of [{}, { color: undefined }, { color: "red" }, { color: "blue", size: 3 }])
    expect(() => checkOptions(given as { color?: string; size?: number }, rules)).not.toThrow();
});

test("[ID-16] an option that does not exist is told with those that do, and the one that was meant", () => {
  const meant: Readonly<Record<string, object>> = { colour: { didYouMean: "color" } };
  for (const option of ["colour", "__proto__x", "toString", "constructor"])
    expect(() => checkOptions({ [option]: "red" } as object, { color: ANYTHING, size: ANYTHING } as never)).toThrow(
      refusal({ option, ...(Object.hasOwn(meant, option) ? meant[option] : {}), known: "color, size" }),
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

describe("[ID-16] options of an option", () => {
  const rules = {
    limits: options<{ steps?: number; inner?: object }>({
      steps: whole(1),
      inner: options({ deep: BOOLEAN }, ["deep"]),
    }),
    names: listOf(TEXT),
    where: either(TEXT, options<{ root: string }>({ root: TEXT }, ["root"])),
    sink: having("emit"),
    tool: madeBy("defineTool", "run"),
  };
  test.each([
    [{ limits: { step: 3 } }, { option: "limits.step", didYouMean: "steps", known: "steps, inner" }],
    [{ limits: { steps: 0 } }, { option: "limits.steps", value: "0", wants: "a whole number from 1" }],
    [{ limits: [] }, { option: "limits", value: "a list", wants: "an object" }],
    [{ limits: { most: 3 } }, { option: "limits.most", known: "steps, inner" }],
    [{ limits: { inner: {} } }, { option: "limits.inner.deep", value: "undefined", wants: "true or false" }],
    [{ names: ["a", 7] }, { option: "names[1]", value: "7", wants: "a text" }],
    [{ names: "a" }, { option: "names", value: "a", wants: "a list" }],
    [{ where: {} }, { option: "where.root", value: "undefined", wants: "a text" }],
    [{ where: 7 }, { option: "where", value: "7", wants: "a text or an object" }],
    [{ sink: {} }, { option: "sink", value: "an object", wants: "an object with emit" }],
    [{ tool: { run() {} } }, { option: "tool", value: "an object", wants: "what defineTool returns" }],
  ])("%j is refused by the whole name of what is wrong", (given, details) => {
    expect(() => checkOptions(given as never, rules as never)).toThrow(refusal(details));
  });

  test("of several rules the one that fits is asked further", () => {
    const words = { words: either(TEXT, listOf(TEXT), options<{ of?: string }>({ of: TEXT })) };
    for (const given of ["a", ["a", "b"], { of: "a" }])
      expect(() => checkOptions({ words: given } as never, words as never)).not.toThrow();
    expect(() => checkOptions({ words: ["a", 7] } as never, words as never)).toThrow(
      refusal({ option: "words[1]", value: "7", wants: "a text" }),
    );
    expect(() => checkOptions({ words: { by: "a" } } as never, words as never)).toThrow(
      refusal({ option: "words.by", known: "of" }),
    );
  });

  test("what fits passes, and what is needed and missing is named", () => {
    const given = {
      limits: { steps: 1 },
      names: [],
      where: "here",
      sink: { emit() {} },
      tool: { name: "t", run() {} },
    };
    expect(() => checkOptions(given as never, rules as never)).not.toThrow();
    expect(() => checkOptions({ where: { root: "/" } } as never, rules as never)).not.toThrow();
    expect(() => checkOptions({}, rules as never, ["sink"] as never)).toThrow(
      refusal({ option: "sink", value: "undefined", wants: "an object with emit" }),
    );
  });
});
