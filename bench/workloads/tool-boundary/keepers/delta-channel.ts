import { langGraph } from "../vendor.ts";
import { DELTA, langGraphKeeper } from "./lang-graph.ts";

export default langGraphKeeper(DELTA, async () => {
  const { MemorySaver } = await langGraph();
  return { saver: new MemorySaver(), close: () => {} };
});
