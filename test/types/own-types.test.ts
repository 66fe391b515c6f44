import { expect, test } from "vitest";
import {
  type CallOutcome,
  createHoldfast,
  defineTool,
  type EventSink,
  type KernelEvent,
  resourceKey,
  type Snapshotable,
} from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";

/** Interfaces, as programs have them: unlike a type's, their fields might be added to, so that they are no `Json` by type. */
interface Order {
  readonly id: string;
  readonly note?: string;
}
interface Receipt {
  readonly receipt: string;
}

test("[TX-45] effects, failures and those who only listen take a program's own types, without a cast", async () => {
  const refunds: Receipt[] = [];
  const charge = defineTool<Order>({
    name: "charge",
    access: "external",
    effects: {
      payment: {
        run: async (order: Order): Promise<Receipt> => ({ receipt: order.id }),
        undo: async (_order: Order, receipt: Receipt): Promise<number> => refunds.push(receipt),
      },
    },
    async run(order, call) {
      await call.effect("payment", order, { key: order.id });
      return call.fail("declined", "The card was declined.", order);
    },
  });
  const events: KernelEvent[] = [];
  const outcomes: CallOutcome[] = [];
  const sink: EventSink = { emit: (event) => events.push(event) };
  let cursor: Receipt = { receipt: "none" };
  const resource: Snapshotable<Receipt> = { snapshot: () => cursor, restore: (to) => (cursor = to) };
  const holdfast = await createHoldfast({
    store: memoryStore(),
    tools: [charge],
    telemetry: { sinks: [sink] },
    observe: (outcome) => outcomes.push(outcome),
    resources: () => [[resourceKey<Snapshotable<Receipt>>("cursor"), resource]],
  });
  const session = await holdfast.open("own-types");
  const outcome = await session.runTool({ name: "charge", input: { id: "o-1" } });
  expect([outcome.reason, outcome.payload, refunds]).toEqual(["declined", { id: "o-1" }, [{ receipt: "o-1" }]]);
  expect([outcomes, events.length > 0]).toEqual([[outcome], true]);
  await holdfast.close();
});
