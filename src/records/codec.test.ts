import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { flawOf, genesisOf, type SealedRecord, seal } from "./chain.ts";
import { decodeRecord, encodeDraft } from "./codec.ts";
import { toSessionId } from "./ids.ts";
import type { RecordDraft } from "./kinds.ts";
import type { Ladder } from "./lift.ts";

const genesis = genesisOf(toSessionId("s"));

function sealedFrom(draft: RecordDraft, version = 1): SealedRecord {
  const { kind, body } = encodeDraft(draft);
  return seal(genesis, { kind, at: "2026-01-01T00:00:00.000Z", version, salt: "00", body });
}

const refusal = (draft: unknown) => {
  try {
    encodeDraft(draft as RecordDraft);
    return undefined;
  } catch (error) {
    return error;
  }
};

test("[JOURNAL-19] what is accepted is what is read back, whatever JSON it holds", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (text, json) => {
      fc.pre(!JSON.stringify(json).includes("__proto__")); // refused, as another test says
      const draft = { kind: "user-said", text: text.toWellFormed(), parts: [json] } as RecordDraft;
      const decoded = decodeRecord(sealedFrom(draft));
      expect(decoded).toEqual({
        ok: true,
        value: { ...(JSON.parse(JSON.stringify(draft)) as object), seq: 1, at: "2026-01-01T00:00:00.000Z" },
      });
    }),
  );
});

test("[JOURNAL-19] fields that no shape names are kept", () => {
  const draft = { kind: "user-said", text: "x", later: { a: [1, null] } } as RecordDraft;
  expect(decodeRecord(sealedFrom(draft))).toMatchObject({ ok: true, value: { later: { a: [1, null] } } });
});

describe("[JOURNAL-19] a draft that is no record is refused with what is wrong", () => {
  test.each([
    [undefined, "VALUE_NOT_JSON"],
    [null, "RECORD_MALFORMED"],
    [7, "RECORD_MALFORMED"],
    ["user-said", "RECORD_MALFORMED"],
    [[], "RECORD_MALFORMED"],
    [{}, "RECORD_MALFORMED"],
    [{ kind: "no-such" }, "RECORD_MALFORMED"],
    [{ kind: "toString" }, "RECORD_MALFORMED"],
    [{ kind: { toString: 1 } }, "RECORD_MALFORMED"],
    [{ kind: "user-said" }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: 7 }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: "x", seq: 1 }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: "x", at: "now" }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: "x", parts: {} }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: "x", blobs: [{ name: "x", size: 1 }] }, "RECORD_MALFORMED"],
    [{ kind: "user-said", text: "x", blobs: [{ name: `sha256-${"a".repeat(64)}`, size: -1 }] }, "RECORD_MALFORMED"],
    [{ kind: "mode-changed", mode: "fly" }, "RECORD_MALFORMED"],
    [{ kind: "page-pinned", page: "p", pinned: "yes" }, "RECORD_MALFORMED"],
    [{ kind: "call-opened", callId: "c", tool: "t" }, "RECORD_MALFORMED"],
    [{ kind: "checkpoint-kept", openCalls: [{ callId: "c" }] }, "RECORD_MALFORMED"],
    [{ kind: "rewound", to: 1.5, scope: [] }, "RECORD_MALFORMED"],
    [new Date(), "VALUE_NOT_JSON"],
    [new Map([["kind", "user-said"]]), "VALUE_NOT_JSON"],
    [{ kind: "user-said", text: "x", parts: [1n] }, "VALUE_NOT_JSON"],
  ])("case %#", (draft, code) => {
    expect(refusal(draft)).toMatchObject({ code });
  });

  test("and the field is named by its path", () => {
    const draft = { kind: "checkpoint-kept", openCalls: [{ callId: "c", tool: "t" }, { callId: "d" }] };
    expect(refusal(draft)).toMatchObject({ details: { fault: "openCalls[1].tool must be a string" } });
  });

  test("getters that throw, and proxies that answer differently every time, harm nobody", () => {
    const throwing = {
      kind: "user-said",
      get text(): string {
        throw new Error("mine");
      },
    };
    expect(refusal(throwing)).toMatchObject({ code: "VALUE_NOT_JSON" });
    let reads = 0;
    const turning = new Proxy({ kind: "user-said", text: "x" } as Record<string, unknown>, {
      get: (target, key) => {
        if (key !== "text") return target[key as string];
        reads += 1;
        return reads > 1 ? 7 : "first";
      },
    });
    expect(JSON.parse(encodeDraft(turning as RecordDraft).body)).toEqual({ text: "first" });
  });
});

describe("[JOURNAL-19] what has passed the check before", () => {
  const known = { notes: ["x".repeat(200)] };
  const draft = (delta: object) => ({ kind: "state-changed", cause: "test", delta }) as unknown as RecordDraft;

  test("is not looked at again, and counts all the same", () => {
    const roomy = { depth: 8, characters: 1_000 };
    expect(JSON.parse(encodeDraft(draft(known), roomy, undefined, { delta: known }).body)).toMatchObject({
      delta: known,
    });
    const narrow = { depth: 8, characters: 100 };
    expect(() => encodeDraft(draft(known), narrow, undefined, { delta: known })).toThrow(/more than 100 characters/);
  });

  test("vouches for nothing beside it", () => {
    const beside = { ...known, other: () => {} };
    expect(() => encodeDraft(draft(beside), undefined, undefined, { delta: known })).toThrow(/function has no JSON/);
  });
});

describe("[JOURNAL-12] versions", () => {
  const ladder: Ladder = {
    version: 3,
    lifts: [
      {
        to: 2,
        why: "text was called words",
        up: (kind, { words, ...rest }) => ({ kind, body: { ...rest, text: words } }),
      },
      {
        to: 3,
        why: "users used to be called humans",
        up: (kind, body) => ({ kind: kind === "human-said" ? "user-said" : kind, body }),
      },
    ],
  };
  const stored = (version: number, kind: string, body: string) =>
    seal(genesis, { kind, at: "2026-01-01T00:00:00.000Z", version, salt: "00", body });

  test("older bodies are lifted step by step from their own version, and stay stored as they are", () => {
    const one = stored(1, "human-said", '{"words":"hello"}');
    const before = { ...one };
    expect(decodeRecord(one, ladder)).toMatchObject({ ok: true, value: { kind: "user-said", text: "hello" } });
    expect(one).toEqual(before);
    const two = stored(2, "human-said", '{"text":"hello"}');
    expect(decodeRecord(two, ladder)).toMatchObject({ ok: true, value: { kind: "user-said", text: "hello" } });
    const three = stored(3, "user-said", '{"text":"hello","words":"kept"}');
    expect(decodeRecord(three, ladder)).toMatchObject({ ok: true, value: { text: "hello", words: "kept" } });
  });

  test("newer ones are too new, also when their body was dropped", () => {
    const four = stored(4, "user-said", '{"text":"x"}');
    expect(decodeRecord(four, ladder)).toEqual({ ok: false, error: { kind: "too-new", version: 4 } });
    expect(decodeRecord({ ...four, body: null, dropped: "r" }, ladder)).toMatchObject({ ok: false });
    expect(decodeRecord(stored(2, "user-said", '{"text":"x"}'))).toMatchObject({
      ok: false,
      error: { kind: "too-new" },
    });
  });

  test("a step that fails makes that one record malformed", () => {
    const failing: Ladder = {
      version: 2,
      lifts: [
        {
          to: 2,
          why: "planted",
          up: () => {
            throw new TypeError("planted");
          },
        },
      ],
    };
    expect(decodeRecord(stored(1, "user-said", "[]"), failing)).toMatchObject({
      ok: false,
      error: { kind: "malformed" },
    });
  });
});

test("[JOURNAL-11] no single change of a sealed record goes unnoticed", () => {
  const record = sealedFrom({ kind: "user-said", text: "x" });
  expect(flawOf(record)).toBeUndefined();
  const flip = (text: string, at: number) => `${text.slice(0, at)}${text[at] === "0" ? "1" : "0"}${text.slice(at + 1)}`;
  for (const field of ["kind", "at", "salt", "bodyDigest", "prev", "hash", "body"] as const) {
    const text = record[field] as string;
    for (let at = 0; at < text.length; at += 1) {
      const flaw = flawOf({ ...record, [field]: flip(text, at) });
      expect([field, at, flaw]).toEqual([field, at, field === "body" ? "body-altered" : "header-altered"]);
    }
  }
  expect(flawOf({ ...record, seq: 2 })).toBe("header-altered");
  expect(flawOf({ ...record, version: 2 })).toBe("header-altered");
  expect(flawOf({ ...record, body: null })).toBe("body-missing");
  expect(flawOf({ ...record, body: null, dropped: "r" })).toBeUndefined();
});

test("[JOURNAL-19] equal bodies show different digests, and the chain tells one session from another", () => {
  const one = seal(genesis, { kind: "user-said", at: "a", version: 1, salt: "00", body: "{}" });
  const two = seal(genesis, { kind: "user-said", at: "a", version: 1, salt: "01", body: "{}" });
  expect(one.bodyDigest).not.toBe(two.bodyDigest);
  expect(genesisOf(toSessionId("a")).hash).not.toBe(genesisOf(toSessionId("b")).hash);
});
