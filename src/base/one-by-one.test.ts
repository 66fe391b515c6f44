import { expect, test } from "vitest";
import { OneByOne } from "./one-by-one.ts";

test("work is done in the order it came, each when the one before is over, also when that failed", async () => {
  const line = new OneByOne();
  const seen: string[] = [];
  const first = line.run(async () => {
    seen.push("first");
    await new Promise((resolve) => setImmediate(resolve));
    seen.push("failed");
    throw new Error("refused");
  });
  const second = line.run(() => {
    seen.push("second");
    return "answer";
  });
  await expect(first).rejects.toThrow("refused");
  expect(await second).toBe("answer");
  await line.over;
  expect(seen).toEqual(["first", "failed", "second"]);
});
