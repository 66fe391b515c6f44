import { ExecutionState, Transactions } from "../../../../src/index.ts";
import type { Keeper } from "../keeper.ts";
import { mustSucceed, toolOver } from "./holdfast.ts";

/** Every call a transaction: opened, run on a branch, checked, settled, logged, with a checkpoint before and after it. */
const keeper: Keeper = {
  pace: "fast",
  open: async (start) => {
    const { slices, change, expect, read } = toolOver(start);
    const state = ExecutionState.create({ slices });
    const transactions = new Transactions(state, { tools: [change] });
    let made = 0;
    return {
      async calls(changes, between) {
        expect(changes);
        for (const at of changes.keys()) {
          mustSucceed(await transactions.run({ id: `call-${made}`, name: "change", input: { at } }));
          made += 1;
          await between();
        }
      },
      async rollback(after) {
        const snapshot = state.checkpoints.getPostSnapshot(`call-${after}`);
        if (snapshot === undefined) throw new RangeError(`checkpoint ${after} is gone`);
        await state.restore(snapshot);
      },
      state: () => read((slice) => state.session.get(slice)),
      close: () => {},
    };
  },
};
export default keeper;
