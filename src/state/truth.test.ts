import { describe, expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { ExecutionState } from "./execution-state.ts";
import type { RootChange } from "./part.ts";
import { reducers } from "./reducers.ts";
import { defineSlice } from "./slice.ts";
import type { StateLedger } from "./truth.ts";

const steps = defineSlice("steps", { initial: [] as readonly string[], on: { added: reducers.append<string> } });
const slices = [steps];

function ledger() {
  const written: { change: RootChange; cause: string }[] = [];
  const held: PromiseWithResolvers<void>[] = [];
  const port: StateLedger & { hold: boolean } = {
    hold: false,
    changed: async (change, cause) => {
      if (port.hold) {
        const wait = Promise.withResolvers<void>();
        held.push(wait);
        await wait.promise;
      }
      written.push({ change, cause });
    },
  };
  return { port, written, held };
}

describe("a change outside any call", () => {
  test("[SLICE-7] is written down before it is true", async () => {
    const { port, written, held } = ledger();
    const state = ExecutionState.create({ slices, ledger: port });
    port.hold = true;
    const done = state.session.dispatch(steps.added("a"));
    await settleMicrotasks();
    expect(state.session.get(steps)).toEqual([]);
    held[0]?.resolve();
    await done;
    expect(state.session.get(steps)).toEqual(["a"]);
    expect(written).toMatchObject([
      { cause: "dispatched steps.added", change: { delta: { steps: [{ insert: ["a"] }] } } },
    ]);
  });

  test("[SLICE-7] is not lost while another is on its way to the disk", async () => {
    const { port, held } = ledger();
    const state = ExecutionState.create({ slices, ledger: port });
    port.hold = true;
    const all = [
      state.session.dispatch(steps.added("a")),
      state.session.dispatch(steps.added("b")),
      state.session.seed(steps, ["c"]),
      state.session.dispatch(steps.added("d")),
    ];
    for (let turn = 0; turn < all.length; turn += 1) {
      await settleMicrotasks();
      held[turn]?.resolve();
    }
    await Promise.all(all);
    expect(state.session.get(steps)).toEqual(["c", "d"]);
  });

  test("[SLICE-7] that cannot be written down does not happen, and holds up nobody", async () => {
    let full = true;
    const port: StateLedger = {
      changed: async () => {
        if (full) throw new HoldfastError("STORE_FULL");
      },
    };
    const state = ExecutionState.create({ slices, ledger: port });
    const before = await state.snapshot();
    await expect(state.session.dispatch(steps.added("a"))).rejects.toMatchObject({ code: "STORE_FULL" });
    full = false;
    await state.session.dispatch(steps.added("b"));
    full = true;
    await expect(state.restore(before)).rejects.toMatchObject({ code: "STORE_FULL" });
    expect(state.session.get(steps)).toEqual(["b"]);
    expect(state.poisoned).toBe(false);
  });

  test("[SLICE-7] that changes nothing writes nothing", async () => {
    const { port, written } = ledger();
    const state = ExecutionState.create({ slices, ledger: port });
    await state.session.clear(steps);
    await state.restore(await state.snapshot());
    expect(written).toEqual([]);
  });

  test("[SLICE-7] [K29] two hundred at once are two hundred", async () => {
    const count = defineSlice("count", { initial: 0, on: { up: (now: number) => now + 1 } });
    const state = ExecutionState.create({ slices: [count], ledger: ledger().port });
    await Promise.all(Array.from({ length: 200 }, () => state.session.dispatch(count.up())));
    expect(state.session.get(count)).toBe(200);
  });
});

async function settleMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
