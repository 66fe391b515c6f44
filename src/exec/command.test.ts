import { expect, test } from "vitest";
import { EXEC_LIMITS, limitsOf } from "./command.ts";

test("[EXEC-4] bounds are those of the kernel, over them those of the command; what is undefined takes none away", () => {
  expect(limitsOf()).toEqual(EXEC_LIMITS);
  expect(limitsOf({ timeMs: 5, processes: 9 }, { timeMs: 7, outputBytes: undefined } as never)).toEqual({
    ...EXEC_LIMITS,
    timeMs: 7,
    processes: 9,
  });
});

test.each([
  [{ timeMS: 5 }, "limits.timeMS"],
  [{ timeMs: 0 }, "limits.timeMs"],
  [{ outputBytes: "5" }, "limits.outputBytes"],
  [{ memoryBytes: Number.NaN }, "limits.memoryBytes"],
])("[EXEC-4] [ID-16] %j is refused by its name: a misspelt bound would be none", (given, option) => {
  for (const all of [[given], [{}, given]])
    expect(() => limitsOf(...(all as never[]))).toThrow(
      expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) }),
    );
});
