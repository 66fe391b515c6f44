import { HoldfastError } from "../base/errors.ts";
import type { CatalogState } from "../catalog/state.ts";
import type { Mode } from "../catalog/tool.ts";

/** A session's catalog, as those that work for it see it. */
export interface Relative {
  /** What is written down of it. */
  readonly own: CatalogState;
  /** Whether it is in plan mode, or works for one that is. */
  readonly isPlanning: boolean;
  setMode(mode: Mode, reason: string): Promise<unknown>;
}

/** What is known of a session by its name alone. */
export interface Standing {
  readonly isPlanning: boolean;
  /** Whom it works for. */
  readonly parent: string | undefined;
}

/**
 * Which sessions are open over one store, by name. A session remembers by name whom it works for, so it finds its parent
 * again, whoever has closed and opened it meanwhile.
 */
export class OpenSessions {
  readonly #open = new Map<string, Relative>();
  /** Names that forks are being made under. */
  readonly #making = new Set<string>();

  /** One for each store, whichever kernel opens sessions on it. */
  static over(store: object): OpenSessions {
    const known = registries.get(store) ?? new OpenSessions();
    registries.set(store, known);
    return known;
  }

  /** Whoever comes second would take a fork that is being made for one that its maker left. */
  async making<T>(name: string, make: () => Promise<T>): Promise<T> {
    if (this.#making.has(name)) throw new HoldfastError("SESSION_EXISTS", { session: name });
    this.#making.add(name);
    try {
      return await make();
    } finally {
      this.#making.delete(name);
    }
  }

  enter(id: string, catalog: Relative): void {
    this.#open.set(id, catalog);
  }

  leave(id: string, catalog: Relative): void {
    if (this.#open.get(id) === catalog) this.#open.delete(id);
  }

  find(id: string): Relative | undefined {
    return this.#open.get(id);
  }

  /** By name, those that are open and work for this one. */
  namesOfChildren(id: string): readonly string[] {
    return [...this.#open].flatMap(([name, { own }]) => (own.parent === id ? [name] : []));
  }

  childrenOf(id: string): readonly Relative[] {
    return [...this.#open.values()].filter(({ own }) => own.parent === id);
  }
}

const registries = new WeakMap<object, OpenSessions>();

/** Where a session stands among the others. */
export interface Family {
  readonly id: string;
  readonly openSessions: OpenSessions;
  /** Of a session that need not be open here; nothing when nobody knows it. */
  readonly standingOf: (id: string) => Promise<Standing | undefined>;
  /** Whom it was said to work for when it was opened. */
  readonly parent?: { readonly id: string; readonly catalog: Relative } | undefined;
}
