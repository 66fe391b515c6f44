import { HoldfastError, throwAll } from "../base/errors.ts";
import type { Session } from "./session.ts";

/** The sessions that a kernel has opened for others and nobody has closed yet. */
export class SessionsInUse {
  readonly #sessions = new Set<Session>();

  given(session: Session): Session {
    this.#sessions.add(session);
    return session;
  }

  closed(session: Session | undefined): void {
    if (session !== undefined) this.#sessions.delete(session);
  }

  refuseInside(): void {
    for (const { state } of this.#sessions) state.truth.gate.refuseInside();
  }

  /** All at once: each may have to wait for what runs in it. */
  async closeAll(): Promise<void> {
    const ends = await Promise.allSettled([...this.#sessions].map(closeOrLeave));
    throwAll(ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])));
  }
}

/** What is dirty and cannot be committed stays in the journal: the next opening commits it. */
async function closeOrLeave(session: Session): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    if (!HoldfastError.is(error, "BOUNDARY_REFUSED")) throw error;
    await session.close({ leave: "staged" });
  }
}
