import { inWords } from "../base/words.ts";
import type { Rewindable } from "./call.ts";

/** Sessions whose work counts as a call's: its span of them goes when the call does. */
export class CallChildren {
  #adopted: { readonly child: Rewindable; readonly rewind: () => Promise<void> }[] = [];

  async adopt(child: Rewindable): Promise<void> {
    this.#adopted.push({ child, rewind: await child.mark() });
  }

  /** Takes them back to where they stood, newest first. Answers those that refused. */
  async rewind(): Promise<readonly string[]> {
    const stuck: string[] = [];
    for (const { child, rewind } of this.#adopted.splice(0).toReversed()) {
      try {
        await rewind();
      } catch (error) {
        stuck.push(`a child: ${inWords(error)}`);
      } finally {
        await released(child);
      }
    }
    return stuck;
  }

  /** The call has settled: what they did is there to stay. */
  async release(): Promise<void> {
    for (const { child } of this.#adopted.splice(0)) await released(child);
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
