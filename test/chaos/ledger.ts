import { canonicalHash } from "../../src/base/hash.ts";
import type { Json } from "../../src/base/json.ts";

/** What a worker says, one line of JSON each, over a pipe. An `acked` line is written after the commit returned, never before. */
export type Testimony =
  | { readonly kind: "ready" }
  | { readonly kind: "sending"; readonly run: string; readonly batch: number; readonly operation: string }
  | {
      readonly kind: "acked";
      readonly session: string;
      readonly first: number;
      readonly digests: readonly string[];
      readonly epoch: number;
      /** Content that the records name. */
      readonly names?: readonly string[];
    }
  | { readonly kind: "called"; readonly session: string; readonly callId: string; readonly status: string }
  /** Something was staged: from now on no death loses it. */
  | { readonly kind: "learnt"; readonly session: string; readonly value: string }
  | { readonly kind: "forking"; readonly session: string; readonly from: string; readonly after: number }
  | { readonly kind: "forked"; readonly session: string }
  | { readonly kind: "cutting"; readonly session: string }
  | { readonly kind: "dropping"; readonly session: string; readonly seqs: readonly number[] }
  | { readonly kind: "refused"; readonly step: string; readonly code: string }
  | { readonly kind: "broken"; readonly what: string }
  | { readonly kind: "took"; readonly session: string; readonly epoch: number; readonly how: string }
  | { readonly kind: "lost"; readonly session: string; readonly epoch: number }
  /** A process that a tool started and left. */
  | { readonly kind: "left"; readonly pid: number }
  | { readonly kind: "survived"; readonly attempted: number; readonly refused: number }
  /** A call with files: from here on the workspace may say n. Once it is reached, it must. */
  | { readonly kind: "aiming"; readonly n: number }
  | { readonly kind: "reached"; readonly n: number }
  | { readonly kind: "done" };

export interface Promised {
  /** By sequence number, the digest of what was acknowledged there. */
  readonly acked: Map<number, string>;
  readonly dropping: Set<number>;
  /** Calls whose end was acknowledged, and how they ended. */
  readonly called: Map<string, string>;
  /** What its durable pages must say. */
  readonly learnt: Set<string>;
  mayCut: boolean;
  /** Something about the session was acknowledged, so it must be there. */
  mustExist: boolean;
  readonly from?: { readonly session: string; readonly after: number };
}

/** Everything a store has promised, over all the lives of its writers. */
export class Ledger {
  readonly sessions = new Map<string, Promised>();
  readonly broken: string[] = [];
  readonly refused: string[] = [];
  acks = 0;
  /** The operation that was sent last and has no answer. Sent again by the next life, it must be applied once. */
  unanswered: { readonly run: string; readonly batch: number; readonly operation: string } | undefined;

  note(said: Testimony): void {
    switch (said.kind) {
      case "acked": {
        const session = this.#session(said.session);
        const { acked } = session;
        session.mustExist = true;
        this.acks += 1;
        this.unanswered = undefined;
        for (const [index, digest] of said.digests.entries()) {
          const seq = said.first + index;
          const before = acked.get(seq);
          if (before !== undefined && before !== digest)
            this.broken.push(`${said.session}:${seq} was acknowledged twice`);
          acked.set(seq, digest);
        }
        return;
      }
      case "sending":
        this.unanswered = { run: said.run, batch: said.batch, operation: said.operation };
        return;
      case "called": {
        const session = this.#session(said.session);
        session.mustExist = true;
        session.called.set(said.callId, said.status);
        this.acks += 1;
        return;
      }
      case "learnt": {
        const session = this.#session(said.session);
        session.mustExist = true;
        session.learnt.add(said.value);
        this.acks += 1;
        return;
      }
      case "forking":
        this.sessions.set(said.session, newPromise({ session: said.from, after: said.after }));
        return;
      case "forked":
        this.#session(said.session).mustExist = true;
        return;
      case "cutting":
        this.#session(said.session).mayCut = true;
        return;
      case "dropping":
        for (const seq of said.seqs) this.#session(said.session).dropping.add(seq);
        return;
      case "refused":
        this.refused.push(`${said.step}: ${said.code}`);
        return;
      case "broken":
        this.broken.push(said.what);
        return;
      default:
        return;
    }
  }

  /** What a session must hold, its inheritance included. */
  owedTo(session: string): Promised {
    const own = this.sessions.get(session) ?? newPromise();
    if (own.from === undefined) return own;
    const { after } = own.from;
    const origin = this.owedTo(own.from.session);
    const inherited = [...origin.acked].filter(([seq]) => seq <= after);
    return {
      ...own,
      acked: new Map([...inherited, ...own.acked]),
      dropping: new Set([...origin.dropping, ...own.dropping]),
      mayCut: own.mayCut || origin.mayCut,
    };
  }

  /** Forgets what the worker itself complained about, once it has been reported. */
  takeBroken(): readonly string[] {
    return this.broken.splice(0);
  }

  #session(id: string): Promised {
    const known = this.sessions.get(id);
    if (known !== undefined) return known;
    const fresh = newPromise();
    this.sessions.set(id, fresh);
    return fresh;
  }
}

/** The same for a draft before it is written and for the entry read back. */
export function digestOf(record: object): string {
  const { seq: _seq, at: _at, ...said } = record as { seq?: number; at?: string };
  return canonicalHash(JSON.parse(JSON.stringify(said)) as Json).slice(0, 32);
}

function newPromise(from?: Promised["from"]): Promised {
  return {
    acked: new Map(),
    dropping: new Set(),
    called: new Map(),
    learnt: new Set(),
    mayCut: false,
    mustExist: false,
    ...(from === undefined ? {} : { from }),
  };
}
