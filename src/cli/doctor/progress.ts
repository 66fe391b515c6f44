import type { Source } from "../../base/text/source.ts";

const MB = 1024 * 1024;
const EVERY_MS = 1_000;

/** Says that it is alive, about once a second, on anything long: many files, or a large one. */
export class Progress {
  readonly #say: (line: string) => void;
  readonly #now: () => number;
  readonly #total: number;
  #done = 0;
  #said: number;

  constructor(say: (line: string) => void, now: () => number, total: number) {
    this.#say = say;
    this.#now = now;
    this.#total = total;
    this.#said = now();
  }

  /** One more file is done. */
  next(): void {
    this.#done += 1;
    if (this.#done < this.#total) this.#tell(() => `… ${this.#done} of ${this.#total} files`);
  }

  /** The same source, telling how much of it was read. A repair reads it more than once. */
  watched(source: Source): Source {
    const tell = (read: number) => this.#tell(() => `… ${source.name}: ${Math.floor(read / MB)} MB read`);
    return {
      name: source.name,
      async *chunks() {
        let read = 0;
        for await (const chunk of source.chunks()) {
          read += chunk.length;
          tell(read);
          yield chunk;
        }
      },
    };
  }

  #tell(line: () => string): void {
    if (this.#now() - this.#said < EVERY_MS) return;
    this.#said = this.#now();
    this.#say(line());
  }
}
