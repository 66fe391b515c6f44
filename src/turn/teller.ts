import { type Clock, instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { EventSink, EventSource, KernelEvent, MomentKind } from "../contracts/event-sink.ts";
import type { Sealed } from "../journal/seal-batch.ts";
import type { SessionId } from "../records/ids.ts";
import type { CallOutcome } from "../transaction/outcome.ts";
import { addHistorySignals, factsOf, toldKind, wordsOf } from "./told-facts.ts";

/** Who receives events, and how much they contain. */
export interface TelemetryOptions {
  /** Every event goes to every sink that wants it. */
  readonly sinks: readonly EventSink[];
  /** Put what was said into events, and not only its size. Secrets are hidden in it as everywhere. Default false. */
  readonly content?: boolean;
  /** Called when a sink has failed. If it throws itself, that is ignored. */
  readonly onFailure?: (failure: SinkFailure) => void;
}

/** A sink that failed, and the event that it was given. */
export interface SinkFailure {
  readonly event: KernelEvent;
  readonly error: unknown;
}

/** Tells everything that happens in one session to those who listen. Nothing that they do can change what happens. */
export class Teller {
  readonly #session: SessionId;
  readonly #clock: Clock;
  readonly #options: TelemetryOptions;
  readonly #told = new Map<EventSource, number>();
  /** When calls were opened that have not ended. */
  readonly #opened = new Map<string, number>();
  /** How long conversation_history is. */
  #history: number | undefined;

  constructor(session: SessionId, clock: Clock, options: TelemetryOptions = NOBODY) {
    this.#session = session;
    this.#clock = clock;
    this.#options = options;
  }

  /** How long the history was when the session was opened, before anything is told. */
  begin(history: number | undefined): void {
    this.#history = history;
  }

  /** Whether the session has a tool of this name, as soon as anybody can call one. */
  hasTool: (name: string) => boolean = () => true;

  get #isHeard(): boolean {
    return this.#options.sinks.length > 0;
  }

  /** Something that no record tells of. */
  moment(kind: MomentKind, facts: JsonObject = {}): void {
    if (!this.#isHeard) return;
    const [source] = toldKind(kind);
    const nth = this.#next(source);
    this.#hand(kind, () => {
      const at = instantOf(this.#clock);
      return Object.freeze({ kind, source, nth, session: this.#session, at, facts: frozenCopy(facts) });
    });
  }

  /** Records that are written now, and durable if anybody relies on them. */
  readonly written = (records: readonly Sealed[]): void => {
    if (this.#isHeard) for (const record of records) this.#tell(record);
  };

  /** What was appended is durable all the same, and the next append tries again. */
  readonly checkpointFailed = (error: unknown): void => {
    this.moment("checkpoint-failed", { code: codeOf(error) });
  };

  /** It is kept less tidy than it was asked to be; nothing is lost, and it is tried again later. */
  readonly upkeepFailed = (error: unknown): void => {
    this.moment("upkeep-failed", { code: codeOf(error) });
  };

  /** What only the outcome of a call knows. */
  readonly outcome = ({ callId, tool, attempts }: CallOutcome): void => {
    if (attempts > 1) this.moment("call-rerun", { callId, tool, attempts });
  };

  #tell(record: Sealed): void {
    const { draft } = record;
    const [source] = toldKind(draft.kind);
    this.#count(draft);
    const elapsed = this.#elapsed(draft);
    const nth = this.#next(source);
    this.#hand(draft.kind, () => this.#eventOf(record, source, nth, elapsed));
  }

  #eventOf({ draft, seq, at, bytes }: Sealed, source: EventSource, nth: number, elapsed: number | undefined) {
    const facts = factsOf(draft);
    if (draft.kind === "call-closed") {
      addHistorySignals(facts, draft, this.#history);
      // A host has tools of its own, and runs them: what ran, or was cut off, was somebody's.
      if (draft.reason === "bad-arguments" && !this.hasTool(draft.tool)) facts["unknownTool"] = true;
    }
    facts["bytes"] = bytes;
    if (elapsed !== undefined) facts["elapsedMs"] = elapsed;
    const { kind } = draft;
    const session = this.#session;
    const event: Writable<KernelEvent> = { kind, source, nth, session, at, facts: Object.freeze(facts), seq };
    const words = this.#options.content === true ? wordsOf(draft) : NO_WORDS;
    if (words !== NO_WORDS && Object.keys(words).length > 0) event.content = words as Json;
    return Object.freeze(event);
  }

  /** The place of an event among those of its source: counted whether anybody hears of it or not. */
  #next(source: EventSource): number {
    const nth = (this.#told.get(source) ?? 0) + 1;
    this.#told.set(source, nth);
    return nth;
  }

  /** Seed 002's signals are told with every call that ended, also where no program ran. */
  #count(draft: Sealed["draft"]): void {
    if (draft.kind === "history-cut") this.#history = draft.left;
    if ((draft.kind === "call-closed" || draft.kind === "user-said") && this.#history !== undefined) this.#history += 1;
  }

  #elapsed(draft: Sealed["draft"]): number | undefined {
    if (draft.kind === "call-opened") this.#opened.set(draft.callId, this.#clock.monotonic());
    if (draft.kind !== "call-closed") return undefined;
    const opened = this.#opened.get(draft.callId);
    this.#opened.delete(draft.callId);
    return opened === undefined ? undefined : this.#clock.monotonic() - opened;
  }

  /** An event that nobody hears of is not made. A sink that cannot even say what it hears is told, and reported. */
  #hand(kind: KernelEvent["kind"], make: () => KernelEvent): void {
    let event: KernelEvent | undefined;
    for (const sink of this.#options.sinks) {
      try {
        if (sink.hears?.(kind) === false) continue;
      } catch (error) {
        this.#failed((event ??= make()), error);
      }
      this.#emit(sink, (event ??= make()));
    }
  }

  #emit(sink: EventSink, event: KernelEvent): void {
    try {
      const heard: unknown = sink.emit(event);
      // Also of another realm or library: one that is not of this one's making would end the process when it rejects.
      if (heard !== undefined) Promise.resolve(heard).catch((error: unknown) => this.#failed(event, error));
    } catch (error) {
      this.#failed(event, error);
    }
  }

  #failed(event: KernelEvent, error: unknown): void {
    try {
      this.#options.onFailure?.({ event, error });
    } catch {
      // Whoever listens for failures failed, too.
    }
  }
}

/** What is no error of ours is told by its name alone: its message may quote what was to be kept. */
function codeOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.code;
  return error instanceof Error ? error.name : "thrown";
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NOBODY: TelemetryOptions = { sinks: [] };
const NO_WORDS: JsonObject = {};
