import { createHash } from "node:crypto";
import type { Turn } from "../../harness/contract.ts";
import { median } from "../../harness/statistics.ts";

/** The script every loop plays: so many answers with one call each, then a last word. */
export const PROMPT = "Read the files, one after the other.";
export const LAST_WORD = "That was the last of them.";
export const TOOL = "read_file";

/** About a kilobyte, different for every call, and nothing that compresses. */
export function contentOf(seed: string, nth: number): string {
  const blocks = Array.from({ length: 16 }, (_, block) => digest(`${seed} ${nth} ${block}`));
  return blocks.join("\n");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What a loop must have kept, read back by a stranger. */
export function proofOf(outputs: readonly string[]): string {
  return `${outputs.length} ${digest(outputs.join("\n"))}`;
}

/**
 * Stops the time that a loop spends between the model's answer and the next question, less the tool's: everything that is
 * neither model nor tool. The model and the tool of every cell tell it.
 */
export class Gaps {
  readonly #gaps: number[] = [];
  readonly #writes: number[] = [];
  readonly #counting: number[] = [];
  readonly #turn: Turn;
  #answered: bigint | undefined;
  #inTools = 0n;
  #inWrites = 0n;
  #inCounting = 0n;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  /** The model was asked. */
  async asked(): Promise<void> {
    if (this.#answered !== undefined) {
      this.#gaps.push(Number(process.hrtime.bigint() - this.#answered - this.#inTools));
      this.#writes.push(Number(this.#inWrites));
      this.#counting.push(Number(this.#inCounting));
    }
    if (this.#turn.over) await this.#turn.pass();
  }

  /** The model has answered. */
  answered(): void {
    this.#inTools = 0n;
    this.#inWrites = 0n;
    this.#inCounting = 0n;
    this.#answered = process.hrtime.bigint();
  }

  tool<T>(work: () => T): T {
    const started = process.hrtime.bigint();
    const result = work();
    this.#inTools += process.hrtime.bigint() - started;
    return result;
  }

  /** Time in which tokens are counted. */
  counting<T>(work: () => T): T {
    const started = process.hrtime.bigint();
    const result = work();
    this.#inCounting += process.hrtime.bigint() - started;
    return result;
  }

  /** Time in durable writes, where the cell can tell it apart. */
  async write<T>(work: () => Promise<T>): Promise<T> {
    const started = process.hrtime.bigint();
    try {
      return await work();
    } finally {
      this.#inWrites += process.hrtime.bigint() - started;
    }
  }

  /** Without the first few, in which code is compiled. */
  figures(): Readonly<Record<string, number>> {
    const calls = this.#gaps.slice(WARM_UP);
    const writes = this.#writes.slice(WARM_UP);
    const counting = this.#counting.slice(WARM_UP);
    const beyond = calls.map((gap, at) => gap - (writes[at] ?? 0) - (counting[at] ?? 0));
    const tail = Math.max(1, Math.floor(calls.length / 5));
    return {
      call: median(calls),
      "last fifth": median(calls.slice(-tail)),
      ...(writes.some((spent) => spent > 0) ? { writes: median(writes), beyond: median(beyond) } : {}),
      ...(counting.some((spent) => spent > 0) ? { "counting tokens": median(counting) } : {}),
    };
  }
}

const WARM_UP = 10;
