import { canonicalHash } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { badOption, checkOptions, oneOf, type OptionRules, TEXT } from "../base/options.ts";
import { middleCut } from "../context/compress/cut.ts";
import { isPageScope, PAGE_SCOPES } from "../context/page.ts";
import type { Rule } from "../context/producers.ts";
import { reducers } from "../state/reducers.ts";
import { defineSlice } from "../state/slice.ts";

/** What a rule is made of, and all of it must be there. */
export const RULE: OptionRules<Rule> = { id: TEXT, text: TEXT, scope: oneOf(...PAGE_SCOPES), source: TEXT };
export const RULE_NEEDS = ["id", "text", "scope", "source"] as const satisfies readonly (keyof Rule)[];

const upsert = reducers.upsertBy<Rule, string>((rule) => readRule(rule).id);

/** The slice of pinned rules. A failed call rolls them back, a rewind takes them back, and a fork inherits them. */
export const PinnedRules = defineSlice("PinnedRules", {
  initial: [] as readonly Rule[],
  on: {
    pinned: (now: readonly Rule[], rule: Rule) => {
      checkOptions(rule, RULE, RULE_NEEDS);
      return upsert(now, rule);
    },
    unpinned: (now: readonly Rule[], id: string) => {
      if (!TEXT.fits(id)) throw badOption("id", id, TEXT.wants);
      return now.filter((rule) => readRule(rule).id !== id);
    },
  },
});

/** Characters of a rule without a text, as far as the model is told of it. */
const MOST_UNREAD = 500;

/** A pinned rule, whole. Earlier versions pinned whatever they were given, and no request could be made of it. */
export function readRule(kept: Rule): Rule {
  const { id, text, scope, source }: Partial<Record<keyof Rule, unknown>> = Object(kept);
  const [named, says, from] = [id, text, source].map((word) => (typeof word === "string" ? word : undefined));
  if (named !== undefined && says !== undefined && from !== undefined && isPageScope(scope)) return kept;
  return {
    id: named ?? `unnamed-${canonicalHash(kept as unknown as Json).slice(0, 8)}`,
    text: says ?? `[It was pinned without a text: ${middleCut(JSON.stringify(kept), MOST_UNREAD)}]`,
    scope: isPageScope(scope) ? scope : "session",
    source: from ?? "unknown",
  };
}

/** The secret under which handles are made. A log, because no rewind may make the handles of a conversation void. */
export const ContextLineage = defineSlice("ContextLineage", {
  initial: "",
  policy: "log",
  on: { begun: (now: string, lineage: string) => (now === "" ? lineage : now) },
});
