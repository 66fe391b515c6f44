import { createHash } from "node:crypto";
import {
  type CallId,
  callIdAt,
  dropBodies,
  type Holdfast,
  HoldfastError,
  type NewBlob,
  type RecordDraft,
  SeededRandom,
  type Session,
  type SessionCall,
  toSessionId,
} from "../../src/index.ts";
import { digestOf, type Testimony } from "./ledger.ts";
import { drawScript } from "./script/ops.ts";

/** Where a record came from. Kept in its body, so that a batch can be recognised whole, torn or doubled. */
export interface Mark {
  readonly run: string;
  readonly batch: number;
  readonly index: number;
  readonly of: number;
  /** Digests of the content that the record names, taken by us and not by the code under test. */
  readonly content?: readonly string[];
}

export interface WorkloadOptions {
  readonly session: string;
  /** Unique for each life of a worker: no two of their batches look alike. */
  readonly run: string;
  readonly random: SeededRandom;
  readonly say: (testimony: Testimony) => void;
  readonly leaseMs?: number;
  /** With faults in the world a typed refusal is an answer; without, every error is a violation. */
  readonly faults: boolean;
}

type Step = (work: Workload) => Promise<void>;

const TOOLS = ["read_file", "run_tests", "apply_patch", "search"] as const;

/** What a busy session does, by how often it does it. */
const STEPS: Readonly<Record<string, { readonly weight: number; readonly step: Step }>> = {
  say: { weight: 6, step: (work) => work.talk() },
  call: { weight: 6, step: (work) => work.call() },
  overlap: { weight: 3, step: (work) => work.overlappingCalls() },
  dangling: { weight: 0.5, step: (work) => work.callLeftOpen() },
  group: { weight: 4, step: (work) => work.unawaitedGroup() },
  operation: { weight: 2, step: (work) => work.operationTwice() },
  smallBlob: { weight: 2, step: (work) => work.blob(2_000) },
  largeBlob: { weight: 2, step: (work) => work.blob(90_000) },
  hugeBlob: { weight: 0.4, step: (work) => work.blob(1_300_000) },
  lateBlob: { weight: 1, step: (work) => work.blobSweptBeforeItsCommit() },
  checkpoint: { weight: 1, step: (work) => work.checkpoint() },
  fork: { weight: 0.5, step: (work) => work.fork() },
  retain: { weight: 0.6, step: (work) => work.retain() },
  sweep: { weight: 0.6, step: (work) => work.sweep() },
  tidy: { weight: 0.6, step: (work) => work.retainAndSweepAtOnce() },
  drop: { weight: 0.4, step: (work) => work.drop() },
  reopen: { weight: 0.5, step: (work) => work.reopen() },
  stateful: { weight: 6, step: (work) => work.statefulCalls() },
  rewind: { weight: 1, step: (work) => work.rewind() },
  learn: { weight: 3, step: (work) => work.learn() },
};

/** A fixed order that meets every step; for rigs that count calls instead of time. */
export const SCRIPT: readonly string[] = [
  "say",
  "call",
  "largeBlob",
  "operation",
  "overlap",
  "dangling",
  "smallBlob",
  "checkpoint",
  "call",
  "group",
  "lateBlob",
  "fork",
  "retain",
  "sweep",
  "tidy",
  "call",
  "reopen",
  "say",
];

export class Workload {
  readonly #hf: Holdfast;
  readonly #options: WorkloadOptions;
  #session: Session;
  /** Where calls change slices and files; its story must be told whole, so nothing is cut from it. */
  #state: Session | undefined;
  /** Where something is learnt, and context given up. */
  #memory: Session | undefined;
  #batch = 0;
  #forks = 0;

  private constructor(hf: Holdfast, session: Session, options: WorkloadOptions) {
    this.#hf = hf;
    this.#session = session;
    this.#options = options;
  }

  static async open(hf: Holdfast, options: WorkloadOptions): Promise<Workload> {
    const session = await hf.open(options.session, lease(options));
    return new Workload(hf, session, options);
  }

  get session(): Session {
    return this.#session;
  }

  /** One step, chosen by chance. */
  async step(): Promise<void> {
    const total = Object.values(STEPS).reduce((sum, { weight }) => sum + weight, 0);
    let left = this.#options.random.fraction() * total;
    for (const [name, { weight }] of Object.entries(STEPS)) {
      left -= weight;
      if (left < 0) return this.named(name);
    }
  }

  /** One step by name. An error is told: typed refusals are answers when faults are about, everything else is a violation. */
  async named(name: string): Promise<void> {
    const { faults, say } = this.#options;
    const step = STEPS[name]?.step;
    if (step === undefined) throw new TypeError(`no step ${name}`);
    try {
      if (this.#session.journal.signal.aborted) await this.#openAgain();
      await step(this);
    } catch (error) {
      if (faults && HoldfastError.is(error)) say({ kind: "refused", step: name, code: error.code });
      else say({ kind: "broken", what: `${name}: ${describe(error)}` });
    }
  }

  /** Sends an operation of an earlier life again. Whether or not it had been applied, afterwards it is there once. */
  async resend(run: string, batch: number, operation: string): Promise<void> {
    const drafts = marked(operationDrafts(this.#options.session, run, batch), run, batch);
    const { first } = await this.#session.append(drafts, { operation });
    this.#acked(this.#session, first, drafts);
  }

  async talk(): Promise<void> {
    const drafts: RecordDraft[] = [{ kind: "user-said", text: this.#text(400) }];
    const more = this.#options.random.below(6);
    for (let i = 0; i < more; i += 1) drafts.push({ kind: "model-said", text: this.#text(900), model: "scripted" });
    await this.#append(drafts);
  }

  async call(): Promise<void> {
    const { callId, tool } = this.#newCall();
    await this.#append([
      { kind: "model-said", text: this.#text(100) },
      { kind: "call-opened", callId, tool, args: { path: this.#text(40) } },
    ]);
    await this.#append([
      { kind: "call-closed", callId, tool, status: "success", output: this.#text(1_500), effects: "happened" },
    ]);
  }

  async overlappingCalls(): Promise<void> {
    const calls = [this.#newCall(), this.#newCall(), this.#newCall()];
    await this.#append(calls.map(({ callId, tool }) => ({ kind: "call-opened", callId, tool, args: {} })));
    // Closed in another order, without waiting for each other; one of them now and then stays open.
    const closing = calls.toReversed().slice(this.#options.random.below(2));
    await Promise.all(
      closing.map(async ({ callId, tool }) => {
        await this.#append([{ kind: "call-closed", callId, tool, status: "failed", output: this.#text(50) }]);
      }),
    );
  }

  /** Nobody closes it: recovery must, also when a checkpoint lies between. */
  async callLeftOpen(): Promise<void> {
    const { callId, tool } = this.#newCall();
    await this.#append([{ kind: "call-opened", callId, tool, args: {} }]);
  }

  /** Twenty writers that do not wait: they share syncs, and each is still all or nothing. */
  async unawaitedGroup(): Promise<void> {
    const sends: Promise<void>[] = [];
    const count = 5 + this.#options.random.below(16);
    for (let i = 0; i < count; i += 1) {
      if (i % 4 === 3) {
        const { callId, tool } = this.#newCall();
        sends.push(
          this.#append([
            { kind: "call-opened", callId, tool, args: {} },
            { kind: "call-closed", callId, tool, status: "success" },
          ]),
        );
      } else sends.push(this.#append([{ kind: "model-said", text: this.#text(300) }]));
    }
    await allOrFirstError(sends);
  }

  async operationTwice(): Promise<void> {
    const { run, session, say } = this.#options;
    const batch = this.#nextBatch();
    const operation = `${run}-${batch}`;
    const drafts = marked(operationDrafts(session, run, batch), run, batch);
    say({ kind: "sending", run, batch, operation });
    const once = await this.#session.append(drafts, { operation });
    this.#acked(this.#session, once.first, drafts);
    const twice = await this.#session.append(drafts, { operation });
    if (!twice.repeated || twice.first !== once.first || twice.last !== once.last)
      say({ kind: "broken", what: `operation ${operation} was applied at ${once.first} and again at ${twice.first}` });
  }

  async blob(size: number): Promise<void> {
    const bytes = this.#bytes(size);
    await this.#appendNaming(await this.#session.journal.stageBlob(bytes), bytes);
  }

  /** The writer pauses between its put and its commit, and a sweep comes by: told now, or kept; never lost later. */
  async blobSweptBeforeItsCommit(): Promise<void> {
    const bytes = this.#bytes(70_000);
    const staged = await this.#session.journal.stageBlob(bytes);
    await this.#hf.sweep({ graceMs: 0, shrink: false });
    try {
      await this.#appendNaming(staged, bytes);
    } catch (error) {
      if (!HoldfastError.is(error, "BLOB_MISSING")) throw error;
      await this.#appendNaming(await this.#session.journal.stageBlob(bytes), bytes);
    }
  }

  async checkpoint(): Promise<void> {
    await this.#session.checkpoint({ tag: "asked for" });
  }

  async fork(): Promise<void> {
    const { run, say, random, session } = this.#options;
    const { head } = this.#session.journal;
    const row = await this.#hf.store.reading((read) => read.session(this.#session.id));
    const oldest = row?.anchor.seq ?? 0;
    const after = head.seq - random.below(Math.min(8, Math.max(1, head.seq - oldest)));
    this.#forks += 1;
    const as = `fork-${run}-${this.#forks}`;
    say({ kind: "forking", session: as, from: session, after });
    const fork = await this.#hf.fork(session, { as, after });
    say({ kind: "forked", session: as });
    await this.#append([{ kind: "user-said", text: this.#text(60) }], undefined, fork);
    await fork.close();
  }

  async retain(): Promise<void> {
    this.#options.say({ kind: "cutting", session: this.#session.id });
    await this.checkpoint();
    await this.#hf.retain(this.#session, { records: 40 + this.#options.random.below(200) });
  }

  async sweep(): Promise<void> {
    const { random } = this.#options;
    await this.#hf.sweep({ graceMs: random.below(2) * 3_600_000, limit: 64, shrink: random.below(4) === 0 });
  }

  async retainAndSweepAtOnce(): Promise<void> {
    this.#options.say({ kind: "cutting", session: this.#session.id });
    await this.checkpoint();
    await allOrFirstError([
      this.#hf.retain(this.#session, { records: 20 + this.#options.random.below(60) }),
      this.#hf.sweep({ graceMs: 0, shrink: false }),
      this.#append([{ kind: "user-said", text: this.#text(50) }]),
    ]);
  }

  async drop(): Promise<void> {
    const { head } = this.#session.journal;
    const wanted = Math.max(1, head.seq - 5 - this.#options.random.below(10));
    const dropped: number[] = [];
    for await (const entry of this.#session.read({ from: wanted, to: wanted + 3 }))
      if (entry.kind === "user-said" || entry.kind === "model-said") dropped.push(entry.seq);
    this.#options.say({ kind: "dropping", session: this.#session.id, seqs: dropped });
    await dropBodies(this.#hf.store, this.#session.journal, dropped, "asked to");
  }

  async reopen(): Promise<void> {
    await this.#session.close();
    await this.#openAgain();
  }

  /** Calls that change slices, files and the world outside, some at once, some failing. */
  async statefulCalls(): Promise<void> {
    const { random, say } = this.#options;
    const session = await this.#withState();
    const calls = Array.from({ length: 1 + random.below(4) }, () => this.#scriptedCall(session));
    for (const { callId, status } of await session.runTools(calls))
      say({ kind: "called", session: session.id, callId, status });
    if (random.below(6) === 0) await session.checkpoint();
  }

  async rewind(): Promise<void> {
    const { random } = this.#options;
    const session = await this.#withState();
    const kept = session.checkpoints.list().filter(({ rewound, callId }) => !rewound && !callId.includes("."));
    if (kept.length === 0) return;
    const { callId } = random.pick(kept.slice(-5));
    await session.rewind(random.below(2) === 0 ? { before: callId } : { after: callId });
  }

  /** Learns something, and now and then gives context up: whoever dies in between loses nothing. */
  async learn(): Promise<void> {
    const { random, say, run, session: name } = this.#options;
    if (this.#memory === undefined || this.#memory.journal.signal.aborted || this.#memory.state.poisoned) {
      await this.#memory?.close({ leave: "staged" });
      this.#memory = await this.#hf.open(`${name}-memory`, lease(this.#options));
    }
    const memory = this.#memory;
    const value = `${run}.${this.#nextBatch()}`;
    await memory.append([
      { kind: "user-said", text: value },
      { kind: "model-said", text: this.#text(300) },
    ]);
    await memory.writeback.stage({
      kind: "preference",
      page: "sim",
      field: "notes",
      op: "append",
      value,
      scope: random.below(4) === 0 ? "project" : "session",
    });
    say({ kind: "learnt", session: memory.id, value });
    const crossings = [
      () => memory.compact({ tail: 100, said: 20 }),
      () => memory.reset(),
      () => memory.prune({ keep: 2 }),
      () => memory.writeback.commit(),
    ];
    await crossings[random.below(8)]?.();
  }

  #scriptedCall(session: Session): SessionCall {
    const { random, run } = this.#options;
    const word = `${run}.${this.#nextBatch()}`;
    const effectKeys = ["k1", "k2", `${word}?`].map((key) => `${session.id}:${key}`);
    const input = drawScript({ random, word, effectKeys, mayHang: false, mayBox: false });
    return { name: random.pick(["write", "write", "steady", "outside", "again"]), input };
  }

  async #withState(): Promise<Session> {
    if (this.#state === undefined || this.#state.journal.signal.aborted || this.#state.state.poisoned) {
      await this.#state?.close();
      this.#state = await this.#hf.open(`${this.#options.session}-state`, lease(this.#options));
    }
    return this.#state;
  }

  async #openAgain(): Promise<void> {
    this.#session = await this.#hf.open(this.#options.session, lease(this.#options));
  }

  async #appendNaming(blob: NewBlob, bytes: Uint8Array): Promise<void> {
    const drafts: RecordDraft[] = [
      { kind: "model-said", text: this.#text(80) },
      { kind: "model-said", text: this.#text(20), blobs: [blob.ref] },
    ];
    await this.#append(drafts, { staged: [blob], content: [createHash("sha256").update(bytes).digest("hex")] });
  }

  async #append(
    drafts: readonly RecordDraft[],
    with_: { readonly staged?: readonly NewBlob[]; readonly content?: readonly string[] } = {},
    session: Session = this.#session,
  ): Promise<void> {
    const batch = marked(drafts, this.#options.run, this.#nextBatch(), with_.content);
    const { first } = await session.append(batch, with_.staged === undefined ? {} : { staged: with_.staged });
    this.#acked(session, first, batch);
  }

  /** Only after the commit returned. */
  #acked(session: Session, first: number, drafts: readonly RecordDraft[]): void {
    const { epoch } = session.journal;
    const names = drafts.flatMap(({ blobs = [] }) => blobs.map(({ name }) => name));
    this.#options.say({ kind: "acked", session: session.id, first, digests: drafts.map(digestOf), epoch, names });
  }

  #newCall(): { readonly callId: CallId; readonly tool: string } {
    const { session, run, random } = this.#options;
    return { callId: callIdAt(toSessionId(`${session}:${run}`), this.#nextBatch(), 0), tool: random.pick(TOOLS) };
  }

  #nextBatch(): number {
    this.#batch += 1;
    return this.#batch;
  }

  #text(length: number): string {
    const { random } = this.#options;
    return random.hex(Math.ceil((1 + random.below(length)) / 2));
  }

  #bytes(size: number): Uint8Array {
    const { random } = this.#options;
    return Buffer.from(random.hex(32).repeat(Math.ceil(size / 64) + 1)).subarray(0, size + random.below(64));
  }
}

/** Drawn from nothing but the names, so that another life can send the very same again. */
function operationDrafts(session: string, run: string, batch: number): readonly RecordDraft[] {
  const random = new SeededRandom(`${session}/${run}/${batch}`);
  const callId = callIdAt(toSessionId(`${session}:${run}`), batch, 0);
  return [
    { kind: "call-opened", callId, tool: "pay_invoice", args: { amount: random.below(1_000) } },
    { kind: "call-closed", callId, tool: "pay_invoice", status: "success", output: random.hex(40) },
  ];
}

function marked(
  drafts: readonly RecordDraft[],
  run: string,
  batch: number,
  content?: readonly string[],
): readonly RecordDraft[] {
  return drafts.map((draft, index) => {
    const mark: Mark = {
      run,
      batch,
      index,
      of: drafts.length,
      ...(draft.blobs === undefined || content === undefined ? {} : { content }),
    };
    return { ...draft, mark };
  });
}

function lease({ leaseMs }: WorkloadOptions): { readonly leaseMs?: number } {
  return leaseMs === undefined ? {} : { leaseMs };
}

/** All have ended when this ends, whichever failed. */
async function allOrFirstError(work: readonly Promise<unknown>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === "rejected") throw result.reason;
}

export function describe(error: unknown): string {
  if (HoldfastError.is(error)) return `${error.code}: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
