import { expect, test } from "vitest";
import { fingerprint } from "./fingerprint.ts";

test("[PAIR-19] a fingerprint is the same in every process and on every machine", () => {
  expect(fingerprint("")).toBe(fingerprint(""));
  expect([fingerprint("a"), fingerprint("fc_1"), fingerprint("é😀")]).toMatchInlineSnapshot(`
    [
      "ae99be12b9142d3ede11300cec39ecd1",
      "425bcc53de250d9296ea617a66f8fe5e",
      "3d80c3430e4ed3416a29cbb73568fd6e",
    ]
  `);
});

test("[PAIR-19] neighbouring texts do not meet", () => {
  const seen = new Set<string>();
  for (let at = 0; at < 200_000; at += 1) seen.add(fingerprint(`call_${at}`).slice(0, 24));
  for (let at = 0; at < 1000; at += 1) seen.add(fingerprint("a".repeat(at)).slice(0, 24));
  expect(seen.size).toBe(201_000);
});
