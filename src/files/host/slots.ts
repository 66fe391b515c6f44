import { appliedText, type Intent, readIntent, type SlotState, slotText } from "./intent.ts";
import { type Places, readNamed, writeAll } from "./meta.ts";
import type { HostPort } from "./port.ts";

export type Slot = 0 | 1;

/** A plan as it is found in its slot. */
export interface FoundPlan {
  readonly slot: Slot;
  readonly state: SlotState;
  /** All of it was in place, and no loss of power has taken it back since: what is otherwise now, somebody else did. */
  readonly isOver: boolean;
  readonly intent: Intent;
}

export function otherSlot(slot: Slot): Slot {
  return slot === 0 ? 1 : 0;
}

const NAMES = ["intent-a", "intent-b"] as const;
const EMPTY = "none\n";

/**
 * Where plans are written down: two files, used in turn, so that the one before the newest is written over only when what
 * it tells of has been synced. Their names stay, so that one sync makes a plan durable.
 */
export class Slots {
  readonly #port: HostPort;
  readonly #places: Places;
  /** Where the line of each one's plan ends. */
  readonly #ends: [number, number] = [0, 0];

  constructor(port: HostPort, places: Places) {
    this.#port = port;
    this.#places = places;
  }

  /** The older one first. */
  read(): readonly FoundPlan[] {
    const { home } = this.#places;
    return ([0, 1] as const)
      .flatMap((slot): FoundPlan[] => {
        const there = this.#port.stat(home.at(NAMES[slot])) !== undefined;
        const found = there ? readIntent(readNamed(this.#port, home, NAMES[slot])) : undefined;
        if (found === undefined) return [];
        this.#ends[slot] = found.end;
        const { state, boot, intent } = found;
        // The note may have reached the disk without what it tells of. In the same run of the system no loss of power lies between.
        return [{ slot, state, isOver: state === "applied" && boot !== undefined && boot === this.#port.boot, intent }];
      })
      .toSorted((a, b) => a.intent.order - b.intent.order);
  }

  /** Answers the handle to sync and close. */
  plan(slot: Slot, intent: Intent): number {
    const text = Buffer.from(slotText(intent));
    this.#ends[slot] = text.length;
    return this.#write(slot, text, 0);
  }

  /** Without a sync: it may be lost with the power, and then what it tells of is looked at again. */
  applied(slot: Slot, intent: Intent): void {
    this.#port.close(this.#write(slot, Buffer.from(appliedText(intent, this.#port.boot)), this.#ends[slot]));
  }

  /** Nothing waits there any more, and nothing long stays behind. */
  async empty(slot: Slot, sync: boolean): Promise<void> {
    const handle = this.#write(slot, Buffer.from(EMPTY), 0);
    try {
      this.#port.truncate(handle, EMPTY.length);
      if (sync) await this.#port.sync(handle);
    } finally {
      this.#port.close(handle);
    }
  }

  /** The older plan goes first: found alone, it would be done again over what came after it. */
  async emptyBoth(newest: Slot, sync: boolean): Promise<void> {
    for (const slot of [otherSlot(newest), newest]) await this.empty(slot, sync);
  }

  #write(slot: Slot, bytes: Uint8Array, at: number): number {
    const handle = this.#port.openFile(this.#places.home.at(NAMES[slot]), "update");
    try {
      writeAll(this.#port, handle, bytes, at);
      return handle;
    } catch (error) {
      this.#port.close(handle);
      throw error;
    }
  }
}
