import { holdfastLog } from "./holdfast.ts";

export default holdfastLog();
