import type { SeededRandom } from "../../../src/base/random.ts";
import type { PageScope } from "../../../src/context/page.ts";
import type { RecordDraft } from "../../../src/records/kinds.ts";
import type { Session } from "../../../src/turn/session.ts";
import type { Simulation } from "./simulation.ts";

interface Heard {
  readonly seq: number;
  readonly kind: "staged" | "settled";
  readonly id: string;
  readonly value?: string;
}

/** What a session's journal says of its durable pages: what waits, and what is kept. */
export class WritebackStory {
  readonly wrong: string[] = [];
  #heard: Heard[] = [];
  /** What was committed for all sessions: no rewind takes that back. */
  #shared = new Set<string>();
  /** Everything that ever waited, also what a rewind took back. */
  #staged = new Set<string>();
  /** A snapshot was put back by hand: what waits now is known to the snapshot only. */
  #lost = false;

  hear(record: RecordDraft, seq: number): void {
    switch (record.kind) {
      case "writeback-staged":
        this.#staged.add(idOf(record.change).id);
        this.#heard.push({ seq, kind: "staged", id: idOf(record.change).id });
        return;
      case "writeback-committed":
      case "writeback-rejected": {
        const { id, value, scope } = idOf(record.change);
        // What was on its way to all sessions when a rewind came is there all the same, and is told.
        const awaited = scope === "project" ? this.#staged.has(id) : this.#waiting.has(id);
        if (!awaited && !this.#lost) this.wrong.push(`${id} was settled and did not wait`);
        const isKept = record.kind === "writeback-committed";
        if (isKept && scope === "project") this.#shared.add(value);
        this.#heard.push({ seq, kind: "settled", id, ...(isKept && scope === "session" ? { value } : {}) });
        return;
      }
      case "boundary-crossed":
        if (this.#waiting.size > 0 && !this.#lost)
          this.wrong.push(`${record.boundary} was crossed while ${[...this.#waiting].join(", ")} waited`);
        return;
      case "rewound":
        if (record.scope.includes("state")) this.#heard = this.#heard.filter((one) => one.seq <= record.to);
        return;
      case "state-changed":
        this.#lost ||= record.cause.startsWith("restored");
        return;
      default:
        return;
    }
  }

  /** As the records up to there tell it: a rewind that came later has taken nothing from the fork. */
  forkAt(records: readonly RecordDraft[]): WritebackStory {
    const story = new WritebackStory();
    for (const [index, record] of records.entries()) story.hear(record, index + 1);
    story.wrong.length = 0; // told of the origin
    story.#lost ||= this.#lost;
    story.#shared = new Set(this.#shared);
    story.#staged = new Set(this.#staged);
    return story;
  }

  /** Nothing that was committed is gone, and nothing is kept that was not. */
  check(session: Session): readonly string[] {
    const shared = notesIn(session, "project");
    const gone = [...this.#shared].filter((value) => !shared.includes(value));
    if (gone.length > 0) return [...this.wrong, `${gone.join()} was committed for all sessions, and is gone`];
    if (this.#lost) return this.wrong;
    const due = [...new Set(this.#heard.flatMap(({ value }) => value ?? []))].sort();
    const found = notesIn(session, "session");
    const waits = session.writeback.pending.flatMap((one) => ("id" in one ? [one.id] : [])).sort();
    const dueWaits = [...this.#waiting].sort();
    return [
      ...this.wrong,
      ...(found.join() === due.join() ? [] : [`durable are ${found.join()}, and should be ${due.join()}`]),
      ...(waits.join() === dueWaits.join() ? [] : [`${waits.join()} wait, and ${dueWaits.join()} should`]),
    ];
  }

  get #waiting(): ReadonlySet<string> {
    const waiting = new Set<string>();
    for (const { kind, id } of this.#heard) waiting[kind === "staged" ? "add" : "delete"](id);
    return waiting;
  }
}

/** What the page that everything is learnt on says. */
function notesIn(session: Session, scope: PageScope): readonly string[] {
  const kept = session.writeback.pages(scope)["preference:sim"]?.fields["notes"];
  return kept?.type === "list" ? kept.list.map(({ value }) => value as string).sort() : [];
}

interface Change {
  readonly id: string;
  readonly value: string;
  readonly scope: PageScope;
}

function idOf(change: unknown): Change {
  return change as Change;
}

/** Something is learnt, and waits. */
export function learn(sim: Simulation, random: SeededRandom, session: Session): void {
  const value = `learnt ${sim.word()}!`;
  const scope: PageScope = random.below(4) === 0 ? "project" : "session";
  sim.oracle.asked({ token: value, change: (state) => state });
  sim.follow("learn", [], () =>
    session.writeback.stage({ kind: "preference", page: "sim", field: "notes", op: "append", value, scope }),
  );
}

/** A moment that gives context up. */
export function boundary(sim: Simulation, random: SeededRandom, session: Session): void {
  const crossings: readonly (() => Promise<unknown>)[] = [
    () => session.compact({ tail: 200, said: 50 }),
    () => session.reset(),
    () => session.prune({ keep: 1 + random.below(4) }),
    () => session.writeback.commit(),
  ];
  const cross = random.pick(crossings);
  sim.follow("boundary", [], async () => {
    await cross();
    sim.count("boundaries");
  });
}
