import fc from "fast-check";
import { expect, test } from "vitest";
import { linePattern, literalPattern } from "./pattern.ts";

function matches(source: string, line: string, ignoreCase = false): boolean {
  const made = linePattern(source, ignoreCase);
  if (!made.ok) throw new Error(made.why);
  return made.pattern(line) !== -1;
}

const letter = fc.constantFrom("a", "b", "c", "A", "_", "1", "-", " ", "é", "😀");
const atom = fc.oneof(
  letter,
  fc.constantFrom(
    ".",
    "\\d",
    "\\w",
    "\\W",
    "\\s",
    "\\b",
    "\\B",
    "^",
    "$",
    "[a-c]",
    "[^a]",
    "[\\d_]",
    "[^\\w ]",
    "\\.",
    "\\u0061",
    "\\x62",
  ),
);
const { pattern } = fc.letrec<{ pattern: string; piece: string; group: string }>((tie) => ({
  pattern: fc.array(tie("piece"), { maxLength: 4 }).map((pieces) => pieces.join("")),
  piece: fc.oneof({ maxDepth: 4 }, atom, tie("group")),
  group: fc
    .tuple(
      fc.array(tie("pattern"), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", "*", "+", "?", "*?", "{2}", "{1,2}", "{0,}"),
    )
    .map(([either, times]) => `(?:${either.join("|")})${times}`),
}));
const line = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(""));

test("[TOOL-11] it finds what a regular expression finds", () => {
  fc.assert(
    fc.property(pattern, line, fc.boolean(), (source, text, ignoreCase) => {
      // V8 looks for \B also in the middle of a character that is two units long, where no place is.
      fc.pre(!(source.includes("\\B") && /[\u{10000}-\u{10FFFF}]/u.test(text)));
      expect(matches(source, text, ignoreCase)).toBe(new RegExp(source, ignoreCase ? "ui" : "u").test(text));
    }),
    { numRuns: 2_000 },
  );
});

test("[TOOL-11] the steps it takes are bounded by the line and the pattern, whatever the pattern", () => {
  // Each of these takes a matcher that goes back longer than anybody would wait.
  for (const source of ["(a+)+$", "(a|a)*b", "(.*)*x", "a*a*a*a*a*a*a*a*b", "(?:a?){40}a{40}"]) {
    const text = "a".repeat(source.endsWith("a{40}") ? 39 : 20_000);
    expect(matches(source, `${text}!`)).toBe(false);
  }
});

test.each([
  ["(", 'There is a "(" without its ")".'],
  [")", 'There is a ")" without its "(".'],
  ["[a", 'There is a "[" without its "]".'],
  ["*a", 'There is nothing to repeat before the "*".'],
  ["a**", "There is nothing to repeat before"],
  ["(a)\\1", "Backreferences are not supported."],
  ["(?<!a)b", "Lookahead, lookbehind and flags inside a pattern are not supported."],
  ["(?i)a", "Lookahead, lookbehind and flags inside a pattern are not supported."],
  ["\\p{L}", "\\p{…} is not supported."],
  ["\\<to\\>", "\\b is the edge of a word"],
  ["\\Aa", "\\A is not supported."],
  ["[[:vowel:]]", "[:vowel:] is not supported."],
  ["a\\", "The pattern ends in a backslash."],
  ["[z-a]", "A range in [ ] runs backwards."],
  ["a{2000}", "{2000} is not a number of repeats up to 1000."],
  ["((a{1000}){1000}){1000}", "too large when its repeats are written out"],
  [`${"(".repeat(200)}a${")".repeat(200)}`, "nested too deeply"],
  ["x".repeat(1_001), "longer than 1000 characters"],
  ["", undefined],
])("[TOOL-11] %s is refused by name, or taken", (source, words) => {
  const made = linePattern(source, false);
  if (words === undefined) expect(made.ok).toBe(true);
  else expect(made).toMatchObject({ ok: false, why: expect.stringContaining(words) });
});

test("[TOOL-11] a character of two units has no inside", () => {
  expect(matches("\\B", "a\u{1F600}a")).toBe(false);
  expect(matches("\\B", "\u{1F600}\u{1F600}")).toBe(true);
});

test("[TOOL-11] a named group is a group, and a brace that counts nothing is a brace", () => {
  expect(matches("(?<year>\\d{4})-", "in 2024-05")).toBe(true);
  expect(matches("a{b}", "xa{b}")).toBe(true);
});

test("[TOOL-11] escapes stand for what they stand for in a regular expression, in a set and beside one", () => {
  const lines = [
    "\t",
    "\n",
    "\v",
    "\f",
    "\r",
    "\0",
    "\b",
    "a",
    "_",
    "5",
    "~",
    "-",
    "]",
    "^",
    "b",
    "\u00e9",
    "\u{1F600}",
    " ",
  ];
  const beside = ["\\t", "\\n", "\\v", "\\f", "\\r", "\\0", "\\u00e9", "\\u{1F600}", "\\xe9", "\\.", "\\]"];
  const inside = ["\\b", "\\D", "\\W", "\\S", "^\\W", "^\\D_", "\\d_", "\\t-\\r", "\\u00e0-\\u00ff", "\\w-", "a\\-"];
  const sources = [...beside, ...inside.map((set) => `[${set}]`), "[]a", "[^]a"];
  for (const source of sources)
    for (const text of lines)
      expect([source, text, matches(source, text)]).toEqual([source, text, new RegExp(source, "u").test(text)]);
});

test.each(["[", "[]", "[^", "[^]", "[\\d"])("[TOOL-11] %s, a set that is not closed, is refused", (source) => {
  expect(linePattern(source, false)).toMatchObject({ ok: false, why: 'There is a "[" without its "]".' });
});

test("[TOOL-11] a text to look for that is empty is none", () => {
  expect(literalPattern("", true)).toMatchObject({ ok: false, why: expect.stringContaining("empty") });
});

test.each([
  ["^[[:space:]]+$", " \t", "a"],
  ["^[^[:alnum:]_]$", "-", "a"],
  ["^[[:upper:]][[:lower:][:digit:]]*$", "Ab1", "aB"],
  ["^[[:punct:]]$", "~", "a"],
])("[TOOL-11] %s, a set by its name, is what grep means by it", (source, yes, no) => {
  expect([matches(source, yes), matches(source, no)]).toEqual([true, false]);
});
