import Database from "better-sqlite3";
import { join } from "node:path";
import { test } from "vitest";
import { SystemClock } from "../../src/base/clock.ts";
import { SeededRandom, SystemRandom } from "../../src/base/random.ts";
import { MemoryDisk, memoryStore } from "../../src/stores/memory/entry.ts";
import { betterSqlite3, openSqlite, type SqliteOptions } from "../../src/stores/sqlite/entry.ts";
import { register, storeLaws } from "../../src/testing/entry.ts";
import { SimMachine } from "../chaos/sim/machine.ts";
import { simStore } from "../chaos/sim/store.ts";
import { NFS, scratchFolder } from "../support/places.ts";

const folder = scratchFolder();
const disks = new Map<string, MemoryDisk>();
const can = { commitDuringRead: true };

register(
  storeLaws("memory", {
    can,
    async open(place) {
      const disk = disks.get(place) ?? new MemoryDisk();
      disks.set(place, disk);
      return memoryStore({ disk });
    },
  }),
  test,
);

const machines = new Map<string, SimMachine>();

/** The store of the simulator is judged like any other, or what it finds would prove nothing. */
register(
  storeLaws("simulated-disk", {
    can,
    async open(place) {
      const machine = machines.get(place) ?? new SimMachine(new SeededRandom(place), () => Date.now());
      machines.set(place, machine);
      return simStore(machine, { clock: new SystemClock(), random: new SystemRandom() });
    },
  }),
  test,
);

const sqlite = (options: SqliteOptions) => (place: string) => openSqlite(join(folder, place, "store.db"), options);

register(storeLaws("node-sqlite", { can, open: sqlite({}) }), test);
register(storeLaws("better-sqlite3", { can, open: sqlite({ driver: betterSqlite3(Database) }) }), test);
register(storeLaws("sqlite-process", { can, open: sqlite({ durability: "process" }) }), test);
register(
  storeLaws("sqlite-rollback-journal", {
    can: { commitDuringRead: false },
    open: sqlite({ network: "rollback-journal", fileSystemAt: () => NFS }),
  }),
  test,
);
