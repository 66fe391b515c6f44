import { expect, test } from "vitest";
import { deriveView } from "../../src/context/derive.ts";
import { type AlignedPrompt, alignPrompt, stillAligned } from "../../src/alignment/align.ts";
import { ok } from "../../src/base/result.ts";
import { writeRequest } from "../../src/turn/request.ts";
import { liveOf, rendered, snapshotOf, TOOLS } from "../support/catalogs.ts";

const catalog = snapshotOf(TOOLS);
const prompt = rendered(catalog);
const view = deriveView([], { budget: 1_000 });

test("[ALIGN-17] a request needs both receipts: without them it does not compile", () => {
  // @ts-expect-error A rendered prompt is not a receipt: nobody has compared it with the catalog.
  const unaligned: AlignedPrompt = { prompt, catalog, healed: [], toolsGone: [] };
  expect(unaligned.catalog).toBe(catalog);
  const chosenByHand = { ok: true, items: [], stableItems: 0 } as const;
  // @ts-expect-error Nor can anything be sent that no station has chosen: it need not pair up, nor fit.
  expect(writeRequest(chosenByHand, unaligned, {}).items).toHaveLength(2);
});

test("[ALIGN-17] the station hands out the receipt, and only with it a request is written", () => {
  const alignment = alignPrompt({ takeSnapshot: () => catalog, render: () => ok(prompt), live: () => liveOf(catalog) });
  if (!alignment.ok) throw new Error(alignment.report.says.join());
  expect(stillAligned(alignment.aligned, liveOf(catalog))).toEqual([]);
  if (!view.ok) throw new Error("nothing fits");
  expect(writeRequest(view, alignment.aligned, {}).tools?.map(({ name }) => name)).toEqual(catalog.activeNames);
});
