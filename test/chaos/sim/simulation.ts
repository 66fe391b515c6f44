import { HoldfastError } from "../../../src/base/errors.ts";
import { SeededRandom } from "../../../src/base/random.ts";
import type { SessionOptions } from "../../../src/turn/holdfast-options.ts";
import type { Session } from "../../../src/turn/session.ts";
import type { Stage } from "../script/tools.ts";
import { SimMachine } from "./machine.ts";
import { codeOf, Oracle } from "./oracle.ts";
import { SimProcess } from "./process.ts";
import { Scheduler, quiet } from "./scheduler.ts";
import type { KeptSnapshot } from "./snapshots.ts";
import { World } from "./world.ts";

/** One step: what is done, and the number that decides everything about it that is left to chance. */
interface Step {
  readonly name: string;
  readonly chance: number;
}

export interface Scenario {
  readonly seed: string;
  readonly steps: readonly Step[];
}

export interface StepKind {
  readonly weight: number;
  readonly take: (sim: Simulation, random: SeededRandom) => void | Promise<void>;
}

export type StepKinds = Readonly<Record<string, StepKind>>;

export interface Verdict {
  readonly wrong: readonly string[];
  /** How many of the steps were taken when the first fault was seen. */
  readonly taken: number;
  readonly transcript: string;
  readonly notes: Readonly<Record<string, number>>;
}

/** Something under way in a process. */
export interface Operation {
  readonly what: string;
  readonly by: SimProcess;
  readonly callIds: readonly string[];
  readonly stop: AbortController;
}

export const LEASE_MS = 1_000;
const MOST_UNDER_WAY = 8;
/** How long a session that is closed waits for what does not stop. */
const CLOSING_MS = 5_000;

/** The whole kernel on one machine, in one thread, with every choice drawn from a seed. */
export class Simulation {
  readonly scheduler = new Scheduler();
  readonly world = new World();
  readonly oracle: Oracle;
  readonly machine: SimMachine;
  readonly operations = new Set<Operation>();
  readonly notes: Record<string, number> = {};
  /** Overtaken while they slept; and those who have woken since. */
  readonly sleepers: SimProcess[] = [];
  readonly woken: SimProcess[] = [];
  readonly snapshots: KeptSnapshot[] = [];
  readonly options: SessionOptions;
  main: SimProcess;
  /** Operations begun, and disk errors ordered, so far. */
  started = 0;
  faults = 0;
  sessionName = "s";
  #processes = 0;
  #words = 0;
  #opening = false;
  readonly #stops: AbortController[] = [];
  readonly #kinds: StepKinds;
  readonly #closing = new WeakSet<Session>();
  readonly #choices: SeededRandom;

  constructor(seed: string, kinds: StepKinds) {
    this.#kinds = kinds;
    const random = new SeededRandom(seed);
    this.#choices = random.split("choices");
    this.options = {
      parallel: 1 + random.below(4),
      commitOrder: random.below(4) === 0 ? "call" : "settle",
      checkpoints: { limit: 3 + random.below(12) },
      development: random.below(2) === 0,
    };
    this.oracle = new Oracle(this.world);
    this.machine = new SimMachine(random.split("disk"), () => this.scheduler.now);
    this.machine.onApplied = (batch, receipt) => this.oracle.applied(batch, receipt);
    this.main = this.#newProcess();
  }

  async run(scenario: Scenario): Promise<Verdict> {
    try {
      return await this.#run(scenario);
    } finally {
      this.scheduler.end();
    }
  }

  async #run({ steps }: Scenario): Promise<Verdict> {
    let taken = 0;
    for (const { name, chance } of steps) {
      taken += 1;
      const random = new SeededRandom(chance);
      await this.#take(name, random);
      if (this.oracle.faults().length > 0) return this.#verdict(taken);
    }
    await this.#finish();
    return this.#verdict(taken);
  }

  word(): string {
    this.#words += 1;
    return `w${this.#words}`;
  }

  count(what: string): void {
    this.notes[what] = (this.notes[what] ?? 0) + 1;
  }

  /** Follows work to its end. What it throws is judged: in calm weather only what `mayRefuse` names. */
  follow(
    what: string,
    callIds: readonly string[],
    work: (stop: AbortSignal) => Promise<unknown>,
    mayRefuse: readonly string[] = [],
  ): Operation {
    const by = this.main;
    const { session } = by;
    const faults = this.faultsPassed;
    const operation: Operation = { what, by, callIds, stop: new AbortController() };
    this.operations.add(operation);
    this.#stops.push(operation.stop);
    this.started += 1;
    work(operation.stop.signal)
      .catch((error: unknown) => {
        const code = codeOf(error);
        this.count(`refused ${what}: ${HoldfastError.is(error) ? code : "?"}`);
        const faulty =
          this.faults > faults || this.faults > (session === undefined ? faults : by.faultsBefore(session));
        const excused = faulty || !by.alive || (session !== undefined && this.#isGone(session));
        if (!HoldfastError.is(error) || !(excused || mayRefuse.includes(code)))
          this.oracle.wrong.push(`${what} failed: ${code}`);
      })
      .finally(() => this.operations.delete(operation))
      .catch(() => {});
    return operation;
  }

  /** Of the disk errors ordered so far, those that are over. */
  get faultsPassed(): number {
    return this.machine.fault === undefined ? this.faults : this.faults - 1;
  }

  /** The current process's session, if one is open and usable. */
  get session(): Session | undefined {
    const { usable } = this.main;
    return this.#opening || usable === undefined || this.#isGone(usable) ? undefined : usable;
  }

  underWay(by: SimProcess = this.main): readonly Operation[] {
    return [...this.operations].filter((operation) => operation.by === by);
  }

  /** The process dies with everything it has in memory. The disk keeps what it was given. */
  kill(process: SimProcess): void {
    process.alive = false;
    this.machine.bury(process.store.owner);
    for (const operation of this.underWay(process)) this.operations.delete(operation);
    if (process === this.main) this.replaceMain();
  }

  /** All processes die, and the disk loses what was not synced. */
  losePower(): void {
    for (const process of [this.main, ...this.sleepers.splice(0), ...this.woken.splice(0)]) process.alive = false;
    this.operations.clear();
    this.oracle.retell(() => this.machine.losePower());
    this.replaceMain();
  }

  async wakeOne(): Promise<void> {
    const sleeper = this.sleepers.shift();
    if (sleeper === undefined) return;
    sleeper.asleep = false;
    this.woken.push(sleeper);
    await this.scheduler.wake();
  }

  replaceMain(): void {
    this.machine.fault = undefined;
    this.main = this.#newProcess();
    this.#opening = false;
  }

  /** Runs until nothing is left to do without time passing. */
  async settleDown(random: SeededRandom): Promise<void> {
    while (await this.scheduler.step((count) => random.below(count)));
  }

  /** Whoever still works with it will be refused. */
  close(session: Session): Promise<void> {
    this.#closing.add(session);
    return session.close();
  }

  #isGone(session: Session): boolean {
    return this.#closing.has(session) || session.journal.signal.aborted;
  }

  /** Opens the session, as anybody would after a crash, and compares what comes back. */
  open(): void {
    const process = this.main;
    const id = this.sessionName;
    this.#opening = true;
    const opening = async () => {
      try {
        const closedCalmly = await this.#closeCalmly(process);
        process.use(await process.holdfast.open(id, { leaseMs: LEASE_MS }), this.faultsPassed);
        this.count("openings");
        if (this.main !== process) return; // it slept, and another has opened the session since
        if (process.session === undefined) return;
        const left = process.session.recovered.closedCalls;
        if (closedCalmly && left.length > 0) this.oracle.wrong.push(`closing left ${left.join(", ")} open`);
        this.oracle.rewinding(process.session.id, "opened");
        this.oracle.checkQuiet(process.session);
      } finally {
        if (this.main === process) this.#opening = false;
      }
    };
    this.follow("open", [], opening, ["SESSION_BUSY", "LEASE_LOST"]); // it may have slept meanwhile
  }

  /** Whether nothing kept it from closing all that ran. */
  async #closeCalmly(process: SimProcess): Promise<boolean> {
    const { session, usable } = process;
    if (session === undefined) return false;
    const begun = this.scheduler.now;
    const closed = await this.close(session).then(
      () => true,
      () => false,
    );
    const calm = process.faultsBefore(session) === this.faults && this.scheduler.now - begun < CLOSING_MS;
    return closed && calm && usable === session;
  }

  async #take(name: string, random: SeededRandom): Promise<void> {
    if (this.session === undefined && !this.#opening) this.open();
    await quiet();
    if (this.session === undefined && random.below(8) > 0) await this.#untilOpen(random);
    await this.#kinds[name]?.take(this, random);
    await quiet();
    let decisions = random.below(random.pick([4, 10, 30]));
    if (this.operations.size > MOST_UNDER_WAY) decisions += 60;
    for (; decisions > 0 && (await this.scheduler.step((count) => random.below(count))); decisions -= 1);
    this.#check();
  }

  async #untilOpen(random: SeededRandom): Promise<void> {
    for (let tries = 0; this.session === undefined && tries < 3; tries += 1) {
      await this.settleDown(random);
      if (this.session !== undefined) return;
      // Somebody holds it: one who woke before it was taken, or one who sleeps and lets it run out.
      for (const holder of this.woken.splice(0)) this.kill(holder);
      await this.scheduler.advance(LEASE_MS + 1);
      if (!this.#opening) this.open();
      await quiet();
    }
  }

  #check(): void {
    const { session } = this;
    if (session === undefined) return;
    this.oracle.checkBetween(session);
    const idle = this.underWay().length === 0 && session.transactions.pending.length === 0;
    if (idle && this.scheduler.isIdle(this.main)) this.oracle.checkQuiet(session);
  }

  /** Everything comes to an end: what hangs is aborted, what sleeps wakes, and then it all must agree, also after a crash. */
  async #finish(): Promise<void> {
    const random = this.#choices;
    this.machine.fault = undefined;
    while (this.sleepers.length > 0) await this.wakeOne();
    await this.settleDown(random);
    for (const stop of this.#stops) stop.abort(); // also of calls whose neighbour failed, and took their operation along
    for (let waits = 0; this.operations.size > 0 && waits < 80; waits += 1) {
      await this.settleDown(random);
      await this.scheduler.advance(500);
    }
    for (const { what, callIds } of this.operations) this.oracle.wrong.push(`${what} ${callIds.join()} never ended`);
    this.#check();
    for (const other of this.woken.splice(0)) this.kill(other);
    if (random.below(2) === 0) this.losePower();
    else this.kill(this.main);
    const heads: number[] = [];
    for (const _ of ["recovery", "a second open"]) {
      this.open();
      await this.#untilOpen(random);
      const { session } = this;
      if (session === undefined) {
        this.oracle.wrong.push("the session did not open again");
        return;
      }
      heads.push(session.journal.head.seq);
      this.oracle.checkQuiet(session);
    }
    if (heads[0] !== heads[1])
      this.oracle.wrong.push(`a second open moved the session from ${heads[0]} to ${heads[1]}`);
    await this.#verify();
  }

  async #verify(): Promise<void> {
    let said = "";
    this.follow("verify", [], async () => {
      const { ok, ...report } = await this.main.holdfast.verify();
      said = ok ? "ok" : JSON.stringify(report).slice(0, 300);
    });
    await quiet();
    await this.settleDown(this.#choices);
    if (said !== "ok") this.oracle.wrong.push(`verify: ${said}`);
  }

  #verdict(taken: number): Verdict {
    return { wrong: this.oracle.faults(), taken, transcript: this.oracle.transcript(), notes: this.notes };
  }

  #newProcess(): SimProcess {
    this.#processes += 1;
    const name = `process ${this.#processes}`;
    const stage = (process: SimProcess): Stage => ({
      wait: () => this.scheduler.point(process),
      effect: (ask, key) => this.world.run(ask, key, () => this.scheduler.point(process)),
      undo: (ask, key, receipt) => this.world.undo(ask, key, receipt, () => this.scheduler.point(process)),
      hear: (news) => this.oracle.hear(news),
    });
    return new SimProcess(name, this.machine, this.scheduler, stage, this.options);
  }
}
