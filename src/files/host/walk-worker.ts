/** The other thread of a walk. It looks at names, as the first one does, and answers once for each walk. */
import { type MessagePort, workerData } from "node:worker_threads";
import { packed } from "./packed-walk.ts";
import { realHost } from "./port.ts";
import { Walk } from "./walk.ts";
import { BEAT, NEXT, OVER, THERE, type WalkAnswer, type WalkTask } from "./walk-thread.ts";

const { port, there } = workerData as { readonly port: MessagePort; readonly there: SharedArrayBuffer };

port.on("message", ({ walk, base, root, folders, shared }: WalkTask) => {
  const state = new Int32Array(shared);
  try {
    const found = packed(taken(new Walk(realHost, base, () => false, root), folders, state));
    const answer: WalkAnswer = { walk, found };
    port.postMessage(answer, [found.numbers.buffer as ArrayBuffer, found.exact.buffer as ArrayBuffer]);
  } catch {
    port.postMessage({ walk } satisfies WalkAnswer);
  } finally {
    Atomics.store(state, OVER, 1);
    Atomics.notify(state, OVER);
  }
});

/** What is ours is left in: whoever asked knows what that is. */
function taken(walk: Walk, folders: readonly string[], state: Int32Array): Walk {
  const beat = () => void Atomics.add(state, BEAT, 1);
  for (let at = Atomics.add(state, NEXT, 1); at < folders.length; at = Atomics.add(state, NEXT, 1))
    walk.below([folders[at] as string], beat);
  return walk;
}

Atomics.store(new Int32Array(there), THERE, 1);
