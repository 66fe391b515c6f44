import type { Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import { HistoryIndex, repairHistory } from "../../../src/index.ts";
import type { Item } from "../../../src/wire/item.ts";
import { bareMap } from "./bare-map.ts";
import { type Built, buildHistory, tenItems } from "./build.ts";

/** Often enough for the code to be compiled: a session checks before every request, not once. */
const TIMES = 7;

const built = (task: Task, faults: boolean) => buildHistory(task.size, seedOf(task), faults);
const seedOf = ({ seed, round }: Task) => Buffer.from(seed).reduce((sum, byte) => sum * 31 + byte, round + 1) >>> 0;

export function bare(faults: boolean): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => built(task, faults),
    run: ({ items }) => bareMap(items),
    verify: (done, ready) => paired(done, ready),
  });
}

export function repairing(faults: boolean): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => built(task, faults),
    run: ({ items }) => repairHistory(items),
    verify: ({ history, repairs }, ready) => {
      if (repairs.length !== ready.dangling + ready.orphans) throw new Error("a repair is missing");
      if (!faults && history !== ready.items) throw new Error("a valid history was copied");
      return paired(history, ready);
    },
  });
}

export function indexed(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => {
      const ready = built(task, false);
      const index = new HistoryIndex();
      index.append(ready.items);
      return { ...ready, index };
    },
    run: ({ items, index }) => repairHistory(items, { index }),
    verify: ({ history }, ready) => {
      if (history !== ready.items) throw new Error("a valid history was copied");
      return paired(history, ready);
    },
  });
}

/** What a request costs when ten items are new. */
export function appending(): Trial {
  return defineTrial({
    times: 101,
    prepare: (task) => {
      const log = built(task, false).items.slice();
      const index = new HistoryIndex();
      index.append(log);
      return { log, index, turns: 0 };
    },
    run: (ready) => {
      ready.log.push(...tenItems((ready.turns += 1)));
      return repairHistory(ready.log, { index: ready.index });
    },
    verify: ({ history, report }, { log, index }) => {
      const same = (history as readonly Item[]) === log;
      if (!same || !report.isValid() || index.size !== log.length) throw new Error("the index is behind");
      return undefined;
    },
  });
}

/** Every call answered once, after it, and nothing else; as a stranger would count. */
function paired(items: readonly Item[], { items: before, dangling, orphans }: Built): string {
  if (items.length !== before.length + dangling - orphans) throw new Error(`wrong length ${items.length}`);
  const open = new Set<string>();
  for (const item of items) {
    if (item.kind === "call") open.add(item.callId as string);
    if (item.kind === "output" && !open.delete(item.callId as string)) throw new Error("an orphan is left");
  }
  if (open.size > 0) throw new Error(`${open.size} calls without output`);
  return `${items.length} items`;
}
