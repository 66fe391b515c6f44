import type { Random } from "../../src/base/random.ts";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";
import { SAMPLES, type Step } from "../transcripts/samples.ts";

/** A conversation of chance, in a format: calls answered, unanswered, answered twice, out of place. */
export function sampleOf(format: FormatId, random: Random): string {
  const steps: Step[] = [{ say: "user", text: "begin" }];
  // Mostly short: what breaks a reader is a few neighbours, and a long session costs as much as five short ones.
  const length = below(random, random.fraction() < 0.2 ? 14 : 6);
  for (let nth = 0; nth < length; nth += 1) {
    const id = `call_${below(random, 6)}`;
    const name = pick(random, ["bash", "edit", ""]);
    steps.push(
      pick<Step>(random, [
        { say: pick(random, ["user", "assistant"]), text: pick(random, ["hello", "", "a\u2028b"]) },
        { call: [{ id, name }, ...(random.fraction() < 0.3 ? [{ id: `call_${below(random, 6)}`, name }] : [])] },
        { call: [{ id, name }], text: "so" },
        { output: id, name, text: "done" },
        { output: id, name, text: "again" },
      ]),
    );
  }
  return SAMPLES[format].write(steps);
}

/** Pieces that have broken readers before. */
const TOKENS = [
  '"__proto__":{"polluted":1},',
  '"constructor":{"prototype":{"x":1}},',
  "null",
  "[]",
  "{}",
  '""',
  "1e400",
  "-0",
  "12345678901234567890",
  '"\\ud83d"',
  '"\\u0000"',
  "\u2028",
  "\0\0\0",
  "\r\n",
  "\n",
  "\n\n",
  "\uFEFF",
  "[".repeat(200),
  '{"a":'.repeat(200),
  "}".repeat(20),
  '"tool_calls":[{}],',
  '"content":[{"type":"tool_use"}],',
  '"uuid":"record-1","parentUuid":"record-1",',
  '"id":null,',
] as const;

type Wound = (text: string, random: Random) => string;

const WOUNDS: readonly Wound[] = [
  (text, random) => text.slice(0, below(random, text.length + 1)),
  (text, random) => cut(text, random, ""),
  (text, random) => cut(text, random, pick(random, TOKENS)),
  (text, random) => insert(text, random, pick(random, TOKENS)),
  (text, random) => insert(text, random, slice(text, random)),
  (text, random) => lines(text, random, (all, at) => all.toSpliced(at, 1)),
  (text, random) => lines(text, random, (all, at) => all.toSpliced(at, 0, all[below(random, all.length)] ?? "")),
  (text, random) => lines(text, random, (all, at) => all.toSpliced(at, 2, (all[at] ?? "") + (all[at + 1] ?? ""))),
  (text, random) =>
    lines(text, random, (all, at) => all.toSpliced(at, 1).toSpliced(below(random, all.length), 0, all[at] ?? "")),
  (text, random) => insert(text, random, sampleOf(pick(random, FORMAT_IDS), random)),
  (text, random) => inside(text, random),
  (text, random) => inside(text, random),
  (text, random) => inside(text, random),
];

/** A sample with up to four wounds, the last of them sometimes in its bytes. */
export function wounded(sample: string, random: Random): Uint8Array {
  let text = sample;
  for (let nth = below(random, 5); nth > 0; nth -= 1) text = pick(random, WOUNDS)(text, random);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > 0 && random.fraction() < 0.15) bytes[below(random, bytes.length)] = below(random, 256);
  return bytes;
}

/** A valid change of a value deep inside: the readers see JSON, but not the JSON they expect. */
function inside(text: string, random: Random): string {
  const all = text.split("\n");
  const at = below(random, all.length);
  try {
    const whole = all.length < 3 || random.fraction() < 0.1;
    const value = JSON.parse(whole ? text : (all[at] ?? "")) as unknown;
    const after = JSON.stringify(changed(value, random, 0));
    return whole ? after : all.toSpliced(at, 1, after).join("\n");
  } catch {
    return text;
  }
}

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  "",
  "x",
  "call_1",
  [],
  {},
  [null],
  { type: 1 },
  { id: [] },
  ["a", {}],
];

function changed(value: unknown, random: Random, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > 12 || random.fraction() < 0.08)
    return pick(random, VALUES);
  if (Array.isArray(value)) {
    if (value.length === 0) return [pick(random, VALUES)];
    const at = below(random, value.length);
    const chance = random.fraction();
    if (chance < 0.1) return value.toSpliced(at, 1);
    if (chance < 0.2) return value.toSpliced(below(random, value.length + 1), 0, value[at]);
    return value.with(at, changed(value[at], random, depth + 1));
  }
  const keys = Object.keys(value);
  if (keys.length === 0) return { [pick(random, ["id", "type", "role", "content"])]: pick(random, VALUES) };
  const key = pick(random, keys);
  if (random.fraction() < 0.1) return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
  return { ...value, [key]: changed((value as Record<string, unknown>)[key], random, depth + 1) };
}

function lines(
  text: string,
  random: Random,
  change: (all: readonly string[], at: number) => readonly string[],
): string {
  const all = text.split("\n");
  return change(all, below(random, all.length)).join("\n");
}

function cut(text: string, random: Random, instead: string): string {
  const at = below(random, text.length + 1);
  return text.slice(0, at) + instead + text.slice(at + below(random, 40));
}

function insert(text: string, random: Random, what: string): string {
  const at = below(random, text.length + 1);
  return text.slice(0, at) + what + text.slice(at);
}

function slice(text: string, random: Random): string {
  const at = below(random, text.length + 1);
  return text.slice(at, at + below(random, 300));
}

function below(random: Random, limit: number): number {
  return limit <= 0 ? 0 : Math.floor(random.fraction() * limit);
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)] as T;
}
