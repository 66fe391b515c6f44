/** What stands in the place of a secret. */
export class Mark {
  readonly text: string;
  /** Its letters, of one byte each and of two, with a few behind the last. */
  readonly narrow: DataView;
  readonly wide: DataView;

  constructor(name: string) {
    this.text = `[redacted:${name}]`;
    const padded = this.text.padEnd(this.text.length + WORD);
    this.narrow = viewOf(Buffer.from(padded, "latin1"));
    this.wide = viewOf(Buffer.from(padded, "utf16le"));
  }
}

/** How many bytes are copied at once. */
export const WORD = 4;

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Told of a value that is secret by the name it was given. */
export const ASSIGNED_SECRET: Mark = new Mark("assigned-secret");
