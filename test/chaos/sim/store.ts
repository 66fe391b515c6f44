import type { Clock } from "../../../src/base/clock.ts";
import { HoldfastError } from "../../../src/base/errors.ts";
import type { Random } from "../../../src/base/random.ts";
import { fileBlobs } from "../../../src/blobs/files/entry.ts";
import type { Receipt, Store, StoreRead, WriteBatch } from "../../../src/contracts/store.ts";
import { readFrom } from "../../../src/stores/memory/store.ts";
import type { SimMachine } from "./machine.ts";

export interface SimStoreOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Where others may come first, and where the process may die. */
  readonly pass?: (kind: "software" | "hardware") => Promise<void>;
}

/** A store on a simulated machine: in one line with the others there, written, synced, then true, then answered. */
export function simStore(machine: SimMachine, { clock, random, pass = async () => {} }: SimStoreOptions): Store {
  const owner = machine.newOwner();
  const blobs = fileBlobs("/blobs", { files: machine.disk, clock, random });
  const underWay = new Set<Promise<unknown>>();
  let open = true;
  const mustBeOpen = () => {
    if (!open) throw new HoldfastError("STORE_CLOSED");
  };
  const decide = async <B extends WriteBatch>(batch: B): Promise<Receipt<B>> => {
    await pass("hardware");
    const ending = machine.strike();
    machine.catchUp(blobs);
    machine.write(batch, blobs, clock.now());
    await pass("hardware");
    if (batch.kind !== "append" || batch.unsynced !== true) machine.log.sync();
    const receipt = machine.catchUp(blobs) as Receipt<B>;
    if (ending === "unclear") throw new HoldfastError("STORE_IO", { simulated: ending });
    return receipt;
  };
  const inLine = async <B extends WriteBatch>(batch: B): Promise<Receipt<B>> => {
    const leave = await machine.enter(owner);
    try {
      return await decide(batch);
    } finally {
      leave();
      await pass("software");
    }
  };
  return {
    durability: "power",
    owner,
    blobs,
    async reading<T>(use: (read: StoreRead) => Promise<T>): Promise<T> {
      mustBeOpen();
      if (!machine.isHeld) machine.catchUp(blobs); // what a dead writer had written
      return use(readFrom(machine.tables.snapshot()));
    },
    async commit<B extends WriteBatch>(batch: B): Promise<Receipt<B>> {
      mustBeOpen();
      const work = inLine(batch);
      underWay.add(work);
      return work.finally(() => underWay.delete(work));
    },
    isDead: (other) => machine.isDead(other),
    shrink: async () => ({ bytes: 0, whole: true }),
    async close() {
      open = false;
      await Promise.allSettled(underWay);
      machine.bury(owner);
    },
  };
}
