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
  /** Slices that it may read, by name. */
  readonly slices: readonly string[];
  /** What it finds as `input`. */
  readonly input: Json;
  answer(question: CodeQuestion): Promise<CodeAnswer>;
}

export type CodeQuestion =
  /** Records from the first on, up to, and without, the second: at least one, and fewer than asked for when they are large. */
  | { readonly kind: "records"; readonly from: number; readonly to: number }
  /** What a call returned, by the reference in its record. */
  | { readonly kind: "content"; readonly seq: number }
  /** A program that was run before, by the `program_source` in its record. */
  | { readonly kind: "program"; readonly source: string }
  /** A part of the session's state, as it is now. */
  | { readonly kind: "slice"; readonly name: string }
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

/** What a program's text says of how it reads the history. Told, never relied on. */
export interface HistoryUse {
  readonly detected: boolean;
  /** Ways of asking: filter, map, slice, count, group, find, reduce, sort, walk, index, copy, join. */
  readonly patterns: readonly string[];
  /** Of a text that does not parse only its words are known; without a parser, not even these; `nothing`: it was not looked at. */
  readonly by: "parser" | "words" | "text" | "nothing";
}

export interface CodeSeen {
  /** What it printed, the first lines of it. */
  readonly log: readonly string[];
  /** How many records it looked at. */
  readonly recordsRead: number;
  readonly historyUse: HistoryUse;
}

export type CodeResult =
  | (CodeSeen & { readonly ok: true; readonly value: Json })
  | (CodeSeen & { readonly ok: false; readonly fault: CodeFault; readonly message: string });
