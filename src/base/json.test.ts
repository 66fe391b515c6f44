import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkJson,
  encodeJson,
  type Json,
  JSON_LIMITS,
  type JsonFaultKind,
  type JsonRepair,
  parseJson,
} from "./json.ts";

interface Accepted {
  readonly name: string;
  readonly value: () => unknown;
  /** What reads back; the value itself when left out. */
  readonly reads?: Json;
  readonly repairs?: readonly JsonRepair[];
}

interface Refused {
  readonly name: string;
  readonly value: () => unknown;
  readonly kind: JsonFaultKind;
  readonly path: string;
}

class Money {
  readonly cents = 5;
}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

const inArray = (inner: unknown) => [inner];
const inObject = (inner: unknown) => ({ a: inner });

const ACCEPTED: readonly Accepted[] = [
  // Size
  { name: "empty object", value: () => ({}) },
  { name: "empty array", value: () => [] },
  { name: "empty text", value: () => "" },
  { name: "8 MB of text", value: () => "a".repeat(8 * 1024 * 1024) },
  {
    name: "100,000 keys",
    value: () => Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key-${i}`, i])),
  },
  { name: "100,000 elements", value: () => Array.from({ length: 100_000 }, (_, i) => i) },
  // Depth
  { name: "128 nested arrays", value: () => nested(128, inArray) },
  { name: "128 nested objects", value: () => nested(128, inObject) },
  // Numbers
  { name: "-0", value: () => [-0], reads: [0], repairs: [{ kind: "negative-zero", path: "$[0]" }] },
  { name: "2^53+1, which is 2^53 before we see it", value: () => 2 ** 53 + 1, reads: 9007199254740992 },
  { name: "the extremes of a double", value: () => [Number.MAX_VALUE, Number.MIN_VALUE, 5e-324, 1.1] },
  { name: "numeric text stays text", value: () => ["1e400", "007"] },
  // Strings
  {
    name: "lone high surrogate",
    value: () => ({ text: "a\ud800b" }),
    reads: { text: "a\ufffdb" },
    repairs: [{ kind: "surrogate-replaced", path: "$.text" }],
  },
  {
    name: "lone low surrogate",
    value: () => "\udc00",
    reads: "\ufffd",
    repairs: [{ kind: "surrogate-replaced", path: "$" }],
  },
  {
    name: "reversed pair",
    value: () => "\udc00\ud800",
    reads: "\ufffd\ufffd",
    repairs: [{ kind: "surrogate-replaced", path: "$" }],
  },
  {
    name: "half a code point at the edge of a chunk",
    value: () => ["😀".slice(0, 1), "😀".slice(1)],
    reads: ["\ufffd", "\ufffd"],
    repairs: [
      { kind: "surrogate-replaced", path: "$[0]" },
      { kind: "surrogate-replaced", path: "$[1]" },
    ],
  },
  { name: "a whole pair", value: () => "😀" },
  { name: "U+0000", value: () => "a\u0000b" },
  { name: "U+2028 and U+2029", value: () => "\u2028\u2029" },
  { name: "bidi controls", value: () => "\u202eabc\u2066def\u2069" },
  { name: "ANSI escapes", value: () => "\u001b[31mred\u001b[0m" },
  { name: "NFC and NFD are two keys", value: () => ({ "\u00e9": 1, "e\u0301": 2 }) },
  { name: "homoglyph ids are two keys", value: () => ({ a: 1, "\u0430": 2 }) },
  { name: "64 KB of combining marks", value: () => `a${"\u0301".repeat(64 * 1024)}` },
  { name: "bytes decoded as overlong or invalid UTF-8", value: () => Buffer.from([0xc0, 0xaf, 0xff]).toString("utf8") },
  // Objects
  {
    name: "names of prototype methods",
    value: () => JSON.parse('{"toString":"a","then":"b","toJSON":"c","constructor":"d","hasOwnProperty":"e"}'),
  },
  { name: "a constructor without prototype", value: () => ({ constructor: { name: "x" } }) },
  { name: "null prototype", value: () => Object.assign(Object.create(null), { a: 1 }), reads: { a: 1 } },
  { name: "frozen and sealed", value: () => Object.freeze({ a: Object.seal([1]) }) },
  {
    name: "shared references",
    value: () => {
      const shared = { a: 1 };
      return [shared, shared];
    },
  },
  { name: "integer-like keys", value: () => ({ b: 1, 10: 2, 9: 3 }) },
  {
    name: "undefined fields",
    value: () => ({ a: 1, b: undefined, c: 2 }),
    reads: { a: 1, c: 2 },
    repairs: [{ kind: "undefined-dropped", path: "$.b" }],
  },
  {
    name: "a getter",
    value: () => ({
      a: 1,
      get b() {
        return 2;
      },
    }),
    reads: { a: 1, b: 2 },
  },
  {
    name: "a setter alone",
    value: () => ({ set a(_value: number) {} }),
    reads: {},
    repairs: [{ kind: "undefined-dropped", path: "$.a" }],
  },
  { name: "a Proxy of an object", value: () => new Proxy({ a: [1] }, {}), reads: { a: [1] } },
  { name: "a Proxy of an array", value: () => new Proxy([1, { a: 2 }], {}), reads: [1, { a: 2 }] },
  {
    name: "fields that are not enumerable",
    value: () => Object.defineProperties({ a: 1 }, { b: { value: 2 }, [Symbol("c")]: { value: 3 } }),
    reads: { a: 1 },
  },
];

const REFUSED: readonly Refused[] = [
  // Size
  { name: "one character too many", value: () => "a".repeat(JSON_LIMITS.characters - 1), kind: "too-large", path: "$" },
  // Depth
  { name: "129 nested arrays", value: () => nested(129, inArray), kind: "too-deep", path: `$${"[0]".repeat(128)}` },
  { name: "129 nested objects", value: () => nested(129, inObject), kind: "too-deep", path: `$${".a".repeat(128)}` },
  { name: "7,000 nested arrays", value: () => nested(7_000, inArray), kind: "too-deep", path: `$${"[0]".repeat(128)}` },
  {
    name: "1,000,000 nested objects",
    value: () => nested(1_000_000, inObject),
    kind: "too-deep",
    path: `$${".a".repeat(128)}`,
  },
  // Numbers
  { name: "NaN", value: () => ({ a: [Number.NaN] }), kind: "not-json", path: "$.a[0]" },
  { name: "Infinity", value: () => Number.POSITIVE_INFINITY, kind: "not-json", path: "$" },
  { name: "-Infinity", value: () => [1, Number.NEGATIVE_INFINITY], kind: "not-json", path: "$[1]" },
  { name: "BigInt", value: () => ({ "odd key": 1n }), kind: "not-json", path: '$["odd key"]' },
  // Objects
  { name: "undefined", value: () => undefined, kind: "not-json", path: "$" },
  { name: "undefined element", value: () => [undefined], kind: "not-json", path: "$[0]" },
  // oxlint-disable-next-line no-sparse-arrays -- the hole is the case
  { name: "hole in an array", value: () => [1, , 2], kind: "not-json", path: "$[1]" },
  { name: "function", value: () => ({ f: () => 1 }), kind: "not-json", path: "$.f" },
  { name: "toJSON", value: () => ({ toJSON: () => 1 }), kind: "not-json", path: "$.toJSON" },
  {
    name: "toJSON on an array",
    value: () => Object.assign([1], { toJSON: () => 2 }),
    kind: "not-json",
    path: "$",
  },
  { name: "symbol", value: () => [Symbol("s")], kind: "not-json", path: "$[0]" },
  { name: "symbol as a key", value: () => ({ a: { [Symbol("s")]: 1 } }), kind: "not-json", path: "$.a" },
  {
    name: "symbol as a key behind a hidden one",
    value: () => Object.assign(Object.defineProperty({}, Symbol("a"), { value: 1 }), { [Symbol("b")]: 1 }),
    kind: "not-json",
    path: "$",
  },
  {
    name: "symbol as a key of an array",
    value: () => Object.assign([1], { [Symbol("s")]: 1 }),
    kind: "not-json",
    path: "$",
  },
  { name: "array with further fields", value: () => "ab".match(/a/), kind: "not-json", path: "$" },
  { name: "class instance", value: () => ({ price: new Money() }), kind: "not-json", path: "$.price" },
  { name: "subclass of Array", value: () => new (class Rows extends Array {})(), kind: "not-json", path: "$" },
  {
    name: "object with a nameless prototype",
    value: () => Object.create(Object.create(null)),
    kind: "not-json",
    path: "$",
  },
  ...[
    new Map(),
    new Set(),
    new Date(0),
    /a/,
    Buffer.from("a"),
    new Uint8Array(1),
    new ArrayBuffer(1),
    new Error("e"),
    Object(1),
    Promise.resolve(),
    new WeakMap(),
    new URL("a:b"),
  ].map((value): Refused => ({ name: value.constructor.name, value: () => value, kind: "not-json", path: "$" })),
  {
    name: "cycle through an object",
    value: () => {
      const loop: Record<string, unknown> = {};
      loop["self"] = [loop];
      return loop;
    },
    kind: "cycle",
    path: "$.self[0]",
  },
  {
    name: "__proto__ as own key",
    value: () => JSON.parse('{"__proto__":{"bad":1}}'),
    kind: "unsafe-key",
    path: "$.__proto__",
  },
  {
    name: "constructor.prototype",
    value: () => JSON.parse('{"constructor":{"prototype":{"bad":1}}}'),
    kind: "unsafe-key",
    path: "$.constructor",
  },
  { name: "key with a lone surrogate", value: () => ({ "\ud800": 1 }), kind: "unsafe-key", path: '$["\\ud800"]' },
  {
    name: "getter that throws",
    value: () => ({
      get a(): number {
        throw new Error("no");
      },
    }),
    kind: "throws",
    path: "$.a",
  },
  {
    name: "getter that throws what cannot be printed",
    value: () => ({
      get a(): number {
        throw Object.create(null);
      },
    }),
    kind: "throws",
    path: "$.a",
  },
  {
    name: "Proxy that throws",
    value: () =>
      new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("no");
          },
        },
      ),
    kind: "throws",
    path: "$",
  },
  {
    name: "revoked Proxy",
    value: () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    },
    kind: "throws",
    path: "$",
  },
];

describe("the bad-input catalogue", () => {
  test.each(ACCEPTED)("[ID-1] accepted: $name", ({ value, reads, repairs = [] }) => {
    const given = value();
    const checked = checkJson(given);
    expect(checked).toMatchObject({ ok: true, value: { repairs } });
    const encoded = encodeJson(given);
    if (!encoded.ok) return expect.unreachable(encoded.error.detail);
    expect(encoded.value.repairs).toEqual(repairs);
    const back = parseJson(encoded.value.text);
    expect(back).toEqual({ ok: true, value: reads ?? given });
  });

  test.each(REFUSED)("[ID-4] refused: $name", ({ value, kind, path }) => {
    const checked = checkJson(value());
    expect(checked).toEqual({ ok: false, error: { kind, path, detail: expect.stringMatching(/\S/) } });
    expect(encodeJson(value())).toEqual(checked);
  });

  test("[SLICE-14] what is known is not looked at again when it has moved along", () => {
    let looks = 0;
    const element = (id: number) =>
      new Proxy({ id }, { ownKeys: (target) => ((looks += 1), Reflect.ownKeys(target)) }) as Json;
    const known = Array.from({ length: 40 }, (_, id) => element(id));
    const lists = [
      [...known.slice(1), "new"],
      ["new", ...known.slice(0, -1)],
      [...known.slice(0, 9), ...known.slice(10), "new"],
      [...known.slice(1), Number.NaN],
      [-0, ...known.slice(1)],
    ];
    const results = lists.map((list) => checkJson({ list }, JSON_LIMITS, { list: known }));
    expect(looks).toBe(0);
    expect(results.map((result) => (result.ok ? result.value.repairs : result.error.path))).toEqual([
      [],
      [],
      [],
      "$.list[39]",
      [{ kind: "negative-zero", path: "$.list[0]" }],
    ]);
  });

  test("[SLICE-1] a negative zero where a zero was known is none of it", () => {
    for (const [known, value] of [
      [
        [0, 1],
        [-0, 1],
      ],
      [{ a: 0 }, { a: -0 }],
      [{ a: [0, 0, 1] }, { a: [0, -0] }],
    ] as const)
      expect(checkJson(value, JSON_LIMITS, known)).toEqual(checkJson(value));
  });

  test("[ID-4] what a known object inherits is not known", () => {
    const proto = Object.defineProperty({}, "__proto__", { value: Object.prototype, enumerable: true });
    // oxlint-disable-next-line typescript/unbound-method -- it is the very value that is inherited
    for (const value of [{ toString: Object.prototype.toString }, { constructor: Object }, proto])
      expect(checkJson({ inner: value }, JSON_LIMITS, { inner: { a: 1 } })).toMatchObject({ ok: false });
  });

  test.each([...ACCEPTED, ...REFUSED])("[ID-4] judged alike beside what is known already: $name", ({ value }) => {
    const limits = { ...JSON_LIMITS, depth: JSON_LIMITS.depth + 2 };
    const rest = [{ shared: "words" }];
    const around = (inner: unknown) => ({ rest, changed: [rest, inner, rest] });
    const alone = checkJson(around(value()), limits);
    const beside = checkJson(around(value()), limits, around("before") as Json);
    if (alone.ok) expect(beside).toMatchObject({ ok: true, value: { repairs: alone.value.repairs } });
    else expect(beside).toMatchObject({ ok: false, error: { kind: alone.error.kind, path: alone.error.path } });
    if (alone.ok && beside.ok) expect(JSON.stringify(beside.value.value)).toBe(JSON.stringify(alone.value.value));
  });

  test("[SEC-1] nothing in the catalogue changes a prototype", () => {
    const before = prototypes();
    for (const { value } of [...ACCEPTED, ...REFUSED]) encodeJson(value());
    for (const text of ['{"__proto__":{"bad":1}}', '[{"constructor":{"prototype":{"bad":1}}}]']) {
      expect(parseJson(text)).toMatchObject({ ok: false, error: { kind: "unsafe-key" } });
    }
    expect(prototypes()).toEqual(before);
  });
});

test("[ID-1] what is accepted survives encode and parse equal, and encodes to the same text again", () => {
  fc.assert(
    fc.property(anyJsonLike(), (value) => {
      const encoded = encodeJson(value);
      if (!encoded.ok) return;
      const checked = checkJson(value);
      if (!checked.ok) return expect.unreachable("encode accepted what check refused");
      const parsed = parseJson(encoded.value.text);
      if (!parsed.ok) return expect.unreachable(parsed.error.detail);
      expect(parsed.value).toEqual(checked.value.value);
      expect(encodeJson(parsed.value)).toEqual({
        ok: true,
        value: { text: encoded.value.text, value: parsed.value, repairs: [] },
      });
    }),
    { numRuns: 1_000 },
  );
});

test("[ID-1] plain data is returned as it was given, not copied", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const checked = checkJson(value);
      if (!checked.ok || checked.value.repairs.length > 0) return;
      expect(checked.value.value).toBe(value);
    }),
  );
});

test("[ID-2] the depth limit is exact for arrays and objects", () => {
  const limits = { ...JSON_LIMITS, depth: 3 };
  expect(checkJson([[{}]], limits).ok).toBe(true);
  expect(checkJson([[{ a: [] }]], limits)).toMatchObject({ ok: false, error: { kind: "too-deep", path: "$[0][0].a" } });
  expect(parseJson("[".repeat(1_000_000) + "]".repeat(1_000_000))).toMatchObject({
    ok: false,
    error: { kind: "too-deep" },
  });
});

test("[ID-3] the size limit is the length of the encoded text, exactly, when writing and when reading", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), anyJsonLike()), (value) => {
      const encoded = encodeJson(value);
      if (!encoded.ok) return;
      const exact = { ...JSON_LIMITS, characters: encoded.value.text.length };
      const less = { ...JSON_LIMITS, characters: encoded.value.text.length - 1 };
      expect(encodeJson(value, exact).ok).toBe(true);
      expect(parseJson(encoded.value.text, exact).ok).toBe(true);
      expect(encodeJson(value, less)).toMatchObject({ ok: false, error: { kind: "too-large" } });
      expect(parseJson(encoded.value.text, less)).toMatchObject({ ok: false, error: { kind: "too-large" } });
    }),
  );
});

test("[ID-3] keys and numbers count too, so that no value without text is boundless", () => {
  const limits = { ...JSON_LIMITS, characters: 100 };
  expect(checkJson("a".repeat(101), limits).ok).toBe(false);
  expect(checkJson(true, { ...limits, characters: 3 }).ok).toBe(false);
  expect(checkJson(false, { ...limits, characters: 5 }).ok).toBe(true);
  expect(checkJson(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 1])), limits).ok).toBe(false);
  expect(
    checkJson(
      Array.from({ length: 100 }, () => 0),
      limits,
    ).ok,
  ).toBe(false);
  expect(
    checkJson(
      Array.from({ length: 100 }, () => null),
      limits,
    ).ok,
  ).toBe(false);
});

test("[ID-3] a small value that expands without end stops at the limit", () => {
  const bomb = nested(100, (inner) => [inner, inner]);
  expect(checkJson(bomb, { ...JSON_LIMITS, characters: 100_000 })).toMatchObject({ error: { kind: "too-large" } });
});

test("[ID-5] repairs keep the fields before and after them and leave the given value alone", () => {
  const given = { a: [1, -0, "\ud800"], b: undefined, c: { d: "e" } };
  const checked = checkJson(given);
  expect(checked).toEqual({
    ok: true,
    value: {
      value: { a: [1, 0, "\ufffd"], c: { d: "e" } },
      repairs: [
        { kind: "negative-zero", path: "$.a[1]" },
        { kind: "surrogate-replaced", path: "$.a[2]" },
        { kind: "undefined-dropped", path: "$.b" },
      ],
    },
  });
  expect(Object.is(given.a[1], -0)).toBe(true);
  expect("b" in given).toBe(true);
});

test("[ID-6] a value in itself is a cycle, at any distance; a value used twice is not", () => {
  const shared = { a: [1] };
  expect(encodeJson([shared, { shared }])).toMatchObject({ value: { text: '[{"a":[1]},{"shared":{"a":[1]}}]' } });
  const far: unknown[] = [];
  far.push([{ a: [far] }]);
  expect(checkJson(far)).toMatchObject({ ok: false, error: { kind: "cycle", path: "$[0][0].a[0]" } });
});

test("[ID-7] a getter or Proxy that changes its answer is kept as it was checked", () => {
  const answers = [1, 10n, "\ud800", { __proto__: 2 }];
  const turning = () => {
    let reads = 0;
    return {
      first: 0,
      get a() {
        return answers[reads++];
      },
    };
  };
  const turningArray = Object.defineProperty([0, 0], 1, { get: turning.bind(null), enumerable: true });
  let reads = 0;
  const proxy = new Proxy({ a: 0 }, { get: () => answers[reads++] });
  expect(encodeJson(turning())).toMatchObject({ value: { text: '{"first":0,"a":1}' } });
  expect(encodeJson(proxy)).toMatchObject({ value: { text: '{"a":1}' } });
  reads = 0;
  const elements = new Proxy([0], {
    get: (target, key) => (key === "0" ? answers[reads++] : Reflect.get(target, key)),
  });
  expect(encodeJson(elements)).toMatchObject({ value: { text: "[1]" } });
  expect(encodeJson(turningArray)).toMatchObject({ value: { text: '[0,{"first":0,"a":1}]' } });
});

test("[ID-8] in parsed text the last of duplicate keys wins, and numbers become the nearest double or are refused", () => {
  expect(parseJson('{"a":1,"b":2,"a":3}')).toEqual({ ok: true, value: { a: 3, b: 2 } });
  expect(parseJson("9007199254740993")).toEqual({ ok: true, value: 9007199254740992 });
  expect(parseJson("[1e400]")).toMatchObject({ ok: false, error: { kind: "not-json", path: "$[0]" } });
  expect(parseJson("-0")).toEqual({ ok: true, value: 0 });
});

test.each(["", " ", "{", '{"a":}', "[1,]", "\ufeff{}", "{'a':1}", "undefined", "NaN", '"\u0000"'])(
  "[ID-8] text that is not JSON is a fault: %j",
  (text) => {
    expect(parseJson(text)).toMatchObject({ ok: false, error: { kind: "not-parsable", path: "$" } });
  },
);

test("[SEC-2] a parse fault does not quote the text", () => {
  for (const text of [
    "hunter2",
    '{"password": hunter2}',
    `${"x".repeat(200)}hunter2`,
    '{"a":"hunter2',
    '["hunter2" 1]',
  ]) {
    const parsed = parseJson(text);
    if (parsed.ok) return expect.unreachable(text);
    expect(parsed.error.detail).not.toMatch(/hunter2|"/);
    expect(parsed.error.detail).not.toBe("");
  }
});

/** Mostly JSON, with everything mixed in that JSON changes, drops or cannot hold. */
function anyJsonLike(): fc.Arbitrary<unknown> {
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.oneof(
        { weight: 6, arbitrary: fc.oneof(fc.string({ unit: "binary" }), fc.double(), fc.integer(), fc.boolean()) },
        { weight: 2, arbitrary: fc.constantFrom(null, -0, "\ud800", "a\udc00", "\u0000", '"\\', undefined, "\u2028") },
        { weight: 1, arbitrary: fc.oneof(fc.bigInt(), fc.date(), fc.constantFrom(Number.NaN, Symbol("s"))) },
      ),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(fc.string({ unit: "binary", maxLength: 6 }), tie("value"), { maxKeys: 5 }),
    ),
  })).value;
}

function prototypes(): unknown {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype].map((prototype) =>
    Reflect.ownKeys(prototype),
  );
}

test("[ID-4] refused beside an earlier version, too: a getter of a list that throws, and a list that is far too long", () => {
  const throwing = [1, 2];
  Object.defineProperty(throwing, 1, {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  expect(checkJson(throwing, undefined, [1, 2])).toMatchObject({ ok: false, error: { kind: "throws" } });
  const counted = new Proxy(
    Array.from({ length: 1000 }, () => 1),
    {},
  );
  expect(checkJson(counted, { depth: 9, characters: 100 })).toMatchObject({ ok: false, error: { kind: "too-large" } });
});
