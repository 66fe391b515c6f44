import fc from "fast-check";
import { expect, test } from "vitest";
import type { BlobName } from "../records/ids.ts";
import type { Item } from "../wire/item.ts";
import { MediaStation } from "./show-media.ts";

const NAME = "0".repeat(64) as BlobName;
const words = (text: string): Item => ({ kind: "user", parts: [{ type: "text", text }] });
const picture = (): Item => ({
  kind: "user",
  parts: [{ type: "image", media: { mediaType: "image/png", blob: { name: NAME, size: 3 } } }],
});
const ITEMS: readonly Item[] = Array.from({ length: 8 }, (_, at) => (at % 3 === 2 ? picture() : words(`${at}`)));

async function* read() {
  yield Uint8Array.of(1, 2, 3);
}

test("[TOOL-18] whatever was shown before, a request shows the pictures that a first one would", async () => {
  const views = fc.array(fc.subarray([...ITEMS]), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(views, async (requests) => {
      const station = new MediaStation(read);
      for (const items of requests) expect(await station.show(items)).toEqual(await new MediaStation(read).show(items));
    }),
  );
});
