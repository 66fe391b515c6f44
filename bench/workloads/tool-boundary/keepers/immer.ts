import { keeperOf } from "../keeper.ts";
import { immer } from "../vendor.ts";

const { produce } = await immer();

/** With its default, freezing what it made. */
export default keeperOf("fast", {
  call: (now, { slices }) =>
    produce(now, (draft) => {
      for (const { name, puts } of slices) {
        const entries = draft[name];
        if (entries === undefined) throw new RangeError(name);
        for (const { id, text } of puts) (entries[id] as { text: string }).text = text;
      }
    }),
  capture: (now) => now,
});
