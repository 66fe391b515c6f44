import { fingerprint } from "../../src/base/fingerprint.ts";
import type { Random } from "../../src/base/random.ts";

/** Chance drawn from a name. Cheaper to begin than `SeededRandom`: a fuzz case is over in a few hundred draws. */
export class CaseRandom implements Random {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(name: string) {
    const digest = fingerprint(name);
    this.#a = Number.parseInt(digest.slice(0, 8), 16) | 0;
    this.#b = Number.parseInt(digest.slice(8, 16), 16) | 0;
    this.#c = Number.parseInt(digest.slice(16, 24), 16) | 0;
    for (let nth = 0; nth < 12; nth += 1) this.#next();
  }

  hex(count: number): string {
    let text = "";
    while (text.length < count * 2) text += this.#next().toString(16).padStart(8, "0");
    return text.slice(0, count * 2);
  }

  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  // sfc32
  #next(): number {
    const b = this.#b;
    const c = this.#c;
    const sum = (((this.#a + b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = b ^ (b >>> 9);
    this.#b = (c + (c << 3)) | 0;
    this.#c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}
