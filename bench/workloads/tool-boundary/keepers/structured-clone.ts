import { keeperOf } from "../keeper.ts";
import type { Entry } from "../shape.ts";

/** What is written first: change in place, copy everything to be able to go back. */
export default keeperOf("slow", {
  call: (now, { slices }) => {
    for (const { name, puts } of slices) for (const put of puts) (now[name] as Entry[])[put.id] = put;
    return now;
  },
  capture: (now) => structuredClone(now),
});
