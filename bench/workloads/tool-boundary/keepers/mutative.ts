import { keeperOf } from "../keeper.ts";
import { mutative } from "../vendor.ts";

const { create } = await mutative();

export default keeperOf("fast", {
  call: (now, { slices }) =>
    create(now, (draft) => {
      for (const { name, puts } of slices) {
        const entries = draft[name];
        if (entries === undefined) throw new RangeError(name);
        for (const { id, text } of puts) (entries[id] as { text: string }).text = text;
      }
    }),
  capture: (now) => now,
});
