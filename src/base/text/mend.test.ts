import fc from "fast-check";
import { expect, test } from "vitest";
import { mendDocument } from "./mend-document.ts";
import { mendLine } from "./mend.ts";

const record = fc.record({
  type: fc.constantFrom("user", "assistant"),
  text: fc.string(),
  inner: fc.dictionary(fc.string(), fc.string()),
});

test("[DOC-7] records glued to each other are all found", () =>
  fc.assert(
    fc.property(fc.array(record, { minLength: 2, maxLength: 4 }), (records) => {
      const texts = records.map((one) => JSON.stringify(one));
      expect(mendLine(texts.join(""), true)).toEqual({ records: texts, fragments: [], nuls: false });
    }),
  ));

test("[DOC-7] a record written behind a torn one is found, and nothing inside the torn one is taken for a record", () =>
  fc.assert(
    fc.property(record, record, fc.nat(), (torn, whole, cut) => {
      const text = JSON.stringify(torn);
      const fragment = text.slice(0, 1 + (cut % (text.length - 2)));
      const { records } = mendLine(fragment + JSON.stringify(whole), true);
      expect(records.map((one) => JSON.parse(one) as unknown)).toContainEqual(JSON.parse(JSON.stringify(whole)));
      expect(records.length).toBe(1);
    }),
  ));

test("[DOC-7] a line that was cut right behind an inner object holds no record", () => {
  const text = '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}';
  expect(mendLine(text, false).records).toEqual([]);
  expect(mendLine('{"uuid":"a","message":{"role":"user","content":"hi"}', true).records).toEqual([]);
});

test("[DOC-7] NUL bytes around and between records cost no record", () => {
  expect(mendLine('\0\0{"a":1}\0\0\0{"b":2}\0', true)).toMatchObject({
    records: ['{"a":1}', '{"b":2}'],
    fragments: [],
    nuls: true,
  });
  expect(mendLine("\0\0\0", true)).toEqual({ records: [], fragments: [], nuls: true });
});

test("[DOC-7] what only JavaScript takes for space is told, for strict readers lose the record behind it", () => {
  for (const space of ["\u2028", "\u00a0", "\uFEFF", "\v"]) {
    expect(mendLine(`${space}{"a":1}`, true)).toEqual({ records: ['{"a":1}'], fragments: [space], nuls: false });
  }
});

test("[DOC-7] a line made to be slow is given up, not waited for", () => {
  const hostile = '{"a":'.repeat(40_000);
  const started = performance.now();
  expect(mendLine(hostile, true).records).toEqual([]);
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("[DOC-7] a torn document is cut back to its last whole element and closed", () => {
  const text = JSON.stringify({
    info: { tags: [1, 2] },
    messages: [
      { r: 1, c: [{ t: "a" }] },
      { r: 2, c: [{ t: "b" }, { t: "c" }] },
    ],
  });
  const cut = text.indexOf('"c"}]');
  expect(mendDocument(text.slice(0, cut))?.text).toBe('{"info":{"tags":[1,2]},"messages":[{"r":1,"c":[{"t":"a"}]}]}');
});

test("[DOC-7] cut anywhere, a document keeps a prefix of its elements or is given up as a whole", () =>
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), fc.nat(), (records, cut) => {
      const text = JSON.stringify({ messages: records });
      const mended = mendDocument(text.slice(0, cut % text.length));
      if (mended === undefined) return;
      const kept = (JSON.parse(mended.text) as { messages: unknown[] }).messages;
      expect(kept).toEqual((JSON.parse(text) as { messages: unknown[] }).messages.slice(0, kept.length));
    }),
  ));

test("[DOC-7] what follows a whole document is cut off", () => {
  expect(mendDocument('{"a":[1]}{"b')).toEqual({ text: '{"a":[1]}', fragment: '{"b', torn: true });
});
