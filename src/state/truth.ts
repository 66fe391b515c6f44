import { HoldfastError } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import { inWords } from "../base/words.ts";
import type { Redactor } from "../records/redact.ts";
import { Branch } from "./branch.ts";
import { stateError } from "./errors.ts";
import { Gate } from "./gate.ts";
import type { AnyPart, Parts, RootChange, SlicePolicy } from "./part.ts";
import { redacting } from "./redacting.ts";
import { Root } from "./root.ts";

/** Where changes of the root are written down before they become true. If it rejects, the change does not happen. */
export interface StateLedger {
  changed(change: RootChange, cause: string): Promise<void>;
  /** True once a change was rejected that may have been written anyway. */
  readonly unsure?: boolean;
}

/** For state that need not outlive the process. */
const NO_STATE_LEDGER: StateLedger = { changed: async () => {} };

export interface TruthOptions {
  readonly parts: readonly AnyPart[];
  readonly ledger?: StateLedger;
  /** Where the root stands already, e.g. after reopening. Parts it lacks start at their initial value. */
  readonly root?: Root;
  /** Freeze what becomes true. */
  readonly development?: boolean;
  /** Takes secrets out of what becomes true, where it is to be kept. */
  readonly redactor?: Redactor | undefined;
}

/**
 * The root that is true now, and the one way it moves: through the gate, written down first, true afterwards. Whoever is
 * in the gate sees the newest root, and nobody moves it meanwhile.
 */
export class Truth {
  readonly parts: Parts;
  readonly policies: ReadonlyMap<string, SlicePolicy>;
  readonly namesBy: Readonly<Record<SlicePolicy, readonly string[]>>;
  readonly gate: Gate = new Gate();
  readonly #ledger: StateLedger;
  readonly #freeze: boolean;
  #root: Root;
  #poisoned: { readonly reason: string } | undefined;

  constructor(options: TruthOptions) {
    const { redactor } = options;
    this.parts = byName(
      redactor === undefined ? options.parts : options.parts.map((part) => redacting(part, redactor)),
    );
    this.policies = new Map([...this.parts].map(([name, part]) => [name, part.policy]));
    const namesBy = (policy: SlicePolicy) =>
      [...this.policies].flatMap(([name, one]) => (one === policy ? [name] : []));
    this.namesBy = { state: namesBy("state"), log: namesBy("log"), cache: namesBy("cache") };
    this.#ledger = options.ledger ?? NO_STATE_LEDGER;
    this.#freeze = options.development ?? false;
    const start = options.root;
    this.#root = Root.of(
      [...this.parts].map(([name, part]) => [name, start?.has(name) === true ? start.get(name) : part.initial]),
    );
    if (this.#freeze) this.#frozen(this.#root);
  }

  get root(): Root {
    return this.#root;
  }

  get poisoned(): boolean {
    return this.#poisoned !== undefined;
  }

  branch(): Branch {
    this.refusePoisoned();
    return new Branch(this.#root, this.parts);
  }

  /** A change outside any call: set-up, a host's own events. */
  change(work: (branch: Branch) => void, cause: string): Promise<void> {
    return this.gate.run(async () => {
      const branch = this.branch();
      work(branch);
      await this.commit(branch.onto(this.#root), cause);
    });
  }

  /** Makes a change true once it is durable. Only from inside the gate. `decide` writes it down with more beside it. */
  async commit(change: RootChange, how: string | ((change: RootChange) => Promise<void>)): Promise<void> {
    this.refusePoisoned();
    if (this.#freeze && change.root !== this.#root) this.#frozen(change.root);
    try {
      if (typeof how !== "string") await how(change);
      else if (change.root !== this.#root) await this.#ledger.changed(change, how);
    } catch (error) {
      // What this root lacks the journal may have, and everything after would be built on the wrong one.
      if (this.#ledger.unsure === true) this.poison(error);
      throw error;
    }
    this.#root = change.root;
  }

  /** From here on nothing is trusted: no branch, no commit, until the state is built anew. */
  poison(why: unknown): void {
    this.#poisoned ??= { reason: inWords(why) };
  }

  refusePoisoned(): void {
    if (this.#poisoned !== undefined) throw stateError("STATE_POISONED", { ...this.#poisoned });
  }

  #frozen(root: Root): void {
    for (const [name, value] of root) if (this.parts.get(name)?.contents === undefined) deepFreeze(value);
  }
}

function byName(parts: readonly AnyPart[]): Parts {
  const named = new Map<string, AnyPart>();
  for (const part of parts) {
    if (named.has(part.name)) throw new HoldfastError("SLICE_EXISTS", { name: part.name });
    named.set(part.name, part);
  }
  return named;
}
