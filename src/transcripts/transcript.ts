import type { Counts, Totals } from "./counts.ts";
import type { Layout } from "./detect.ts";
import type { Format, Reading } from "./format.ts";
import type { LineFlaw } from "./records.ts";
import type { Path } from "../base/text/edit.ts";

/** One element of a conversation and where the file keeps it. */
export interface Element {
  /** The record of a log, by order; 0 in a document. */
  readonly record: number;
  /** Where it stands in the record. */
  readonly path: Path;
  readonly line: number;
  /** A strict reader sees it: its line was whole. */
  readonly strict: boolean;
  /** A provider's answer that nothing in the file could have answered yet. */
  readonly open: boolean;
  readonly reading: Reading;
  /** A record from a damaged line that its writer wrote again, whole, elsewhere: it goes when the file is repaired. */
  readonly again?: boolean;
}

/** Nothing in the file belongs to a format we know. */
export type Unrecognised = { readonly unrecognised: "empty" | "not-json" | "unknown" };

export interface Conversation {
  /** The list that holds its elements; nothing when the file's own records do. */
  readonly list?: { readonly record: number; readonly path: Path };
  readonly elements: readonly Element[];
  /** It goes on from what the provider keeps. */
  readonly continues?: boolean;
}

export interface FlawedLine {
  readonly line: number;
  readonly flaws: readonly LineFlaw[];
  readonly fragments: number;
}

/** A file as it was understood. Texts are not kept; a second pass over the source fetches what a repair needs. */
export interface Transcript {
  readonly format: Format;
  readonly layout: Layout;
  readonly conversations: readonly Conversation[];
  readonly flawed: readonly FlawedLine[];
  readonly totals: Totals;
  readonly records: number;
  /** The text of a document, after what was torn had been cut off; nothing for files of lines. */
  readonly text?: string;
}

export const NO_LINES: Pick<Counts, "badLines" | "gluedLines"> = { badLines: 0, gluedLines: 0 };
