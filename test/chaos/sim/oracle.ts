import { HoldfastError } from "../../../src/base/errors.ts";
import type { Receipt, WriteBatch } from "../../../src/contracts/store.ts";
import type { SealedRecord } from "../../../src/records/chain.ts";
import type { RecordDraft } from "../../../src/records/kinds.ts";
import type { CallOutcome } from "../../../src/transaction/outcome.ts";
import type { Session } from "../../../src/turn/session.ts";
import { lookAt, textOf } from "../script/look.ts";
import { type ModelState, totalOf } from "../script/model.ts";
import type { Op, ToolName } from "../script/ops.ts";
import { type BoxMarks, type Changed, Story } from "../script/story.ts";
import { BOX, type News, total } from "../script/tools.ts";
import type { World } from "./world.ts";
import { WritebackStory } from "./writeback.ts";

/** A change outside any call, to be recognised in the journal by a word that nothing else holds. */
export interface Outside {
  readonly token: string;
  readonly change: (state: ModelState) => ModelState;
}

/** Their changes are judged by the writeback's own story. */
const WAITING_PARTS: ReadonlySet<string> = new Set(["StagedWritebacks", "WritebackCount"]);

/** Tools that reach outside, or must not run twice. */
const MAY_LEAVE: ReadonlySet<string> = new Set<ToolName>(["outside", "again", "steady"]);

/** Holds what the kernel says, and what it shows, against what the journal says and what was acknowledged. */
export class Oracle {
  readonly wrong: string[] = [];
  readonly #world: World;
  #stories = new Map<string, Story>();
  #records = new Map<string, RecordDraft[]>();
  #writebacks = new Map<string, WritebackStory>();
  readonly #boxes = new Map<string, BoxMarks>();
  readonly #parsed = new Map<string, RecordDraft>();
  /** Rewinds under way, and sessions in which one was cut off since another came to its end. */
  readonly #rewinds = new Map<string, number>();
  readonly #halfRewound = new Set<string>();
  readonly #acked = new Map<string, { readonly session: string; readonly status: string }>();
  /** Of each call's last attempt: what it noted, and the effects that it got. */
  readonly #notes = new Map<string, string[]>();
  readonly #got = new Map<string, Set<string>>();
  /** What each had got when the parts that it is in began, the innermost last. */
  readonly #gotBefore = new Map<string, ReadonlySet<string>[]>();
  /** Calls that succeeded, in whichever session: a fork closes for itself those that were open where it began. */
  readonly #succeeded = new Set<string>();
  readonly #outside: Outside[] = [];
  /** Handlers at work, and calls aborted before theirs had returned. */
  readonly #working = new Set<string>();
  readonly #mustNotSucceed = new Set<string>();
  readonly #returned = new Set<string>();
  readonly #hosted = new Set<string>();
  /** Calls that began and could do something outside: no loss of power makes them unknown. */
  readonly #couldLeave = new Set<string>();
  #lastRoot: unknown;

  constructor(world: World) {
    this.#world = world;
  }

  story(session: string): Story {
    const known = this.#stories.get(session);
    if (known !== undefined) return known;
    const boxes: BoxMarks = this.#boxes.get(session) ?? new Map();
    this.#boxes.set(session, boxes);
    const story = new Story(
      {
        notesOf: (callId) => this.#notes.get(callId) ?? [],
        hadReturned: (callId) => this.#returned.has(callId) && !this.#hosted.has(callId),
        gotEffect: (callId, id) => this.#hasGot(callId, id),
        changeOf: (state, record) => this.#changeOf(state, record),
      },
      boxes,
    );
    this.#stories.set(session, story);
    this.#records.set(session, []);
    return story;
  }

  /** Every batch that became true, as the disk has it. */
  applied(batch: WriteBatch, receipt: Receipt<WriteBatch>): void {
    if (!receipt.ok) return;
    if (batch.kind === "fork") {
      const records = this.#records.get(batch.from) ?? [];
      const { seq } = batch.after;
      const boxes = this.#boxes.get(batch.session) ?? this.story(batch.from).boxesUpTo(seq);
      this.#boxes.set(batch.session, boxes);
      this.#stories.set(batch.session, this.story(batch.from).forkAt(seq, records, boxes));
      this.#records.set(batch.session, records.slice(0, seq));
      this.#writebacks.set(batch.session, this.#writeback(batch.from).forkAt(records.slice(0, seq)));
    }
    if ((batch.kind !== "append" && batch.kind !== "fork") || ("repeated" in receipt && receipt.repeated)) return;
    const story = this.story(batch.session);
    for (const sealed of batch.records ?? []) {
      const record = this.#read(sealed);
      const seq = this.#records.get(batch.session)?.push(record) ?? 0;
      story.hear(record);
      if (record.kind === "call-closed" && record.status === "success") this.#succeeded.add(record.callId);
      this.#writeback(batch.session).hear(record, seq);
    }
  }

  /** After a power cut the disk tells everything again; whatever was acknowledged must be in it. */
  retell(tell: () => void): void {
    this.#stories = new Map();
    this.#records = new Map();
    this.#writebacks = new Map();
    tell();
    for (const [callId, { session, status }] of this.#acked) {
      const closed = this.#stories.get(session)?.closed.get(callId);
      if (closed?.status !== status) this.wrong.push(`call ${callId} was acknowledged as ${status} and is lost`);
    }
    for (const callId of this.#couldLeave)
      if (!this.#isKnown(callId)) this.wrong.push(`call ${callId} ran and may have left something, and is unknown`);
  }

  asked(outside: Outside): void {
    this.#outside.push(outside);
  }

  hear(news: News): void {
    const [call = ""] = news.call.split(".");
    if (news.is === "began" && call === news.call) {
      this.#notes.set(call, []);
      for (const asker of this.#got.keys()) if (asker.startsWith(`${call}.`)) this.#got.delete(asker);
      this.#got.set(call, new Set());
      this.#gotBefore.delete(call);
      this.#working.add(call);
      if (!this.#isKnown(call)) this.wrong.push(`call ${call} began before it was written down`);
      if (this.#hosted.has(call) || this.#told(({ open }) => MAY_LEAVE.has(open.get(call)?.tool ?? "")))
        this.#couldLeave.add(call);
    }
    if (news.is === "returned" && call === news.call) this.#working.delete(call);
    if (call === news.call && (news.is === "began" || news.is === "returned"))
      this.#returned[news.is === "began" ? "delete" : "add"](call);
    if (news.is === "part-begun") this.#partBegun(news.call);
    if (news.is === "part-over") this.#partOver(news.call, news.kept);
    if (news.is === "effect") this.#heardOf(news.call, news.id, news.got.startsWith("did "));
    if (news.is === "noted") this.#notes.get(call)?.push(news.text);
    // One that another process closed after a crash or a long sleep cannot know; its commit will be refused.
    const ended = [...this.#stories.values()].map((story) => story.closed.get(call));
    if (
      news.is === "did" &&
      AT_ONCE.has(news.op) &&
      ended.some((closed) => closed !== undefined && closed.reason !== "interrupted")
    )
      this.wrong.push(`call ${call} had ended, and could still ${news.op}`);
  }

  #isKnown(callId: string): boolean {
    return this.#told(({ open, closed }) => open.has(callId) || closed.has(callId));
  }

  #told(of: (story: Story) => boolean): boolean {
    return [...this.#stories.values()].some(of);
  }

  /** What it was answered last. */
  #heardOf(asker: string, id: string, did: boolean): void {
    const got = this.#got.get(asker) ?? new Set();
    this.#got.set(asker, got);
    got[did ? "add" : "delete"](id);
  }

  #partBegun(asker: string): void {
    const before = this.#gotBefore.get(asker) ?? [];
    this.#gotBefore.set(asker, [...before, new Set(this.#got.get(asker))]);
  }

  /** What it got in a part that it took back it has not got, also when it had asked for the same before, in vain. */
  #partOver(asker: string, kept: boolean): void {
    const before = this.#gotBefore.get(asker)?.pop();
    if (!kept && before !== undefined) this.#got.set(asker, new Set(before));
  }

  /** Itself, or a call inside it that did not lose it with its own failure. */
  #hasGot(callId: string, id: string): boolean {
    return [...this.#got].some(
      ([asker, got]) =>
        got.has(id) && (asker === callId || (asker.startsWith(`${callId}.`) && this.#succeeded.has(asker))),
    );
  }

  /** Somebody else runs it, once. */
  hosted(callId: string): void {
    this.#hosted.add(callId);
  }

  /** Its handler has not returned: whatever it does now, it must not succeed any more. */
  aborted(callId: string): void {
    if (this.#working.has(callId)) this.#mustNotSucceed.add(callId);
  }

  /** A rewind is under way, or the disk refused it in the middle: effects are undone by the next one, or on opening. */
  rewinding(session: string, is: "begun" | "over" | "idle" | "failed" | "opened"): void {
    const before = this.#rewinds.get(session) ?? 0;
    this.#rewinds.set(session, is === "opened" ? 0 : Math.max(0, before + (is === "begun" ? 1 : -1)));
    if (is === "failed") this.#halfRewound.add(session);
    // While others are under way it is not known whether they came before what was cut off.
    if (is === "opened" || (is === "over" && before <= 1)) this.#halfRewound.delete(session);
  }

  acknowledged(session: string, { callId, status }: CallOutcome): void {
    const closed = this.story(session).closed.get(callId);
    if (closed?.status !== status)
      this.wrong.push(`call ${callId} was acknowledged as ${status}, and the journal says ${closed?.status}`);
    if (status === "success" && this.#mustNotSucceed.has(callId))
      this.wrong.push(`call ${callId} was aborted while it ran, and succeeded`);
    this.#acked.set(callId, { session, status });
  }

  /** While work is under way: what is true is what the journal said last, or said last but one. */
  checkBetween(session: Session): void {
    const { root } = session.state;
    if (root === this.#lastRoot) return;
    this.#lastRoot = root;
    const story = this.story(session.id);
    const found = shownBy(lookAt(root, 0));
    if (!story.newest(2).some((state) => shownBy(state) === found))
      this.wrong.push(`the state is ${found}, and should be ${shownBy(story.state)}`);
  }

  /** When nothing is under way, everything agrees. */
  checkQuiet(session: Session): void {
    const story = this.story(session.id);
    const box = session.state.resources.get(BOX).value;
    const [found, due] = [textOf(lookAt(session.state.root, box)), textOf(story.state)];
    if (found !== due) this.wrong.push(`the state is ${found}, and should be ${due}`);
    const [sum, dueSum] = [session.state.session.get(total), totalOf(story.state)];
    if (sum !== dueSum) this.wrong.push(`the cache says ${sum}, and should say ${dueSum}`);
    if (story.open.size > 0) this.wrong.push(`calls ${[...story.open.keys()].join(", ")} are still open`);
    if (session.openCalls.length !== story.open.size) this.wrong.push(`${session.openCalls.length} calls are open`);
    for (const { callId, before, after, rewound } of session.checkpoints.list()) {
      if (callId.includes(".")) continue;
      const [from, to] = [story.boundary(callId, "before"), story.boundary(callId, "after")];
      if (from !== before || to !== after || story.closed.get(callId)?.taken !== rewound)
        this.wrong.push(`the boundary of ${callId} is ${before}-${after}, and should be ${from}-${to}`);
    }
    this.#checkLines(session, story);
    this.#checkEffects(session.id, story);
    this.wrong.push(...this.#writeback(session.id).check(session));
  }

  #writeback(session: string): WritebackStory {
    const known = this.#writebacks.get(session) ?? new WritebackStory();
    this.#writebacks.set(session, known);
    return known;
  }

  /** Everything found wrong so far, the journals' own faults included. */
  faults(): readonly string[] {
    return [...this.wrong, ...this.#world.wrong, ...[...this.#stories.values()].flatMap(({ wrong }) => wrong)];
  }

  /** All records, for comparing two runs. */
  transcript(): string {
    return JSON.stringify([...this.#records]);
  }

  /** Parts of policy `state`: what a boundary keeps. */
  compareParts(what: string, found: ModelState, due: ModelState | undefined): void {
    const [is, should] = [found, due].map((one) => one && textOf({ ...one, diary: [], box: 0 }));
    if (is !== should) this.wrong.push(`${what} the state was ${is}, and should have been ${should}`);
  }

  #checkLines(session: Session, story: Story): void {
    const logged = session.state.root.get("ToolInvoked") as readonly { toolCallId: string; status: string }[];
    const found = logged.slice(-20).map(({ toolCallId, status }) => `${toolCallId} ${status}`);
    const due = story.lines.slice(-found.length);
    if (found.length < Math.min(20, story.lines.length) || found.join() !== due.slice(-20).join())
      this.wrong.push(`the log of calls ends in ${found.slice(-3).join("; ")}, not in ${due.slice(-3).join("; ")}`);
  }

  #checkEffects(session: string, story: Story): void {
    for (const [id, effect] of story.effects) {
      if (!id.includes(`/${session}:`)) continue; // inherited: the origin goes on with it as it likes
      const standing = this.#world.standing(id);
      const { standing: claimed } = effect;
      const relied = story.reliedOn(id);
      if (claimed === "undone" && standing > 0) this.wrong.push(`effect ${id} is called undone and stands`);
      if ((claimed === "done" || claimed === "not-undone") && standing !== 1)
        this.wrong.push(`effect ${id} is called ${claimed} and stands ${standing} times`);
      if (relied && (claimed === "undone" || standing === 0)) this.wrong.push(`effect ${id} is relied on and gone`);
      const settled = this.#allSettled(story, effect.owners) && !story.toldAsUnknown(effect);
      const due = settled && (this.#rewinds.get(session) ?? 0) === 0 && !this.#halfRewound.has(session);
      if (claimed === "done" && !relied && effect.owners.length > 0 && due)
        this.wrong.push(`effect ${id} stands, and nobody relies on it`);
    }
  }

  /** Every call that had asked for it was settled to its end; none was cut off on the way. */
  #allSettled(story: Story, owners: readonly string[]): boolean {
    return owners.every((owner) => {
      const [call = ""] = owner.split(".");
      return this.#acked.has(call) && story.closed.get(call)?.reason !== "interrupted";
    });
  }

  #changeOf(state: ModelState, record: Changed): ModelState | undefined {
    if (Object.keys(record.delta as object).every((part) => WAITING_PARTS.has(part))) return state;
    const text = `${record.cause} ${JSON.stringify(record.delta)}`;
    const restores = record.cause.startsWith("restored");
    return this.#outside
      .findLast(({ token }) => token.startsWith("restored") === restores && text.includes(token))
      ?.change(state);
  }

  #read({ kind, body, hash }: SealedRecord): RecordDraft {
    const known = this.#parsed.get(hash);
    if (known !== undefined) return known;
    const record = { ...(JSON.parse(body ?? "{}") as object), kind } as RecordDraft;
    this.#parsed.set(hash, record);
    return record;
  }
}

/** Ops that are over when they have begun. Of the others only the beginning can be refused. */
const AT_ONCE: ReadonlySet<Op["op"]> = new Set(["add", "put", "step", "note", "see", "sum", "write", "read", "list"]);

/** What calls that hold nothing can see: a box is whoever's holds it. */
function shownBy(state: ModelState): string {
  return textOf({ ...state, box: 0 });
}

export function codeOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
