import { expect, test } from "vitest";
import { type Item, normalize, type PairedHistory, rollbackTurns, trimOldHistory } from "../../src/index.ts";
import { writeRequest } from "../../src/turn/request.ts";

/** Whoever sends asks for the receipt. */
const send = (history: PairedHistory): number => history.length;

const raw: readonly Item[] = [];

test("[PAIR-29] an unrepaired history cannot be sent: it does not compile", () => {
  // @ts-expect-error A log is not a receipt: nobody has paired it.
  expect(send(raw)).toBe(0);
  // @ts-expect-error Nor is a paired history that was touched afterwards.
  expect(send(normalize(raw).items.filter(() => true))).toBe(0);
});

test("[PAIR-29] every station that pairs hands out the receipt", () => {
  expect(send(normalize(raw).items)).toBe(0);
  expect(send(trimOldHistory(raw, 10).history)).toBe(0);
  const back = rollbackTurns(raw, 1);
  expect(back.ok ? send(back.history) : 0).toBe(0);
});

test("[PAIR-29] [LOOP-12] a request is made of receipts: one without a view or an alignment does not compile", () => {
  type Receipts = Parameters<typeof writeRequest>;
  const make = (view: Receipts[0], aligned: Receipts[1]) => {
    // @ts-expect-error Neither the log nor a paired history is a view: nobody has fitted it.
    writeRequest(normalize(raw).items, aligned, {});
    // @ts-expect-error Nor is a prompt aligned that nobody held against the tools.
    writeRequest(view, { prompt: aligned.prompt, catalog: aligned.catalog }, {});
    return writeRequest(view, aligned, {});
  };
  expect(make).toBeTypeOf("function");
});
