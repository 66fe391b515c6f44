import type { HoldfastError } from "../base/errors.ts";
import { inWords } from "../base/words.ts";
import { isSince, type Savepoint, type Stretch } from "../state/branch.ts";
import type { Rewindable, TakeBack } from "./call.ts";

interface Adopted {
  readonly child: Rewindable;
  /** The part of the call that it works for. */
  readonly stretch: Stretch;
  /** Until it is marked there is nothing to take it back to. */
  rewind?: TakeBack;
  /** Its call has ended meanwhile. */
  over?: "kept" | "taken back";
}

/** Sessions whose work counts as a call's: its span of them goes when the call does. */
export class CallChildren {
  #adopted: readonly Adopted[] = [];
  /** Those that went with a part of the call, and whether they did. */
  #gone: readonly Promise<readonly string[]>[] = [];

  /**
   * Throws `closed()` when the call has ended before the child was marked: nothing would take it back any more. One that is
   * refused is released, for nobody else would: a session that was opened for this call would be held for ever.
   */
  async adopt(child: Rewindable, around: () => Stretch, closed: () => HoldfastError): Promise<void> {
    const adopted = await this.#marked(child, around);
    if (adopted.over === undefined) return;
    try {
      if (adopted.over === "taken back") await adopted.rewind();
    } finally {
      await released(child);
    }
    throw closed();
  }

  async #marked(child: Rewindable, around: () => Stretch): Promise<Adopted & { readonly rewind: TakeBack }> {
    let adopted: Adopted | undefined;
    try {
      adopted = { child, stretch: around() };
      this.#adopted = [...this.#adopted, adopted];
      await Promise.all(this.#gone); // marked on its way back, it would later be returned to what was taken back
      return Object.assign(adopted, { rewind: await child.mark() });
    } catch (error) {
      this.#adopted = this.#adopted.filter((other) => other !== adopted);
      if (!this.#adopted.some((other) => other.child === child)) await released(child);
      throw error;
    }
  }

  /** Takes those back that a part of the call had work for it. Answers those that refused. */
  letGo(savepoint: Savepoint): Promise<readonly string[]> {
    const goes = ({ stretch }: Adopted) => isSince(savepoint, stretch, stretch.opened);
    const [gone, stay] = [this.#adopted.filter(goes), this.#adopted.filter((adopted) => !goes(adopted))];
    this.#adopted = stay;
    // Side by side, a part inside another would be taken back to where that other one had brought it.
    const before = this.#gone.at(-1);
    const work = before === undefined ? takenBack(gone, stay) : before.then(() => takenBack(gone, stay));
    this.#gone = [...this.#gone, work];
    return work;
  }

  /** Takes them back to where they stood. Answers those that refused. */
  async rewind(): Promise<readonly string[]> {
    const [gone, adopted] = [this.#gone, this.#adopted];
    if (gone.length + adopted.length === 0) return []; // most calls have none
    [this.#gone, this.#adopted] = [[], []];
    const before = await Promise.all(gone);
    return [...before.flat(), ...(await takenBack(adopted, undefined))];
  }

  /** The call has settled: what they did is there to stay. Undefined when there are none, as for most calls. */
  release(): Promise<void> | undefined {
    const adopted = this.#adopted;
    if (adopted.length === 0) return undefined;
    this.#adopted = [];
    for (const one of adopted) one.over = "kept";
    return allReleased(adopted);
  }
}

async function allReleased(adopted: readonly Adopted[]): Promise<void> {
  for (const { child, rewind } of adopted) if (rewind !== undefined) await released(child);
}

/** Newest first. `stay`: those that the call goes on with, when it does. */
async function takenBack(all: readonly Adopted[], stay: readonly Adopted[] | undefined): Promise<readonly string[]> {
  const stuck: string[] = [];
  for (const adopted of all) adopted.over = "taken back";
  for (const { child, rewind } of all.toReversed()) {
    if (rewind === undefined) continue; // by whoever waits for its mark
    try {
      await rewind(stay !== undefined);
    } catch (error) {
      stuck.push(`a child: ${inWords(error)}`);
    } finally {
      if (stay?.some((other) => other.child === child) !== true) await released(child);
    }
  }
  return stuck;
}

/** What it did is decided by now, so nothing hangs on whether it can be closed. */
async function released(child: Rewindable): Promise<void> {
  try {
    await child.release?.();
  } catch {
    // Also one that throws at once, instead of answering with a promise.
  }
}
