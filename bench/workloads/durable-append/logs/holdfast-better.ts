import { betterSqlite3 } from "../../../../src/stores/sqlite/entry.ts";
import { betterSqlite } from "../vendor.ts";
import { holdfastLog } from "./holdfast.ts";

export default holdfastLog({ driver: betterSqlite3(await betterSqlite()) });
