import { expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { beforeWriting, isUnwritten } from "./unwritten.ts";

test("[TX-9] only what failed before the store was asked is certain not to be there", async () => {
  for (const code of ["VALUE_TOO_LARGE", "VALUE_TOO_DEEP", "VALUE_NOT_JSON", "RECORD_MALFORMED"] as const)
    expect(isUnwritten(new HoldfastError(code))).toBe(true);
  expect(isUnwritten(new HoldfastError("STORE_BUSY"))).toBe(false);
  expect(isUnwritten(new Error("disk"))).toBe(false);
  for (const thrown of [new Error("early"), "early"]) {
    const told: unknown = await beforeWriting(Promise.reject(thrown)).catch((error: unknown) => error);
    expect(told).toMatchObject({ message: "early" });
    expect(isUnwritten(told)).toBe(true);
  }
});
