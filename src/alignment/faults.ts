import type { Mode } from "../catalog/tool.ts";
import type { PromptFault } from "../prompt/render.ts";

/** Every way in which prompt, catalog and mode can disagree. */
export type AlignmentFault =
  | { readonly kind: "mode-mismatch"; readonly snapshot: Mode; readonly live: Mode }
  | { readonly kind: "user-input-mismatch"; readonly snapshot: boolean; readonly live: boolean }
  /** The catalog has changed since the snapshot was taken. */
  | { readonly kind: "catalog-stale"; readonly snapshotEpoch: number; readonly liveEpoch: number }
  | { readonly kind: "stamp-missing" }
  | {
      readonly kind: "stamp-mismatch";
      readonly field: string;
      readonly promptValue: string;
      readonly snapshotValue: string;
    }
  /** The prompt was rendered for other tools than those offered. */
  | { readonly kind: "tools-differ"; readonly tools: readonly string[] }
  /** A segment's text is not the one that was hashed when it was rendered. */
  | { readonly kind: "segment-altered"; readonly segment: string }
  | { readonly kind: "policy-line"; readonly expectedLine: string | undefined; readonly segment: string }
  /** A segment tells the model to use a tool that is not offered, or (`tool-changed`) has changed since. */
  | { readonly kind: "tool-not-offered"; readonly tool: string; readonly segment: string }
  | { readonly kind: "tool-changed"; readonly tool: string; readonly segment: string }
  /** A segment says that a tool cannot be used, but it is offered. */
  | { readonly kind: "tool-not-blocked"; readonly tool: string; readonly segment: string }
  | { readonly kind: "tool-choice-missing"; readonly tool: string }
  /** The written request offers something other than the snapshot. */
  | {
      readonly kind: "request-tools-differ";
      readonly missing: readonly string[];
      readonly extra: readonly string[];
      readonly changed: readonly string[];
    }
  /** The request has fields of the caller's own that could say or offer anything. */
  | { readonly kind: "request-fields-foreign"; readonly fields: readonly string[] }
  /** The request lacks what it must say about the mode and the catalog. */
  | { readonly kind: "request-words-missing"; readonly segments: readonly string[] }
  | { readonly kind: "prompt-not-rendered"; readonly why: PromptFault };

/** The kinds of alignment faults. */
export type AlignmentFaultKind = AlignmentFault["kind"];

type Words = { readonly [K in AlignmentFaultKind]: (fault: Extract<AlignmentFault, { kind: K }>) => string };

const WORDS: Words = {
  "mode-mismatch": ({ snapshot, live }) =>
    `the catalog was taken in ${snapshot} mode, and the session is in ${live} mode`,
  "user-input-mismatch": ({ snapshot, live }) =>
    `the catalog says that the user ${can(snapshot)} be asked, and the user ${can(live)}`,
  "catalog-stale": ({ snapshotEpoch, liveEpoch }) =>
    `the catalog is of epoch ${snapshotEpoch}, and it is ${liveEpoch} now`,
  "stamp-missing": () => "the prompt carries no stamp, so nothing says which catalog it was made for",
  "stamp-mismatch": ({ field, promptValue, snapshotValue }) =>
    `the stamp says ${field}: ${promptValue}, and the catalog ${snapshotValue}`,
  "tools-differ": ({ tools }) => `the prompt was made for other tools: ${tools.join(", ")}`,
  "segment-altered": ({ segment }) => `the text of ${segment} was altered after it was rendered`,
  "policy-line": ({ expectedLine, segment }) =>
    expectedLine === undefined
      ? `${segment} speaks of plan mode in act mode`
      : `${segment} does not carry the policy line of this mode: ${expectedLine}`,
  "tool-not-offered": ({ tool, segment }) => `${segment} tells the model to use ${tool}, which is not offered`,
  "tool-changed": ({ tool, segment }) => `${segment} speaks of ${tool} as it was before it changed`,
  "tool-not-blocked": ({ tool, segment }) => `${segment} says that ${tool} cannot be used, and it is offered`,
  "tool-choice-missing": ({ tool }) => `the request demands ${tool}, which is not offered`,
  "request-tools-differ": ({ missing, extra, changed }) =>
    `the request offers other tools than the catalog (missing: ${list(missing)}; extra: ${list(extra)}; changed: ${list(changed)})`,
  "request-fields-foreign": ({ fields }) =>
    `the request carries fields of its caller's that could say or offer anything: ${list(fields)}`,
  "request-words-missing": ({ segments }) => `the request does not say what it must: ${list(segments)}`,
  "prompt-not-rendered": ({ why }) => `the prompt cannot be rendered: ${JSON.stringify(why)}`,
};

/** All kinds of alignment faults. */
export const ALIGNMENT_FAULT_KINDS = Object.keys(WORDS) as readonly AlignmentFaultKind[];

/** A fault in words, for people and logs. */
export function explainFault(fault: AlignmentFault): string {
  return (WORDS[fault.kind] as (fault: AlignmentFault) => string)(fault);
}

function can(enabled: boolean): string {
  return enabled ? "can" : "cannot";
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
