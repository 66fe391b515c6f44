import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, defineTool } from "../../../src/index.ts";
import { sqlite } from "../../../src/stores/sqlite/entry.ts";
import type { Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import { digestOf, edit, rootIn, touched, treeOf } from "./tree.ts";
import type { Way } from "./ways.ts";

/** Until most code is compiled. */
export const WARM = 50;

interface Ready {
  readonly root: string;
  readonly paths: readonly string[];
  readonly before: string;
}

function readyOf(task: Task): Ready {
  const root = rootIn(task.fixture);
  const paths = touched(task);
  return { root, paths, before: digestOf(root, paths) };
}

/** Snapshot, three edits and rollback in some other way. */
export function byWay(cell: string, way: Way, times: number, warm = 0): Trial {
  return defineTrial({
    fixture: treeOf(cell, (root, beside) => way.prepare?.(root, beside)),
    times,
    prepare: (task) => {
      const ready = { ...readyOf(task), beside: join(task.fixture, "beside") };
      for (let n = 0; n < warm; n += 1) way.round(ready.root, ready.beside, ready.paths, () => undefined);
      return ready;
    },
    run: ({ root, paths, beside }) => {
      let edited = "";
      way.round(root, beside, paths, () => {
        edited = digestOf(root, paths);
      });
      return edited;
    },
    verify: (edited, ready) => proven(edited, ready),
  });
}

/** A call with three edits, committed for good, and a rewind to before it. */
export function holdfast(): Trial {
  const editing = defineTool<{ readonly paths: readonly string[] }>({
    name: "edit",
    access: "write",
    async run({ paths }, { files }) {
      for (const path of paths) await files.write(path, edit(Buffer.from(await files.read(path))));
    },
  });
  return defineTrial({
    fixture: treeOf("Holdfast"),
    times: 15,
    prepare: async (task) => {
      const ready = readyOf(task);
      mkdirSync(task.folder, { recursive: true });
      const kernel = await createHoldfast({
        store: sqlite(join(task.folder, "store.db")),
        workspace: ready.root,
        tools: [editing],
      });
      const session = await kernel.open("bench");
      const round = async () => {
        const { ok, callId } = await session.runTool({ name: "edit", input: { paths: ready.paths } });
        if (!ok) throw new Error("the call failed");
        const edited = digestOf(ready.root, ready.paths);
        await session.rewind({ before: callId });
        return edited;
      };
      for (let warm = 0; warm < WARM; warm += 1) await round();
      return { ...ready, round, session, kernel };
    },
    run: ({ round }) => round(),
    verify: async (edited, ready) => {
      await ready.session.close();
      await ready.kernel.close();
      return proven(edited, ready);
    },
  });
}

/** The edits were there, and afterwards every byte is what it was. */
function proven(edited: string, { root, paths, before }: Ready): string {
  if (edited === before) throw new Error("nothing was edited");
  if (digestOf(root, paths) !== before) throw new Error("it did not go back");
  return "edited and back";
}
