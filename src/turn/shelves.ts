import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { type CommitPlan, planCommit } from "../context/writeback/commit.ts";
import type { PageScope } from "../context/page.ts";
import type { DurablePages, Writeback } from "../context/writeback/tuple.ts";
import type { WritebackWorld } from "../context/writeback/validate.ts";
import type { Store } from "../contracts/store.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { DurableState } from "./writeback-slices.ts";

/** Scopes that sessions share. */
export type SharedScope = Exclude<PageScope, "session">;

/** As much of a session as a shelf needs. */
interface OpenShelf {
  readonly state: ExecutionState;
  close(): Promise<void>;
}

export interface ShelfDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly open: (id: string) => Promise<OpenShelf>;
}

/** How often somebody else's hold on a shelf is waited out, and how long the first time. */
const ATTEMPTS = 6;
const FIRST_WAIT_MS = 20;
const SCOPES = ["project", "user"] as const satisfies readonly SharedScope[];

/**
 * Durable pages that sessions share. Each scope is a session of its own in the same store, held only while something is
 * committed: it is journalled, checked and recovered like any other.
 */
export class Shelves {
  readonly #deps: ShelfDeps;
  readonly #known = new Map<SharedScope, DurablePages>();

  constructor(deps: ShelfDeps) {
    this.#deps = deps;
  }

  /** As they were when they were last read or written by this session. */
  pages(scope: SharedScope): DurablePages {
    return this.#known.get(scope) ?? {};
  }

  /** Reads what there is. A scope that nobody has written to costs one look. */
  async load(): Promise<void> {
    for (const scope of SCOPES) {
      const row = await this.#deps.store.reading((read) => read.session(shelfId(scope)));
      if (row !== undefined) await this.#holding(scope, async (shelf) => this.#read(scope, shelf));
    }
  }

  /** Validates against what is there now and commits in one hold. What changes nothing is not written. */
  commit(scope: SharedScope, staged: readonly Writeback[], world: Omit<WritebackWorld, "pages">): Promise<CommitPlan> {
    return this.#holding(scope, async (shelf) => {
      const pages = this.#read(scope, shelf);
      const plan = planCommit(staged, { ...world, pages });
      if (plan.pages !== pages) await shelf.state.session.dispatch(DurableState.committed(plan.pages));
      this.#known.set(scope, plan.pages);
      return plan;
    });
  }

  #read(scope: SharedScope, { state }: OpenShelf): DurablePages {
    const pages = state.session.get(DurableState);
    this.#known.set(scope, pages);
    return pages;
  }

  async #holding<T>(scope: SharedScope, use: (shelf: OpenShelf) => Promise<T>): Promise<T> {
    const shelf = await this.#open(scope);
    try {
      return await use(shelf);
    } finally {
      await shelf.close();
    }
  }

  async #open(scope: SharedScope): Promise<OpenShelf> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#deps.open(shelfId(scope));
      } catch (error) {
        if (!HoldfastError.is(error, "SESSION_BUSY") || attempt === ATTEMPTS) throw error;
        await this.#deps.clock.sleep(FIRST_WAIT_MS * 2 ** (attempt - 1), undefined, "keep-alive");
      }
    }
  }
}

/** Whether a session is a shelf, and no conversation. */
export function isShelf(id: string): boolean {
  return SCOPES.some((scope) => id === shelfId(scope));
}

/** A conversation of that name would be shown to nobody, and the pages would lie in it. */
export function refuseShelfId(id: string): void {
  if (isShelf(id)) throw new HoldfastError("SESSION_BAD_ID", { id, reserved: "for pages that sessions share" });
}

function shelfId(scope: SharedScope): SessionId {
  return toSessionId(`pages:${scope}`);
}
