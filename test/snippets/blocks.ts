/** A piece of code in a document. */
export interface Block {
  /** The line its fence stands on. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** Every fenced block of a page, in order. */
export function blocksIn(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly line: number; readonly language: string; readonly code: string[] } | undefined;
  for (const [at, text] of page.split("\n").entries()) {
    const fence = /^```(\w*)/.exec(text);
    if (fence === null) open?.code.push(text);
    else if (open === undefined) open = { line: at + 1, language: fence[1] ?? "", code: [] };
    else {
      blocks.push({ ...open, code: open.code.join("\n") });
      open = undefined;
    }
  }
  if (open !== undefined) throw new TypeError(`the block at line ${open.line} is never closed`);
  return blocks;
}
