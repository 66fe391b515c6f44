import type { Instant } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { OutputStatus } from "../records/kinds.ts";
import { reducers } from "./reducers.ts";
import { defineSlice, type AnySlice } from "./slice.ts";

/** What the agent is trying to do, as it said itself. */
export interface Plan {
  readonly objective: string;
  readonly status: "active" | "done" | "abandoned";
  readonly steps?: readonly { readonly title: string; readonly status: "todo" | "doing" | "done" }[];
}

/** How much of a prompt section is shown, when it is not the section's own choice. */
export interface VisibilityOverride {
  readonly section: string;
  readonly visibility: "full" | "summary";
}

/** The workspace in a few words, by section of the prompt. */
export interface WorkspaceDigest {
  readonly section: string;
  readonly digest: string;
}

/** One call that ended, however it ended. */
export interface ToolInvoked {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly status: OutputStatus;
  readonly reason: string;
  readonly success: boolean;
  readonly at: Instant;
  /** Milliseconds. */
  readonly elapsed: number;
  /** What a failed tool handed back beside its message. It is kept here and nowhere in the state. */
  readonly payload?: Json;
}

export interface PromptRendered {
  readonly prompt: string;
  readonly at: Instant;
  /** Of all that was rendered, and of the part that stays. */
  readonly hash: string;
  readonly prefixHash?: string;
  /** Of the catalog it was rendered for; the journal's `catalog-changed` of that epoch holds the exact schemas. */
  readonly epoch?: number;
  readonly contentHash?: string;
}

export interface PromptExecuted {
  readonly prompt: string;
  readonly at: Instant;
  /** What was sent: the hash of the rendered prompt, the epoch of the catalog. */
  readonly hash?: string;
  readonly epoch?: number;
  readonly model?: string;
  readonly usage?: Json;
}

/** The journal has every call; the slice has the newest, so that it does not grow for ever. */
const NEWEST = 200;

export const Plan = defineSlice("Plan", {
  initial: [] as readonly Plan[],
  on: { set: reducers.replaceLatest<Plan> },
});

export const VisibilityOverrides = defineSlice("VisibilityOverrides", {
  initial: [] as readonly VisibilityOverride[],
  on: {
    set: reducers.upsertBy<VisibilityOverride, string>(({ section }) => section),
    cleared: (now: readonly VisibilityOverride[], section: string) => now.filter((other) => other.section !== section),
  },
});

export const WorkspaceDigest = defineSlice("WorkspaceDigest", {
  initial: [] as readonly WorkspaceDigest[],
  policy: "cache",
  on: { set: reducers.replaceLatestBy<WorkspaceDigest, string>(({ section }) => section) },
});

export const ToolInvoked = defineSlice("ToolInvoked", {
  initial: [] as readonly ToolInvoked[],
  policy: "log",
  on: { ended: reducers.appendNewest<ToolInvoked>(NEWEST) },
});

export const PromptRendered = defineSlice("PromptRendered", {
  initial: [] as readonly PromptRendered[],
  policy: "log",
  on: { rendered: reducers.appendNewest<PromptRendered>(NEWEST) },
});

export const PromptExecuted = defineSlice("PromptExecuted", {
  initial: [] as readonly PromptExecuted[],
  policy: "log",
  on: { executed: reducers.appendNewest<PromptExecuted>(NEWEST) },
});

/** Every state has these. */
export const DEFAULT_SLICES: readonly AnySlice[] = [
  Plan,
  VisibilityOverrides,
  WorkspaceDigest,
  ToolInvoked,
  PromptRendered,
  PromptExecuted,
];
