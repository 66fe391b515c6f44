import type { Json } from "../base/json.ts";

/** Runs programs that a model wrote, in a world that contains nothing but what its host answers. */
export interface CodeRunner {
  /** A name for people, such as `quickjs`. */
  readonly name: string;
  /** Runs a program. Whatever the program does is a result: it never throws for a throw, a limit or an abort. */
  run(program: string, host: CodeHost, signal: AbortSignal): Promise<CodeResult>;
}

/** What a program may know and ask. Everything is passed as JSON. */
export interface CodeHost {
  /** What `Date.now()` returns throughout the program. */
  readonly now: number;
  /** What `Math.random()` is seeded with. */
  readonly seed: string;
  /** How many records `context.conversation_history` has. */
  readonly records: number;
  /** Names of the tools that it may call. */
  readonly tools: readonly string[];
  /** Names of the slices that it may read. */
  readonly slices: readonly string[];
  /** The value of the program's variable `input`. */
  readonly input: Json;
  /** Answers a question of the program. */
  answer(question: CodeQuestion): Promise<CodeAnswer>;
}

/** What a program asks its host. */
export type CodeQuestion =
  /** Records `from` to `to`, `to` excluded. At least one is answered, and fewer than asked for when they are large. */
  | { readonly kind: "records"; readonly from: number; readonly to: number }
  /** What a call returned, by the reference in its record. */
  | { readonly kind: "content"; readonly seq: number }
  /** A program that was run before, by the `program_source` in its record. */
  | { readonly kind: "program"; readonly source: string }
  /** A part of the session's state, as it is now. */
  | { readonly kind: "slice"; readonly name: string }
  | { readonly kind: "tool"; readonly name: string; readonly input: Json };

/** The host's answer to a program's question. */
export type CodeAnswer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly message: string };

/** Why a program did not end well. */
export type CodeFault =
  | "threw"
  | "syntax"
  | "out-of-memory"
  | "out-of-time"
  | "too-deep"
  | "too-large"
  | "aborted"
  | "broken";

/** How a program reads the history, judged by its text. Reported, never relied on. */
export interface HistoryUse {
  /** Whether it reads the history at all. */
  readonly detected: boolean;
  /** How it reads: filter, map, slice, count, group, find, reduce, sort, walk, index, copy, join. */
  readonly patterns: readonly string[];
  /** How it was judged: parsed, by its words if it does not parse, by plain text without a parser, or not at all. */
  readonly by: "parser" | "words" | "text" | "nothing";
}

/** What was seen of a program while it ran. */
export interface CodeSeen {
  /** The first lines that it printed. */
  readonly log: readonly string[];
  /** How many records it read. */
  readonly recordsRead: number;
  readonly historyUse: HistoryUse;
}

/** How a program ended: with a value, or with a fault. */
export type CodeResult =
  | (CodeSeen & { readonly ok: true; readonly value: Json })
  | (CodeSeen & { readonly ok: false; readonly fault: CodeFault; readonly message: string });
