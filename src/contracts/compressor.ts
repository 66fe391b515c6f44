import type { Aside } from "./aside.ts";

/** What a page is about to be shortened to. */
export interface Compressible {
  readonly text: string;
  /** The tool that answered it; absent for what a person or a model said. */
  readonly tool?: string;
  /** About how many characters there is room for. */
  readonly room: number;
}

export interface Compressed {
  readonly text: string;
  /** What was left out, in words: `1,204 of 1,300 lines`. Empty when nothing was. */
  readonly leftOut: string;
}

/** Makes a shorter text of a long one, when a page is made. */
export interface Compressor {
  /** Changes whenever `compress` could give another text for the same input: the next view is then chosen anew. */
  readonly version: string;
  /** Waited for by nobody: views are chosen between two requests, and a page must always have its text. */
  compress(what: Compressible): Compressed;
  /**
   * For one that asks a model. It is asked once about an output, when the output has come and before its page is made; what
   * it answers is kept in the journal, so the page never reads differently. `undefined`: not worth asking. When it fails, is
   * too slow, or answers something that no page may show, the page is what `compress` makes of it.
   */
  prepare?(what: Compressible, aside: Aside): Promise<Compressed | undefined>;
}
