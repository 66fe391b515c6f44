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

/**
 * Makes a shorter text of a long one, when a page is made. One that asks a model belongs behind this contract too: its
 * answers are kept with the page, so the same page never reads differently, and selection never waits for it.
 */
export interface Compressor {
  /** Changes whenever the same input could give another text. */
  readonly version: string;
  compress(what: Compressible): Compressed;
}
