import type { Json } from "../../../src/base/json.ts";
import type { RecordDraft } from "../../../src/records/kinds.ts";
import { EMPTY, type ModelState, notesIn, type Performed, perform, withNotes } from "./model.ts";
import type { Script } from "./ops.ts";

/** What a rig knows beside the journal. */
export interface Knowledge {
  /** What a discarded call had noted when it ended; undefined when nobody watched, and the script tells. */
  readonly notesOf?: (callId: string) => readonly string[] | undefined;
  /** Its handler had returned: stopped after that, it may have been about to begin anew, without notes. */
  readonly hadReturned?: (callId: string) => boolean;
  /** Whether a call got the effect that it asked for; undefined when nobody watched. */
  readonly gotEffect?: (callId: string, id: string) => boolean | undefined;
  /** The state that a change outside any call makes of another; undefined when nobody asked for such a change. */
  readonly changeOf?: (state: ModelState, record: Changed) => ModelState | undefined;
}

export type Changed = Extract<RecordDraft, { readonly kind: "state-changed" }>;
type Closed = Extract<RecordDraft, { readonly kind: "call-closed" }>;
type Rewound = Extract<RecordDraft, { readonly kind: "rewound" }>;
type Opened = Extract<RecordDraft, { readonly kind: "call-opened" }>;

interface ClosedCall {
  readonly seq: number;
  /** The last record before it, and before those of the calls inside it. */
  readonly before: number;
  readonly status: Closed["status"];
  readonly reason: string | undefined;
  readonly tool: string;
  /** What its record tells of effects. */
  readonly told: Closed["effects"];
  /** Effects that it relies on, if it succeeded. */
  readonly asks: ReadonlySet<string>;
  /** Where the box stood before and after it. */
  readonly box: { readonly before: number; readonly after: number } | undefined;
  taken: boolean;
}

export interface StoryEffect {
  readonly generation: number;
  standing: "open" | "done" | "undoing" | "undone" | "not-undone";
  owners: string[];
}

/** What is known of the box and no record tells, by the record after which it was so. */
export type BoxMarks = Map<number, number>;

interface Item {
  readonly seq: number;
  readonly words: string;
  readonly call?: string;
}

/**
 * What a session should be, told by its own journal and nothing else of the code under test: the calls that succeeded, in
 * the order of their records, one after the other. Whatever the journal holds that no honest session could, is said in `wrong`.
 */
export class Story {
  readonly wrong: string[] = [];
  readonly open = new Map<string, Opened>();
  readonly closed = new Map<string, ClosedCall>();
  readonly effects = new Map<string, StoryEffect>();
  readonly late = new Set<string>();
  /** The lines the log of calls should have. */
  readonly lines: string[] = [];
  #states: ModelState[] = [EMPTY];
  #conversation: readonly Item[] = [];
  /** Closed in the records just heard, and not yet followed by the change they made. */
  #pending: ModelState | undefined;
  #succeeded: string | undefined;
  #newLines: string[] = [];
  #lastClosed: string | undefined;
  /** The seq after which each call's change was true. */
  readonly #after = new Map<string, number>();
  #inner: Closed[] = [];
  #shared = 0;
  readonly #knows: Knowledge;

  readonly #boxes: BoxMarks;

  /** `boxes`: what an earlier telling knew of the box and no record tells. */
  constructor(knows: Knowledge = {}, boxes: BoxMarks = new Map()) {
    this.#knows = knows;
    this.#boxes = boxes;
  }

  get head(): number {
    return this.#states.length - 1;
  }

  get state(): ModelState {
    return this.#states.at(-1) ?? EMPTY;
  }

  /** The newest states that differ, newest first. */
  newest(count: number): readonly ModelState[] {
    const found: ModelState[] = [];
    for (let at = this.head; at >= 0 && found.length < count; at -= 1) {
      const state = this.#states[at];
      if (state !== undefined && state !== found.at(-1)) found.push(state);
    }
    return found;
  }

  at(seq: number): ModelState | undefined {
    return this.#states[seq];
  }

  /** Where a rewind or a fork to this side of a call leads. */
  boundary(callId: string, side: "before" | "after"): number | undefined {
    const closed = this.closed.get(callId);
    if (closed === undefined) return undefined;
    return side === "before" ? closed.before : (this.#after.get(callId) ?? closed.seq);
  }

  /** Calls that ended after a record and were not taken back, oldest first. */
  after(seq: number): readonly string[] {
    return [...this.closed]
      .filter(([id, call]) => !call.taken && (this.#after.get(id) ?? call.seq) > seq)
      .map(([id]) => id);
  }

  /** It shares everything up to this record with another, and nothing more. */
  comesFrom(seq: number): boolean {
    return this.#shared === seq;
  }

  get conversation(): readonly string[] {
    return this.#conversation.map(({ words }) => words);
  }

  /** Another session that shares everything up to a record. */
  forkAt(seq: number, records: readonly RecordDraft[], boxes: BoxMarks): Story {
    const fork = new Story(this.#knows, boxes);
    for (const record of records.slice(0, seq)) fork.hear(record);
    fork.#shared = seq;
    return fork;
  }

  /** What was known of the box up to a record. */
  boxesUpTo(seq: number): BoxMarks {
    return new Map([...this.#boxes].filter(([at]) => at <= seq));
  }

  /** Put where it is by something that leaves no record. */
  boxIs(value: number): void {
    this.#boxes.set(this.head, value);
    this.#setBox(value);
  }

  #setBox(value: number): void {
    if (value !== this.state.box) this.#states[this.head] = { ...this.state, box: value };
  }

  hear(record: RecordDraft): void {
    const seq = this.head + 1;
    this.#states.push(this.state);
    if (record.kind !== "state-changed" && record.kind !== "call-closed") this.#letGo();
    (HEAR[record.kind] as ((story: Story, record: RecordDraft, seq: number) => void) | undefined)?.(this, record, seq);
    const mark = this.#boxes.get(seq);
    if (mark !== undefined) this.#setBox(mark);
  }

  said(words: string, seq: number, call?: string): void {
    this.#conversation = [...this.#conversation, { seq, words, ...(call === undefined ? {} : { call }) }];
  }

  opened(record: Opened, seq: number): void {
    const { callId } = record;
    if (this.open.has(callId) || this.closed.has(callId)) this.wrong.push(`call ${callId} was opened twice`);
    this.open.set(callId, record);
    if (record.parent === undefined) this.said(`call ${callId}`, seq, callId);
  }

  close(record: Closed, seq: number): void {
    const { callId, status } = record;
    const opened = this.open.get(callId);
    if (opened === undefined) {
      this.wrong.push(`call ${callId} was closed ${this.closed.has(callId) ? "twice" : "and never opened"}`);
      return;
    }
    this.open.delete(callId);
    if (this.#pending !== undefined) this.#letGo();
    this.#newLines.push(`${callId} ${status}`);
    const inside = opened.parent !== undefined && this.open.has(outermost(callId));
    const before = this.state;
    const facts = {
      seq,
      before: seq - 1 - this.#inner.length,
      status,
      reason: record.reason,
      tool: record.tool,
      told: record.effects,
      taken: false,
      asks: NOTHING,
    };
    if (inside) {
      this.#inner.push(record);
      this.closed.set(callId, { ...facts, before: seq - 1, box: undefined });
      return;
    }
    if (opened.parent === undefined) this.said(`output ${callId}`, seq, callId);
    const alone = status === "success" ? this.#alone(opened, record) : undefined;
    this.#pending = alone?.state ?? withNotes(before, record.reason === "interrupted" ? [] : this.#notesOf(opened));
    this.#inner = [];
    const box = { before: before.box, after: this.#pending.box };
    this.closed.set(callId, { ...facts, asks: new Set(alone?.asks), box });
    this.#succeeded = alone === undefined ? undefined : callId;
    this.#lastClosed = callId;
    // What cannot branch changes without a record of its own.
    this.#states[seq] = { ...before, box: this.#pending.box };
  }

  changed(record: Changed, seq: number): void {
    // Of a dropped one only its place is known: after a closing it is the call's, after a rewind the rewind's.
    if (isDropped(record)) {
      const last = this.#lastClosed;
      this.#states[seq] = this.#pending ?? this.state;
      if (this.#newLines.length > 0 && last !== undefined) this.#after.set(last, seq);
      this.#succeeded = undefined;
      this.#letGo();
      return;
    }
    if (record.callId !== undefined) {
      if (this.#pending === undefined)
        this.wrong.push(`record ${seq} changes the state for a call that did not just end`);
      const { callId } = record;
      const stopped = this.closed.get(callId)?.status === "canceled" || this.closed.get(callId)?.status === "timeout";
      const anew = stopped && !hasPart(record, "diary") && this.#knows.hadReturned?.(callId) === true;
      this.#states[seq] = (anew ? undefined : this.#pending) ?? this.state;
      this.#after.set(callId, seq);
      this.lines.push(...this.#newLines);
      this.#succeeded = undefined;
      this.#letGo();
      return;
    }
    if (record.cause === "rewound") {
      this.#states[seq] = this.#pending ?? this.state;
      this.#pending = undefined;
      return;
    }
    const next = this.#knows.changeOf?.(this.state, record);
    if (next === undefined) this.wrong.push(`nobody asked for record ${seq}, ${record.cause}`);
    else this.#states[seq] = next;
  }

  rewind(record: Rewound, seq: number): void {
    const { to, scope, callId, side } = record;
    const then = this.at(to) ?? EMPTY;
    const now = this.state;
    const target = callId === undefined ? undefined : this.closed.get(callId);
    if (callId !== undefined && side !== undefined && this.boundary(callId, side) !== to)
      this.wrong.push(`the rewind ${side} ${callId} went to ${to}, not to ${this.boundary(callId, side)}`);
    if (target?.taken === true) this.wrong.push(`${callId} had been taken back, and was returned to`);
    const box = scope.includes("state") && side !== undefined ? (target?.box?.[side] ?? now.box) : now.box;
    this.#pending = {
      ...now,
      ...(scope.includes("state") ? { counter: then.counter, table: then.table, steps: then.steps } : {}),
      ...(scope.includes("files") ? { files: then.files } : {}),
      box,
    };
    this.#states[seq] = { ...now, box };
    if (scope.includes("state"))
      for (const [id, call] of this.closed) if ((this.#after.get(id) ?? call.seq) > to) call.taken = true;
    if (scope.includes("conversation")) {
      const gone = new Set(this.#conversation.filter((item) => item.seq > to).flatMap(({ call }) => call ?? []));
      this.#conversation = this.#conversation.filter(
        (item) => item.seq <= to && (item.call === undefined || !gone.has(item.call)),
      );
    }
  }

  effect(id: string, change: (known: StoryEffect | undefined) => StoryEffect | string): void {
    const next = change(this.effects.get(id));
    if (typeof next === "string") this.wrong.push(`effect ${id} ${next}`);
    else this.effects.set(id, next);
  }

  /** A call that succeeded and was not taken back relies on it. */
  reliedOn(id: string): boolean {
    for (const [callId, { asks, taken }] of this.closed)
      if (!taken && asks.has(id) && this.#knows.gotEffect?.(callId, id) !== false) return true;
    return false;
  }

  /** Somebody was told that it may have happened. */
  toldAsUnknown({ owners }: StoryEffect): boolean {
    return owners.some((owner) => this.closed.get(outermost(owner))?.told === "unknown");
  }

  /** A call that ended when the state was given up leaves its record and nothing else. One that succeeded changes it. */
  #letGo(): void {
    if (this.#succeeded !== undefined) this.wrong.push(`call ${this.#succeeded} succeeded and changed nothing`);
    this.#pending = undefined;
    this.#succeeded = undefined;
    this.#newLines = [];
  }

  #alone(opened: Opened, { callId, output }: Closed): Performed {
    const alone = perform(opened.args as unknown as Script, this.state, opened.tool);
    if (!alone.ok) this.wrong.push(`call ${callId} cannot have succeeded`);
    const told = JSON.stringify((output as { readonly said?: Json } | null)?.said);
    if (told !== JSON.stringify(alone.said))
      this.wrong.push(`call ${callId} saw ${told}, and alone would have seen ${JSON.stringify(alone.said)}`);
    // Those of attempts that were given up come first.
    const ends = this.#inner.slice(this.#inner.length - alone.inner.length).map(({ status }) => status === "success");
    if (JSON.stringify(ends) !== JSON.stringify(alone.inner.map(({ ok }) => ok)))
      this.wrong.push(`the calls inside ${callId} ended ${JSON.stringify(ends)}`);
    return alone;
  }

  #notesOf(opened: Opened): readonly string[] {
    const script = opened.args as unknown as Script;
    return this.#knows.notesOf?.(opened.callId) ?? notesIn(script.ops ?? []);
  }
}

function outermost(callId: string): string {
  return callId.split(".")[0] as string;
}

function isDropped(record: Changed): boolean {
  return "dropped" in record;
}

function hasPart({ delta }: Changed, part: string): boolean {
  return Object.hasOwn(delta as object, part);
}

const NOTHING: ReadonlySet<string> = new Set();

type Hear = {
  readonly [K in RecordDraft["kind"]]?: (story: Story, record: Extract<RecordDraft, { kind: K }>, seq: number) => void;
};

const idOf = ({ tool, name, key }: { readonly tool: string; readonly name: string; readonly key: string }) =>
  `${tool}/${name}/${key}`;

const HEAR: Hear = {
  "user-said": (story, { text }, seq) => story.said(`user ${text}`, seq),
  "model-said": (story, { text }, seq) => text !== undefined && story.said(`model ${text}`, seq),
  "call-opened": (story, record, seq) => story.opened(record, seq),
  "call-closed": (story, record, seq) => story.close(record, seq),
  "call-late": (story, { callId }) => {
    story.late.add(callId);
    if (!story.closed.has(callId) && !story.open.has(callId))
      story.wrong.push(`call ${callId} was late, and never opened`);
  },
  "state-changed": (story, record, seq) => story.changed(record, seq),
  rewound: (story, record, seq) => story.rewind(record, seq),
  forked: (story) => {
    for (const effect of story.effects.values()) effect.owners = [];
  },
  "effect-opened": (story, record) =>
    story.effect(idOf(record), (known) => {
      if (known?.standing === "done" || known?.standing === "not-undone")
        return `began again while it was ${known.standing}`;
      return { generation: record.generation, standing: "open", owners: [record.callId] };
    }),
  "effect-done": (story, record) =>
    story.effect(idOf(record), (known) =>
      known === undefined ? "was done, and never begun" : { ...known, standing: "done" },
    ),
  "effect-joined": (story, record) =>
    story.effect(idOf(record), (known) =>
      known === undefined ? "was joined, and never begun" : { ...known, owners: [...known.owners, record.callId] },
    ),
  "effect-left": (story, record) =>
    story.effect(idOf(record), (known) =>
      known === undefined
        ? "was left, and never begun"
        : { ...known, owners: known.owners.filter((owner) => owner !== record.callId) },
    ),
  "effect-undone": (story, record) =>
    story.effect(idOf(record), (known) =>
      known === undefined ? "was undone, and never begun" : { ...known, standing: record.how },
    ),
};
