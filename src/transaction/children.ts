import type { HoldfastError } from "../base/errors.ts";
import { inWords } from "../base/words.ts";
import type { Rewindable } from "./call.ts";

interface Adopted {
  readonly child: Rewindable;
  /** Until it is marked there is nothing to take it back to. */
  rewind?: () => Promise<void>;
  /** Its call has ended meanwhile. */
  over?: "kept" | "taken back";
}

/** Sessions whose work counts as a call's: its span of them goes when the call does. */
export class CallChildren {
  #adopted: Adopted[] = [];

  /** Throws `closed()` when the call has ended before the child was marked: nothing would take it back any more. */
  async adopt(child: Rewindable, closed: () => HoldfastError): Promise<void> {
    const adopted: Adopted = { child };
    this.#adopted.push(adopted);
    try {
      adopted.rewind = await child.mark();
    } catch (error) {
      this.#adopted = this.#adopted.filter((other) => other !== adopted);
      throw error;
    }
    if (adopted.over === undefined) return;
    try {
      if (adopted.over === "taken back") await adopted.rewind();
    } finally {
      await released(child);
    }
    throw closed();
  }

  /** Takes them back to where they stood, newest first. Answers those that refused. */
  async rewind(): Promise<readonly string[]> {
    const stuck: string[] = [];
    for (const adopted of this.#adopted.splice(0).toReversed()) {
      adopted.over = "taken back";
      if (adopted.rewind === undefined) continue; // by whoever waits for its mark
      try {
        await adopted.rewind();
      } catch (error) {
        stuck.push(`a child: ${inWords(error)}`);
      } finally {
        await released(adopted.child);
      }
    }
    return stuck;
  }

  /** The call has settled: what they did is there to stay. */
  async release(): Promise<void> {
    for (const adopted of this.#adopted.splice(0)) {
      adopted.over = "kept";
      if (adopted.rewind !== undefined) await released(adopted.child);
    }
  }
}

/** What it did is decided by now, so nothing hangs on whether it can be closed. */
async function released(child: Rewindable): Promise<void> {
  try {
    await child.release?.();
  } catch {
    // Also one that throws at once, instead of answering with a promise.
  }
}
