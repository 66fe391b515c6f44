import fc from "fast-check";
import { CALL_KINDS, type CallKind, type Item } from "../../src/wire/item.ts";
import { answer, ask, askAlone, call, output, say, system, think, user } from "./items.ts";

/** One whole answer: perhaps a thought, perhaps words, some calls, all their outputs in any order. */
interface Answer {
  readonly thought: boolean;
  readonly words: boolean;
  readonly calls: readonly { readonly kind: CallKind; readonly name: string; readonly failed: boolean }[];
  readonly shuffle: number;
  readonly consent: boolean;
}

const TOOLS = ["read_file", "write_file", "shell", "grep"];

const anyAnswer: fc.Arbitrary<Answer> = fc.record({
  thought: fc.boolean(),
  words: fc.boolean(),
  calls: fc.array(
    fc.record({
      kind: fc.constantFrom<CallKind>("function", "function", "function", ...CALL_KINDS),
      name: fc.constantFrom(...TOOLS),
      failed: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  shuffle: fc.nat(1000),
  consent: fc.boolean(),
});

const anyTurn = fc.record({ text: fc.string({ maxLength: 8 }), answers: fc.array(anyAnswer, { maxLength: 3 }) });

export interface HistoryShape {
  /** Calls of one answer carry its number, as message formats have it; without, the list is flat. */
  readonly steps: boolean;
  /** Providers wait for consent to calls of their own as well. */
  readonly own?: boolean;
}

/** Histories in which nothing is wrong. */
export function wholeHistory({ steps, own = false }: HistoryShape): fc.Arbitrary<readonly Item[]> {
  return fc
    .record({ instructed: fc.boolean(), turns: fc.array(anyTurn, { minLength: 1, maxLength: 4 }) })
    .map(({ instructed, turns }) => {
      const items: Item[] = instructed ? [system()] : [];
      let step = 0;
      let ids = 0;
      for (const { text, answers } of turns) {
        items.push(user(`ask ${text}`));
        for (const made of answers) {
          step += 1;
          const at = steps ? { step } : {};
          const speaks = made.words || (made.thought && made.calls.length === 0 && !(own && made.consent));
          if (made.thought) items.push(think("hm", { ...at, signature: "sealed" }));
          if (speaks) items.push(say(`words ${step}`, at));
          const calls = made.calls.map(({ kind, name, failed }) => ({ kind, name, failed, id: `id${(ids += 1)}` }));
          for (const { kind, name, id } of calls) items.push(call(id, { callKind: kind, name, ...at }));
          const asked = calls[0] === undefined ? askAlone(`ok${step}`) : ask(`ok${step}`, calls[0].id);
          if (made.consent && (own || calls[0] !== undefined))
            items.push({ ...asked, ...at }, answer(`ok${step}`, made.shuffle % 4 > 0));
          const outputs = calls.map(({ kind, failed, id }) =>
            output(id, { callKind: kind === "shell" ? "function" : kind, status: failed ? "failed" : "success" }),
          );
          items.push(...rotated(outputs, made.shuffle));
        }
      }
      return items;
    });
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const cut = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(cut), ...list.slice(0, cut)];
}

/** What crashes, cancels, compactions, merges and careless hosts do to a history. */
const WOUNDS = [
  "drop",
  "copy",
  "swap",
  "move",
  "rename",
  "empty-id",
  "misname",
  "cut-head",
  "cut-tail",
  "cut-arguments",
  "unseal",
  "stopgap",
] as const;

const anyWound = fc.record({ kind: fc.constantFrom(...WOUNDS), at: fc.nat(1000), to: fc.nat(1000) });

/** Histories in which anything may be wrong. */
export function brokenHistory(shape: HistoryShape): fc.Arbitrary<readonly Item[]> {
  return fc
    .tuple(wholeHistory(shape), fc.array(anyWound, { maxLength: 6 }))
    .map(([items, wounds]) => wounds.reduce<readonly Item[]>(wound, items));
}

function wound(
  items: readonly Item[],
  { kind, at, to }: { kind: (typeof WOUNDS)[number]; at: number; to: number },
): readonly Item[] {
  if (items.length === 0) return items;
  const from = at % items.length;
  const other = to % items.length;
  const item = items[from] as Item;
  const change = (more: object) => items.with(from, { ...item, ...more } as Item);
  switch (kind) {
    case "drop":
      return items.toSpliced(from, 1);
    case "copy":
      return items.toSpliced(other, 0, item);
    case "swap":
      return items.with(from, items[other] as Item).with(other, item);
    case "move":
      return items.toSpliced(from, 1).toSpliced(other, 0, item);
    case "rename":
      return item.kind === "call" || item.kind === "output" ? change({ callId: `id${1 + (to % 6)}` }) : items;
    case "empty-id":
      return item.kind === "call" || item.kind === "output" ? change({ callId: "" }) : items;
    case "misname":
      return item.kind === "output" ? change({ name: "elsewhere" }) : items;
    case "cut-head":
      return items.slice(from);
    case "cut-tail":
      return items.slice(0, from + 1);
    case "cut-arguments":
      return item.kind === "call"
        ? change({ inputText: '{"path": "a.', ...(to % 3 === 0 ? { callId: "", partial: true } : {}) })
        : items;
    case "unseal":
      return item.kind === "reasoning" ? change({ signature: "" }) : items;
    case "stopgap":
      return item.kind === "output" ? change({ synthetic: true, status: "canceled" }) : items;
  }
}
