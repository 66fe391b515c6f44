import type { Aside } from "./aside.ts";

/** A text to shorten. */
export interface Compressible {
  readonly text: string;
  /** The tool whose output it is; absent for what a person or a model said. */
  readonly tool?: string;
  /** About how many characters the shorter text may have. */
  readonly room: number;
}

/** A shortened text. */
export interface Compressed {
  readonly text: string;
  /** What was left out, in words: `1,204 of 1,300 lines`. Empty when nothing was. */
  readonly leftOut: string;
}

/** Shortens long texts when pages are made. */
export interface Compressor {
  /** Change it whenever `compress` may return another text for the same input: the next view is then chosen anew. */
  readonly version: string;
  /**
   * Shortens a text. Synchronous, because views are chosen between two requests and a page must always have its text.
   */
  compress(what: Compressible): Compressed;
  /**
   * For a compressor that asks a model. Called once for an output, before its page is made. What it returns is kept in
   * the journal, so the page always reads the same. Return undefined if it is not worth asking. If it fails, is too
   * slow, or returns something that no page may show, `compress` is used.
   */
  prepare?(what: Compressible, aside: Aside): Promise<Compressed | undefined>;
}
