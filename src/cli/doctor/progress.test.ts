import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

/** A clock that a test moves. */
function progress(total: number) {
  const told: string[] = [];
  const clock = { now: 0 };
  return {
    told,
    clock,
    of: new Progress(
      (line) => told.push(line),
      () => clock.now,
      total,
    ),
  };
}

test("[DOC-28] a long run over many files says how far it is, about once a second, and nothing when it ends", () => {
  const { told, clock, of } = progress(4);
  of.next();
  expect(told).toEqual([]);
  clock.now = 1_000;
  of.next();
  clock.now = 1_900;
  of.next();
  clock.now = 5_000;
  of.next();
  expect(told).toEqual(["… 2 of 4 files"]);
});

test("[DOC-28] a large file says how much of it was read, and comes through unchanged", async () => {
  const { told, clock, of } = progress(1);
  const chunk = new Uint8Array(1024 * 1024).fill(120);
  const source = of.watched({
    name: "big.jsonl",
    async *chunks() {
      for (let nth = 0; nth < 4; nth += 1) {
        clock.now += 700;
        yield chunk;
      }
    },
  });
  let size = 0;
  for await (const one of source.chunks()) size += one.length;
  expect(size).toBe(4 * chunk.length);
  expect(told).toEqual(["… big.jsonl: 2 MB read", "… big.jsonl: 4 MB read"]);
});
