import { rmSync } from "node:fs";
import { join } from "node:path";
import { FixedClock } from "../../../src/base/clock.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import { createHoldfast, type Holdfast, type Session, type Store } from "../../../src/index.ts";
import { MemoryDisk, memoryStore } from "../../../src/stores/memory/entry.ts";
import { sqlite } from "../../../src/stores/sqlite/entry.ts";
import { scriptTools, SLICES, type Stage } from "../script/tools.ts";

/** A session through the public door, on one store, that can be closed, crashed and opened again. */
export class Place {
  hf!: Holdfast;
  session!: Session;
  name = "s";
  readonly #openStore: () => Store | ReturnType<typeof sqlite>;
  readonly #clock = new FixedClock();
  #openings = 0;

  constructor(openStore: () => Store | ReturnType<typeof sqlite>) {
    this.#openStore = openStore;
  }

  static onMemory(): Place {
    const disk = new MemoryDisk();
    return new Place(() => memoryStore({ disk }));
  }

  static onSqlite(folder: string, name: string): Place {
    return new Place(() => sqlite(join(folder, name, "store.db"), { durability: "process" }));
  }

  async open(): Promise<void> {
    this.#openings += 1;
    const random = new SeededRandom(`process ${this.#openings}`); // two processes with one chance would have one name
    const options = { tools: scriptTools(STAGE), slices: SLICES, checkpoints: { limit: 200 }, development: true };
    this.hf = await createHoldfast({ store: this.#openStore(), clock: this.#clock, random, ...options });
    this.session = await this.hf.open(this.name);
  }

  /** The store goes away under the session, as with a process that dies: nothing is closed, nothing released. */
  async crash(): Promise<void> {
    await this.hf.close();
    await this.open();
  }
}

/** Nothing happens outside; what takes time takes a turn. */
const STAGE: Stage = {
  wait: async () => {},
  effect: async () => {},
  undo: async () => {},
  hear: () => {},
};

export function removePlace(folder: string, name: string): void {
  rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
}
