import { defineSlice } from "../state/slice.ts";
import { reducers } from "../state/reducers.ts";
import type { Rule } from "../context/producers.ts";

/** Rules that somebody pinned: rolled back with a failed call, gone with a rewind, inherited by a fork. */
export const PinnedRules = defineSlice("PinnedRules", {
  initial: [] as readonly Rule[],
  on: {
    pinned: reducers.upsertBy<Rule, string>(({ id }) => id),
    unpinned: (now: readonly Rule[], id: string) => now.filter((rule) => rule.id !== id),
  },
});

/** The secret under which handles are made. A log, because no rewind may make the handles of a conversation void. */
export const ContextLineage = defineSlice("ContextLineage", {
  initial: "",
  policy: "log",
  on: { begun: (now: string, lineage: string) => (now === "" ? lineage : now) },
});
