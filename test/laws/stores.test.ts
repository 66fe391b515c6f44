import Database from "better-sqlite3";
import { join } from "node:path";
import { test } from "vitest";
import type { ClockDep } from "../../src/base/clock.ts";
import { SeededRandom, SystemRandom } from "../../src/base/random.ts";
import { MemoryDisk, memoryStore } from "../../src/stores/memory/entry.ts";
import { betterSqlite3, openSqlite, type SqliteOptions } from "../../src/stores/sqlite/entry.ts";
import { register, storeLaws } from "../../src/testing/entry.ts";
import { SimMachine } from "../chaos/sim/machine.ts";
import { simStore } from "../chaos/sim/store.ts";
import { NFS, scratchFolder } from "../support/places.ts";
import { storesAreShared } from "../support/together.ts";

const folder = scratchFolder();
const disks = new Map<string, MemoryDisk>();
const can = { commitDuringRead: true, shared: true };
const withNodesEngine = { ...can, shared: storesAreShared };

register(
  storeLaws("memory", {
    can,
    async open(place, { clock }) {
      const disk = disks.get(place) ?? new MemoryDisk();
      disks.set(place, disk);
      return memoryStore({ disk, clock });
    },
  }),
  test,
);

const machines = new Map<string, SimMachine>();

/** The store of the simulator is judged like any other, or what it finds would prove nothing. */
register(
  storeLaws("simulated-disk", {
    can,
    async open(place, { clock }) {
      const machine = machines.get(place) ?? new SimMachine(new SeededRandom(place), () => clock.now());
      machines.set(place, machine);
      return simStore(machine, { clock, random: new SystemRandom() });
    },
  }),
  test,
);

const sqlite = (options: SqliteOptions) => (place: string, deps: ClockDep) =>
  openSqlite(join(folder, place, "store.db"), { ...options, ...deps });

register(storeLaws("node-sqlite", { can: withNodesEngine, open: sqlite({}) }), test);
register(storeLaws("better-sqlite3", { can, open: sqlite({ driver: betterSqlite3(Database) }) }), test);
register(storeLaws("sqlite-process", { can: withNodesEngine, open: sqlite({ durability: "process" }) }), test);
register(
  storeLaws("sqlite-rollback-journal", {
    can: { commitDuringRead: false, shared: true },
    open: sqlite({ network: "rollback-journal", fileSystemAt: () => NFS }),
  }),
  test,
);
