import { createHash } from "node:crypto";

/** One element of a slice. */
export interface Entry {
  readonly id: number;
  readonly text: string;
}

/** The whole state: every slice is a list. */
export type State = Readonly<Record<string, readonly Entry[]>>;

/** What one call changes: of some slices some entries. */
export interface Change {
  readonly slices: readonly { readonly name: string; readonly puts: readonly Entry[] }[];
}

const SLICES = 100;

/**
 * Where a call's one per cent lies. `one slice`: all of one slice, another one each time. `spread`: one entry in a hundred
 * of every slice.
 */
export type Where = "one slice" | "spread";

const ENTRIES: Readonly<Record<Where, number>> = { "one slice": 20, spread: 100 };

export interface Shape {
  readonly size: number;
  readonly where: Where;
  readonly seed: string;
}

function sliceName(index: number): string {
  return `slice-${String(index).padStart(2, "0")}`;
}

export function stateOf({ size, where, seed }: Shape): State {
  const length = textLength(size, where);
  return Object.fromEntries(
    Array.from({ length: SLICES }, (_, slice) => [
      sliceName(slice),
      Array.from({ length: ENTRIES[where] }, (_, id) => ({ id, text: textOf(`${seed}/${slice}/${id}`, length) })),
    ]),
  );
}

export function changeAt({ size, where, seed }: Shape, call: number): Change {
  const length = textLength(size, where);
  const entry = (slice: number, id: number) => ({ id, text: textOf(`${seed}/${call}/${slice}/${id}`, length) });
  if (where === "one slice") {
    const slice = call % SLICES;
    const puts = Array.from({ length: ENTRIES[where] }, (_, id) => entry(slice, id));
    return { slices: [{ name: sliceName(slice), puts }] };
  }
  return {
    slices: Array.from({ length: SLICES }, (_, slice) => ({
      name: sliceName(slice),
      puts: [entry(slice, (call + slice) % ENTRIES[where])],
    })),
  };
}

/** Bytes that one call changes. */
export function changedBytes({ size, where }: Pick<Shape, "size" | "where">): number {
  const touched = where === "one slice" ? ENTRIES[where] : SLICES;
  return touched * textLength(size, where);
}

/** A slice with some entries replaced, sharing the others: what every keeper that shares does, by hand. */
export function withPuts(entries: readonly Entry[], puts: readonly Entry[]): readonly Entry[] {
  const next = entries.slice();
  for (const put of puts) next[put.id] = put;
  return next;
}

/** What the state must be after so many calls, worked out without any keeper. */
export function expectedAfter(shape: Shape, calls: number): string {
  const state: Record<string, readonly Entry[]> = { ...stateOf(shape) };
  for (let call = 0; call < calls; call += 1)
    for (const { name, puts } of changeAt(shape, call).slices) state[name] = withPuts(state[name] ?? [], puts);
  return digestOf(state);
}

export function digestOf(state: State): string {
  const digest = createHash("sha256");
  for (let slice = 0; slice < SLICES; slice += 1)
    for (const { id, text } of state[sliceName(slice)] ?? []) digest.update(`${slice} ${id} ${text}\n`);
  return digest.digest("hex");
}

function textLength(size: number, where: Where): number {
  return Math.max(1, Math.round(size / SLICES / ENTRIES[where]));
}

/** Every text is different and none can be compressed. */
function textOf(seed: string, length: number): string {
  const outputLength = Math.ceil((length * 3) / 4);
  return createHash("shake256", { outputLength }).update(seed).digest("base64").slice(0, length);
}
