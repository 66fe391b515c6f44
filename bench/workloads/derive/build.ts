import {
  type CallItem,
  type Item,
  makePage,
  type OutputItem,
  type Page,
  type PageDeps,
  toolCallId,
} from "../../../src/index.ts";
import { estimateCounter } from "../../../src/index.ts";

/** So many different outputs, of 2 to 40 KB: source code, logs, JSON, prose. Every call has one of them. */
const OUTPUTS = 48;
export const BUDGET = 100_000;
export const TURNS = 500;

export const deps: PageDeps = { counter: estimateCounter, lineage: "bench" };

export function outputTexts(seed: number): readonly string[] {
  const next = random(seed);
  return Array.from({ length: OUTPUTS }, (_, at) => textOf(at % 4, 2_000 + (next() % 38_000), next));
}

/** The items of a session of `size` messages: a question, then calls of one tool after the other with their outputs. */
export function itemsOf(size: number, seed: number): readonly Item[] {
  const texts = outputTexts(seed);
  const items: Item[] = [];
  while (items.length < size) {
    const at = items.length;
    if (at % 40 === 0) items.push({ kind: "user", parts: [{ type: "text", text: `please do thing ${at}` }] });
    else items.push({ kind: "assistant", step: at, parts: [{ type: "text", text: `Next I look at file ${at}.` }] });
    if (items.length < size) items.push(callItem(`call_${at}`, at));
    if (items.length < size) items.push(outputItem(`call_${at}`, texts[at % texts.length] as string));
    if (items.length < size && at % 3 === 0)
      items.push({ kind: "assistant", step: -at - 1, parts: [{ type: "text", text: "That was it." }] });
  }
  return items;
}

/** The same as pages. Outputs that are equal share their representations' texts, so that a hundred thousand fit in memory. */
export function pagesOf(size: number, seed: number): readonly Page[] {
  const models = new Map<string, Page>();
  return itemsOf(size, seed).map((item, at): Page => {
    const id = `page-${String(at).padStart(9, "0")}`;
    if (item.kind !== "output") return makePage({ id, item, turn: at >> 1 }, deps);
    const part = item.parts[0];
    const key = part?.type === "text" ? part.text : "";
    const model = models.get(key) ?? makePage({ id, item, turn: 0 }, deps);
    models.set(key, model);
    const representations = Object.fromEntries(
      Object.entries(model.representations).map(([level, shown]) => [
        level,
        { ...shown, item: { ...shown.item, callId: item.callId } },
      ]),
    ) as Page["representations"];
    return { ...model, id, demand: { recency: 1, turn: at >> 1 }, representations };
  });
}

function callItem(id: string, step: number): CallItem {
  const input = { path: `src/part-${step % 97}/file-${step}.ts` };
  return { kind: "call", callKind: "function", step, callId: toolCallId(id), name: "read_file", input };
}

function outputItem(id: string, text: string): OutputItem {
  const parts = [{ type: "text", text }] as const;
  return { kind: "output", callKind: "function", callId: toolCallId(id), name: "read_file", status: "success", parts };
}

function textOf(kind: number, length: number, next: () => number): string {
  const lines: string[] = [];
  let size = 0;
  while (size < length) {
    const line = lineOf(kind, lines.length, next);
    lines.push(line);
    size += line.length + 1;
  }
  return kind === 2 ? JSON.stringify({ rows: lines }) : lines.join("\n");
}

function lineOf(kind: number, at: number, next: () => number): string {
  const word = () => (next() % 1_679_616).toString(36);
  if (kind === 0)
    return at % 12 === 0
      ? `export function ${word()}(a: number): string {`
      : `  const ${word()} = ${word()}(${at}, "${word()}");`;
  if (kind === 1)
    return `2026-01-01T10:${at % 60}:00Z ${at % 50 === 7 ? "ERROR" : "INFO"} ${word()} took ${next() % 900} ms`;
  return `${word()} ${word()} and ${word()} with ${word()}`;
}

/** A small generator of its own: the workload must be the same on every machine. */
function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
