import { betterSqlite } from "../vendor.ts";
import { rawLog } from "./raw.ts";

const Database = await betterSqlite();
export default rawLog((path) => new Database(path));
