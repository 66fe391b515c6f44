/** One stream of output: its beginning and its end for reading, and the whole of it as long as the bound allows. */
export class Output {
  readonly #half: number;
  readonly #pieces: Uint8Array[] = [];
  bytes = 0;

  constructor(shown: number) {
    this.#half = Math.max(1, Math.floor(shown / 2));
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.bytes += piece.length;
  }

  /** Forgets what is older than what can be shown: for what never ends. */
  addLast(piece: Uint8Array): void {
    this.add(piece);
    for (let first = this.#pieces[0]; first !== undefined && this.bytes - first.length >= 2 * this.#half; ) {
      this.bytes -= first.length;
      this.#pieces.shift();
      first = this.#pieces[0];
    }
  }

  get truncated(): boolean {
    return this.bytes > 2 * this.#half;
  }

  get whole(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  /** Never cut inside a letter. */
  get text(): string {
    const whole = Buffer.concat(this.#pieces);
    if (!this.truncated) return textOf(whole);
    const head = whole.subarray(0, beforeLetter(whole, this.#half));
    const tail = whole.subarray(beforeLetter(whole, whole.length - this.#half));
    const left = whole.length - head.length - tail.length;
    return `${textOf(head)}\n… ${left} bytes left out …\n${textOf(tail)}`;
  }
}

/** The nearest place at or before `at` where a letter begins. */
function beforeLetter(bytes: Uint8Array, at: number): number {
  for (let place = at; place > at - 4 && place >= 0; place -= 1)
    if (((bytes[place] ?? 0) & 0xc0) !== 0x80) return place;
  return at; // no text at all
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
