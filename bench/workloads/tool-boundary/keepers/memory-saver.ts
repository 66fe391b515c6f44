import { langGraph } from "../vendor.ts";
import { LAST_VALUE, langGraphKeeper } from "./lang-graph.ts";

export default langGraphKeeper(LAST_VALUE, async () => {
  const { MemorySaver } = await langGraph();
  return { saver: new MemorySaver(), close: () => {} };
});
