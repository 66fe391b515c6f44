import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { bytesOf, codesOf, examined, repaired, repairedText } from "./in-memory.ts";
import { SAMPLES, type Step } from "./samples.ts";

const SCRIPT: readonly Step[] = [
  { say: "user", text: "begin" },
  { call: [{ id: "c1", name: "bash" }], text: "so" },
  { output: "c1", name: "bash", text: "done one" },
  { say: "assistant", text: "now the next" },
  { call: [{ id: "c2", name: "edit" }], text: "so" },
  { output: "c2", name: "edit", text: "done two" },
  { say: "user", text: "thanks" },
];
const LOGS = FORMAT_IDS.filter((format) => SAMPLES[format].lines);
const DOCUMENTS = FORMAT_IDS.filter((format) => !SAMPLES[format].lines);

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

describe.each(LOGS)("a damaged log: %s", (format) => {
  const sound = SAMPLES[format].write(SCRIPT);
  const lines = linesOf(sound);

  test("[DOC-7] cut at any byte, every whole record before the cut survives and the repaired log is clean", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: lines[0]!.length + 2, max: sound.length - 1 }), async (cut) => {
        const found = await examined(sound.slice(0, cut), { format });
        const torn = !isWhole(linesOf(sound.slice(0, cut)).at(-1) ?? "");
        expect(codesOf(found).includes("torn-line")).toBe(torn);
        const after = await repaired(found);
        expect(codesOf(await examined(after, { format }))).toEqual([]);
        if (!torn && found.findings.length === 0) expect(after).toEqual(bytesOf(sound.slice(0, cut)));
      }),
      { numRuns: 60 },
    ));

  test("[DOC-7] two records on a line are a glued line, and are parted", async () => {
    for (let nth = 1; nth < lines.length - 1; nth += 1) {
      const glued = sound.replace(`${lines[nth]}\n`, lines[nth]!);
      const found = await examined(glued);
      expect(codesOf(found)).toContain("glued-records");
      expect(found.counts).toMatchObject({ badLines: 1, gluedLines: 1 });
      expect(new TextDecoder().decode(await repaired(found))).toBe(sound);
    }
  });

  test("[DOC-7] an append behind a torn tail costs the torn record only", async () => {
    const at = lines.length - 1;
    const text = [...lines.slice(0, at), `${lines[at]!.slice(0, 30)}${lines[at]!}`].join("\n");
    const found = await examined(`${text}\n`);
    expect(codesOf(found)).toContain("torn-line");
    expect(await repairedText(`${text}\n`)).toBe(sound);
  });

  test("[DOC-7] a block of NUL bytes, in front, in the middle or at the end, costs nothing", async () => {
    for (const nth of [0, 2, lines.length]) {
      const text = lines.toSpliced(nth, 0, "\0".repeat(512)).join("\n");
      const found = await examined(`${text}\n`, { format });
      expect(codesOf(found)).toEqual(["nul-run"]);
      expect(new TextDecoder().decode(await repaired(found))).toBe(sound);
    }
  });

  test("[DOC-7] a byte order mark and CR LF are told and taken out", async () => {
    const text = `\uFEFF${sound.replaceAll("\n", "\r\n")}`;
    const found = await examined(text);
    expect(new Set(codesOf(found))).toEqual(new Set(["bom", "crlf"]));
    expect(found.counts.badLines).toBe(0);
    expect(new TextDecoder().decode(await repaired(found))).toBe(sound);
  });

  test("[DOC-7] raw line separators and lone surrogates are told and written so that everybody can read them", async () => {
    const text = sound.replace("begin", "be\u2028gin").replace("thanks", "\\ud83d thanks");
    const found = await examined(text);
    expect(new Set(codesOf(found))).toEqual(new Set(["line-separator", "unsendable-text"]));
    expect(await repairedText(text)).toBe(sound.replace("begin", "be\\u2028gin").replace("thanks", "\\ufffd thanks"));
  });

  test("[DOC-7] bytes that are not UTF-8 cost only themselves", async () => {
    const bytes = bytesOf(sound);
    bytes[sound.indexOf("begin") + 1] = 0xff;
    const found = await examined(bytes);
    expect(codesOf(found)).toEqual(["invalid-utf8"]);
    expect(new TextDecoder().decode(await repaired(found))).toBe(sound.replace("begin", "b\uFFFDgin"));
  });

  test("[DOC-9] records and fields that nobody knows are kept as they are", async () => {
    const strange = '{"type":"from-the-future","n":12345678901234567890, "deep":[[{}]]}';
    const text = `${[lines[0], strange, "42", '"text"', "[1]", ...lines.slice(1, -2)].join("\n")}\n`;
    const after = await repairedText(text);
    for (const line of [strange, "42", '"text"', "[1]"]) expect(after).toContain(`${line}\n`);
  });
});

describe.each(DOCUMENTS)("a damaged document: %s", (format) => {
  const sound = SAMPLES[format].write(SCRIPT);

  test("[DOC-7] cut anywhere behind its first message it is a prefix of itself, told and repaired", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: Math.floor(sound.length / 2), max: sound.length - 3 }), async (cut) => {
        const found = await examined(sound.slice(0, cut), { format });
        expect(codesOf(found)).toContain("torn-line");
        const after = await repaired(found);
        expect(codesOf(await examined(after, { format }))).toEqual([]);
      }),
      { numRuns: 40 },
    ));

  test("[DOC-7] a byte order mark and NUL bytes are told and taken out", async () => {
    const found = await examined(`\uFEFF${sound}\0\0\0`);
    expect(new Set(codesOf(found))).toEqual(new Set(["bom", "nul-run"]));
    expect(JSON.parse(await repairedText(`\uFEFF${sound}\0\0\0`))).toEqual(JSON.parse(sound));
  });
});

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
