import { DatabaseSync } from "node:sqlite";
import { rawLog } from "./raw.ts";

export default rawLog((path) => new DatabaseSync(path));
