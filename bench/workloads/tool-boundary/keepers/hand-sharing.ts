import { keeperOf } from "../keeper.ts";
import { withPuts } from "../shape.ts";

/** The least there is to do: copy what changes and share the rest. No isolation, no journal, no closing record. */
export default keeperOf("fast", {
  call: (now, { slices }) => {
    const next = { ...now };
    for (const { name, puts } of slices) next[name] = withPuts(next[name] ?? [], puts);
    return next;
  },
  capture: (now) => now,
});
