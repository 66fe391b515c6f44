import { ANYTHING, checkOptions, oneOf, type OptionRules, TEXT } from "../base/options.ts";
import { PAGE_SCOPES } from "../context/page.ts";
import type { DurablePages, Writeback, WritebackTuple } from "../context/writeback/tuple.ts";
import { defineSlice } from "../state/slice.ts";

/** A wanted change of a durable page that has no number yet: inside a call there is none. */
export type WantedWriteback = WritebackTuple & { readonly by: string };

/** The slice of staged writebacks. A failed call rolls its own back, and a rewind takes them back. */
export const StagedWritebacks = defineSlice("StagedWritebacks", {
  initial: [] as readonly (WantedWriteback | Writeback)[],
  on: {
    wanted: (now: readonly (WantedWriteback | Writeback)[], wanted: WantedWriteback) => {
      checkOptions(wanted, WANTED, NEEDED);
      return [...now, wanted];
    },
    /** Everything that was wanted has its number now. */
    staged: (now: readonly (WantedWriteback | Writeback)[], numbered: readonly Writeback[]) => [
      ...now.filter(isNumbered),
      ...numbered,
    ],
    settled: (now: readonly (WantedWriteback | Writeback)[], ids: readonly string[]) =>
      now.filter((one) => !(isNumbered(one) && ids.includes(one.id))),
  },
});

/** The durable pages of this session, or of a scope that sessions share. */
export const DurableState = defineSlice("DurablePages", {
  initial: {} as DurablePages,
  on: { committed: (_now: DurablePages, pages: DurablePages) => pages },
});

/** How many changes were ever staged. A log: a number that a rewind gave back would be given twice. */
export const WritebackCount = defineSlice("WritebackCount", {
  initial: 0,
  policy: "log",
  on: { reached: (now: number, count: number) => Math.max(now, count) },
});

export function isNumbered(one: WantedWriteback | Writeback): one is Writeback {
  return "id" in Object(one);
}

/** What waits, each an object. Earlier versions took whatever a tool dispatched, and it must not keep a session from closing. */
export function waitingIn(staged: readonly (WantedWriteback | Writeback)[]): readonly (WantedWriteback | Writeback)[] {
  return staged.map((one): WantedWriteback | Writeback => Object(one));
}

/** What a change is made of. Whether there is such a kind, field or operation is told when it is to be committed. */
const WANTED: OptionRules<WantedWriteback> = {
  kind: TEXT,
  page: TEXT,
  field: TEXT,
  op: TEXT,
  value: ANYTHING,
  scope: oneOf(...PAGE_SCOPES),
  by: TEXT,
  evidence: TEXT,
  version: TEXT,
};
const NEEDED = ["kind", "page", "field", "op", "value", "scope", "by"] as const;

/** One that was staged before may be staged again: it is numbered and dated anew. */
export function checkStaged(tuple: WritebackTuple, by: string): void {
  const { id: _id, clock: _clock, ...wanted } = Object(tuple) as Writeback;
  checkOptions({ ...wanted, by }, WANTED, NEEDED);
}
