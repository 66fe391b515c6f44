import type { Json } from "../base/json.ts";

/** Runs programs that a model wrote, in a world that holds nothing but what its host answers. */
export interface CodeRunner {
  /** For people: `quickjs`. */
  readonly name: string;
  /** Never throws for what the program does: a throw, a limit and an abort are results. */
  run(program: string, host: CodeHost, signal: AbortSignal): Promise<CodeResult>;
}

/** What a program may know and ask. Everything crosses as JSON. */
export interface CodeHost {
  /** What `Date.now()` says, all the while, and what `Math.random()` is drawn from. */
  readonly now: number;
  readonly seed: string;
  /** How many records `context.conversation_history` has. */
  readonly records: number;
  /** Tools that it may call, by name. */
  readonly tools: readonly string[];
  answer(question: CodeQuestion): Promise<CodeAnswer>;
}

export type CodeQuestion =
  /** Records from the first up to, and without, the second. */
  | { readonly kind: "records"; readonly from: number; readonly to: number }
  /** What a call returned, by the reference in its record. */
  | { readonly kind: "content"; readonly seq: number }
  | { readonly kind: "tool"; readonly name: string; readonly input: Json };

export type CodeAnswer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** How a program ended that did not end well. */
export type CodeFault =
  | "threw"
  | "syntax"
  | "out-of-memory"
  | "out-of-time"
  | "too-deep"
  | "too-large"
  | "aborted"
  | "broken";

export interface CodeSeen {
  /** What it printed, the first lines of it. */
  readonly log: readonly string[];
  /** How many records it looked at. */
  readonly recordsRead: number;
}

export type CodeResult =
  | (CodeSeen & { readonly ok: true; readonly value: Json })
  | (CodeSeen & { readonly ok: false; readonly fault: CodeFault; readonly message: string });
