import type { Clock } from "../../../src/base/clock.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import type { Store } from "../../../src/contracts/store.ts";
import { Holdfast } from "../../../src/turn/holdfast.ts";
import type { SessionOptions } from "../../../src/turn/holdfast-options.ts";
import type { Session } from "../../../src/turn/session.ts";
import { BOX, Box, scriptTools, SLICES, type Stage } from "../script/tools.ts";
import type { SimMachine } from "./machine.ts";
import type { Owner, Scheduler } from "./scheduler.ts";
import { simStore } from "./store.ts";

/** One process on the machine. When it dies, nothing of it is ever heard again; when it sleeps, only its disk goes on. */
export class SimProcess implements Owner {
  alive = true;
  asleep = false;
  session: Session | undefined;
  /** A session that was open when a disk error came may refuse what it likes, honestly. */
  readonly #faultsBefore = new WeakMap<Session, number>();
  readonly clock: Clock;
  readonly stage: Stage;
  readonly store: Store;
  readonly holdfast: Holdfast;

  constructor(
    name: string,
    machine: SimMachine,
    scheduler: Scheduler,
    stage: (process: SimProcess) => Stage,
    options: SessionOptions,
  ) {
    const random = new SeededRandom(name);
    this.clock = scheduler.clockOf(this);
    this.stage = stage(this);
    this.store = simStore(machine, { clock: this.clock, random, pass: (kind) => scheduler.point(this, kind) });
    this.holdfast = new Holdfast(
      { store: this.store, clock: this.clock, random },
      {
        ...options,
        tools: scriptTools(this.stage),
        slices: SLICES,
        resources: () => [[BOX, new Box()]],
      },
    );
  }

  use(session: Session, faultsBefore: number): void {
    this.session = session;
    this.#faultsBefore.set(session, faultsBefore);
  }

  faultsBefore(session: Session): number {
    return this.#faultsBefore.get(session) ?? 0;
  }

  /** It may be used: open, its writer not overtaken, its state not given up. */
  get usable(): Session | undefined {
    const { session } = this;
    return session === undefined || session.state.poisoned || session.journal.signal.aborted ? undefined : session;
  }
}
