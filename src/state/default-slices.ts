import type { Instant } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { OutputStatus } from "../records/kinds.ts";
import { reducers } from "./reducers.ts";
import { defineSlice, type AnySlice } from "./slice.ts";

/** What the agent is trying to do, in its own words. */
export interface Plan {
  readonly objective: string;
  readonly status: "active" | "done" | "abandoned";
  readonly steps?: readonly { readonly title: string; readonly status: "todo" | "doing" | "done" }[];
}

/** How much of a prompt section is shown, instead of what the section itself says. */
export interface VisibilityOverride {
  readonly section: string;
  readonly visibility: "full" | "summary";
}

/** The workspace in a few words, by section of the prompt. */
export interface WorkspaceDigest {
  readonly section: string;
  readonly digest: string;
}

/** A call that ended, however it ended. */
export interface ToolInvoked {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly status: OutputStatus;
  readonly reason: string;
  readonly success: boolean;
  readonly at: Instant;
  /** Milliseconds. */
  readonly elapsed: number;
  /** What a failed tool returned in addition to its message. It is kept only here. */
  readonly payload?: Json;
}

/** A prompt that was rendered for a request. */
export interface PromptRendered {
  /** The prompt's name. */
  readonly prompt: string;
  readonly at: Instant;
  /** Hash of everything that was rendered. */
  readonly hash: string;
  /** Hash of the stable prefix. */
  readonly prefixHash?: string;
  /** Epoch of the catalog it was rendered for. The journal's `catalog-changed` of that epoch has the exact schemas. */
  readonly epoch?: number;
  /** Hash of the tools in that catalog. */
  readonly contentHash?: string;
}

/** A prompt that a model has answered. */
export interface PromptExecuted {
  /** The prompt's name. */
  readonly prompt: string;
  readonly at: Instant;
  /** Hash of the rendered prompt that was sent. */
  readonly hash?: string;
  /** Epoch of the catalog that was sent. */
  readonly epoch?: number;
  readonly model?: string;
  readonly usage?: Json;
}

/** The journal has every call; the slice has the newest, so that it does not grow for ever. */
const NEWEST = 200;

/** The slice of the agent's plan: the newest one. */
export const Plan = defineSlice("Plan", {
  initial: [] as readonly Plan[],
  on: { set: reducers.replaceLatest<Plan> },
});

/** The slice that says which prompt sections are shown in full or as a summary. */
export const VisibilityOverrides = defineSlice("VisibilityOverrides", {
  initial: [] as readonly VisibilityOverride[],
  on: {
    set: reducers.upsertBy<VisibilityOverride, string>(({ section }) => section),
    cleared: (now: readonly VisibilityOverride[], section: string) => now.filter((other) => other.section !== section),
  },
});

/** The slice with a few words about the workspace, by prompt section. */
export const WorkspaceDigest = defineSlice("WorkspaceDigest", {
  initial: [] as readonly WorkspaceDigest[],
  policy: "cache",
  on: { set: reducers.replaceLatestBy<WorkspaceDigest, string>(({ section }) => section) },
});

/** The slice of calls that ended: at least the newest 200. */
export const ToolInvoked = defineSlice("ToolInvoked", {
  initial: [] as readonly ToolInvoked[],
  policy: "log",
  on: { ended: reducers.appendNewest<ToolInvoked>(NEWEST) },
});

/** The slice of prompts that were rendered: at least the newest 200. */
export const PromptRendered = defineSlice("PromptRendered", {
  initial: [] as readonly PromptRendered[],
  policy: "log",
  on: { rendered: reducers.appendNewest<PromptRendered>(NEWEST) },
});

/** The slice of prompts that were answered: at least the newest 200. */
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
