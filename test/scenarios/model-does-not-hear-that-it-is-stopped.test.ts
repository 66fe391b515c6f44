import { expect, test } from "vitest";
import { SystemClock } from "../../src/base/clock.ts";
import type { Model, ModelEvent } from "../../src/contracts/model.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { createHoldfast } from "../../src/turn/holdfast.ts";

class Quick extends SystemClock {
  override sleep(ms: number, ...how: [AbortSignal?, "keep-alive"?]): Promise<void> {
    return super.sleep(ms / 100, ...how);
  }
}

/** Says half of a sentence and then nothing more, whatever its signal says. */
function deaf(): { readonly model: Model; readonly left: Promise<void> } {
  const left = Promise.withResolvers<void>();
  const half = { kind: "text-delta", text: "Half of" } as const;
  let answered = 0;
  const events: AsyncIterableIterator<ModelEvent> = {
    [Symbol.asyncIterator]: () => events,
    next: () => (answered++ === 0 ? Promise.resolve({ value: half }) : new Promise(() => {})),
    return: async () => {
      left.resolve();
      throw new Error("The connection is gone.");
    },
  };
  return { model: { ...scripted([]), ask: () => events }, left: left.promise };
}

test("[LOOP-8] a turn ends, and what its model had said is kept", async () => {
  const holdfast = await createHoldfast({ store: memoryStore(), clock: new Quick() });
  const session = await holdfast.open("s");
  const controller = new AbortController();
  const { model, left } = deaf();
  const { end } = await watch(session.run("go", { model, signal: controller.signal }), (event) => {
    if (event.kind === "text") controller.abort();
  });
  expect(end).toMatchObject({ status: "aborted", text: "Half of" });
  await left; // it was told that nobody reads on
  await watch(session.run("go on", { model: scripted([{ text: "The rest." }]) }));
  const said = (await Array.fromAsync(session.read())).filter(({ kind }) => kind === "model-said");
  expect(said).toMatchObject([{ stop: "aborted" }, { stop: "stop" }]);
});

test("[LOOP-8] a model that ends its answer without a word when it is stopped has been stopped", async () => {
  const { session } = await opened();
  const controller = new AbortController();
  const model: Model = {
    ...scripted([]),
    async *ask(_request, { signal }) {
      yield { kind: "text-delta", text: "Half of" };
      while (!signal.aborted) await new Promise(setImmediate);
    },
  };
  const { end } = await watch(session.run("go", { model, signal: controller.signal }), (event) => {
    if (event.kind === "text") controller.abort();
  });
  expect(end).toMatchObject({ status: "aborted", text: "Half of" });
});
