import { join } from "node:path";
import { sqliteSaver } from "../vendor.ts";
import { LAST_VALUE, langGraphKeeper } from "./lang-graph.ts";

export default langGraphKeeper(LAST_VALUE, async (folder) => {
  const { saver, connection } = await sqliteSaver(join(folder, "saver.db"));
  return { saver, close: () => void connection.close() };
});
