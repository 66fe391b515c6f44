import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FixedClock, instantOf, SystemClock, toInstant } from "./clock.ts";
import { HoldfastError } from "./errors.ts";

const DAY = 24 * 60 * 60 * 1000;

test("[ID-12] an instant is ISO 8601, UTC, with milliseconds", () => {
  expect(toInstant(0)).toBe("1970-01-01T00:00:00.000Z");
  expect(instantOf(new FixedClock("2026-01-02T03:04:05.006Z"))).toBe("2026-01-02T03:04:05.006Z");
});

describe("FixedClock", () => {
  test("[ID-12] stands still until it is told to move", async () => {
    const clock = new FixedClock(1_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
    clock.advance(50);
    expect([clock.now(), clock.monotonic()]).toEqual([1_050, 50]);
    expect(new FixedClock().now()).toBe(Date.parse("2026-01-01T00:00:00.000Z"));
  });

  test("[ID-12] the wall clock may go back alone; monotonic time and sleepers do not notice", async () => {
    const clock = new FixedClock(1_000);
    const slept = clock.sleep(10);
    clock.setWall(5);
    expect([clock.now(), clock.monotonic()]).toEqual([5, 0]);
    clock.advance(10);
    await slept;
    expect([clock.now(), clock.monotonic()]).toEqual([15, 10]);
  });

  test("[ID-12] sleepers wake when their time has come, earliest first, and not before", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 10 }),
        fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 10 }),
        async (sleeps, steps) => {
          const clock = new FixedClock();
          const woken: { readonly due: number; readonly at: number }[] = [];
          for (const due of sleeps) void clock.sleep(due).then(() => woken.push({ due, at: clock.monotonic() }));
          let before = 0;
          for (const step of steps) {
            clock.advance(step);
            await new Promise((resolve) => setImmediate(resolve));
            for (const { due, at } of woken.filter((one) => one.at > before))
              expect(due > before && due <= at).toBe(true);
            before = clock.monotonic();
          }
          expect(woken.map((one) => one.due)).toEqual(sleeps.filter((due) => due <= before).sort((a, b) => a - b));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("[ID-12] a sleep of nothing ends at once", async () => {
    await new FixedClock().sleep(0);
    await new FixedClock().sleep(-5);
  });

  test("[ID-12] an aborted sleeper rejects with the reason, once, and is forgotten", async () => {
    const clock = new FixedClock();
    const controller = new AbortController();
    const sleeping = clock.sleep(10, controller.signal);
    const other = clock.sleep(10);
    controller.abort(new Error("enough"));
    await expect(sleeping).rejects.toThrow("enough");
    await expect(clock.sleep(10, controller.signal)).rejects.toThrow("enough");
    clock.advance(10);
    await other;
  });

  test("[ID-12] a sleeper that woke leaves no listener on its signal", async () => {
    const clock = new FixedClock();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, "removeEventListener");
    const sleeping = clock.sleep(10, signal);
    clock.advance(10);
    await sleeping;
    clock.advance(10);
    expect(removed).toHaveBeenCalledOnce();
  });

  test("[ID-12] time that is no time and time that runs backwards are refused", () => {
    for (const broken of [
      () => new FixedClock("yesterday"),
      () => new FixedClock(Number.NaN),
      () => new FixedClock().advance(-1),
      () => new FixedClock().advance(Number.NaN),
    ]) {
      expect(broken).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
      expect(broken).toThrow(HoldfastError);
    }
  });
});

test("[ID-13] a sleeper does not keep its process alive", () => {
  const program = `import { SystemClock } from ${JSON.stringify(import.meta.resolve("./clock.ts"))};
    void new SystemClock().sleep(60_000); console.log("asleep");`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", program], { timeout: 20_000 });
  expect([child.status, child.stdout.toString()]).toEqual([0, "asleep\n"]);
});

describe("SystemClock", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
  afterEach(() => void vi.useRealTimers());

  test("[ID-13] tells wall time and monotonic time", () => {
    const clock = new SystemClock();
    const start = clock.monotonic();
    expect(clock.now()).toBe(1_000);
    vi.advanceTimersByTime(25);
    expect(clock.now()).toBe(1_025);
    expect(clock.monotonic() - start).toBe(25);
  });

  test("[ID-13] does not believe a clock that tells no time", () => {
    const start = new SystemClock().monotonic();
    vi.spyOn(Date, "now").mockReturnValue(Number.NaN);
    vi.spyOn(performance, "now").mockReturnValue(Number.POSITIVE_INFINITY);
    const clock = new SystemClock();
    expect([Number.isFinite(clock.now()), Number.isFinite(clock.monotonic())]).toEqual([true, true]);
    vi.restoreAllMocks();
    expect(start).toBeTypeOf("number");
  });

  test.each([5, 2 ** 31 - 1, 2 ** 31, 2 * (2 ** 31 - 1), 100 * DAY])("[ID-13] sleeps %d ms, not less", async (ms) => {
    let awake = false;
    void new SystemClock().sleep(ms).then(() => {
      awake = true;
    });
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(awake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(awake).toBe(true);
  });

  test("[ID-13] an abort ends a sleep with its reason and clears the timer", async () => {
    const controller = new AbortController();
    const ended = vi.fn();
    const sleeping = new SystemClock().sleep(DAY, controller.signal).catch(ended);
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort(new Error("enough"));
    await sleeping;
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ message: "enough" }));
    expect(vi.getTimerCount()).toBe(0);
    await expect(new SystemClock().sleep(1, controller.signal)).rejects.toThrow("enough");
  });

  test("[ID-13] a finished sleep leaves no listener on its signal", async () => {
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, "removeEventListener");
    const sleeping = new SystemClock().sleep(5, signal);
    await vi.advanceTimersByTimeAsync(5);
    await sleeping;
    expect(removed).toHaveBeenCalledOnce();
  });
});
