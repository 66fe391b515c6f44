import { randomFillSync } from "node:crypto";
import { sha256 } from "./hash.ts";

/** Where randomness comes from. */
export interface Random {
  /** `count` random bytes as lower-case hex. */
  hex(count: number): string;
  /** A number in [0, 1). */
  fraction(): number;
}

export interface RandomDep {
  readonly random: Random;
}

/** Cryptographic randomness from the system. Bytes are drawn in bulk, to save a system call per record. */
export class SystemRandom implements Random {
  readonly #pool = Buffer.alloc(4096);
  #used = 4096;

  hex(count: number): string {
    if (count > this.#pool.length) return randomFillSync(Buffer.alloc(count)).toString("hex");
    if (this.#used + count > this.#pool.length) {
      randomFillSync(this.#pool);
      this.#used = 0;
    }
    const text = this.#pool.toString("hex", this.#used, this.#used + count);
    this.#used += count;
    return text;
  }

  fraction(): number {
    return Number.parseInt(this.hex(6), 16) / 2 ** 48;
  }
}

/** Randomness for tests: the same seed gives the same sequence on every machine. It is not secret. */
export class SeededRandom implements Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string | number) {
    this.#seed = String(seed);
    const digest = sha256(`holdfast-random\n${this.#seed}`);
    const lane = (at: number) => Number.parseInt(digest.slice(at, at + 8), 16) | 0;
    this.#a = lane(0);
    this.#b = lane(8);
    this.#c = lane(16);
    this.#d = lane(24);
    for (let i = 0; i < 12; i += 1) this.#next();
  }

  /** An independent stream for this label, e.g. one per call. */
  split(label: string): SeededRandom {
    // The length keeps `split("a/b")` and `split("a").split("b")` apart.
    return new SeededRandom(`${this.#seed.length}:${this.#seed}/${label}`);
  }

  hex(count: number): string {
    let text = "";
    while (text.length < count * 2) text += this.#next().toString(16).padStart(8, "0");
    return text.slice(0, count * 2);
  }

  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  /** A whole number in [0, below). */
  below(below: number): number {
    return Math.floor(this.fraction() * below);
  }

  /** One of the values. Throws a RangeError when there are none. */
  pick<T>(values: readonly T[]): T {
    if (values.length === 0) throw new RangeError("pick needs at least one value");
    return values[this.below(values.length)] as T;
  }

  // sfc32: small, fast, passes PractRand; quality matters for rigs, secrecy does not.
  #next(): number {
    const b = this.#b;
    const c = this.#c;
    const sum = (((this.#a + b) | 0) + this.#d) | 0;
    this.#a = b ^ (b >>> 9);
    this.#b = (c + (c << 3)) | 0;
    this.#c = (((c << 21) | (c >>> 11)) + sum) | 0;
    this.#d = (this.#d + 1) | 0;
    return sum >>> 0;
  }
}
