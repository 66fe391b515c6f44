/** Appends one by one, tells when all are acknowledged, and waits to be killed. */
import { textsOf } from "./log.ts";
import { LOGS, type LogName } from "./logs.ts";
import { LAST_WORDS } from "./trials.ts";

interface Order {
  readonly name: LogName;
  readonly folder: string;
  readonly seed: string;
}

const { name, folder, seed } = JSON.parse(process.argv[2] ?? "null") as Order;
const open = await (await LOGS[name]()).default.open(folder);
for (const text of textsOf(seed, LAST_WORDS)) await open.append([text]);
process.send?.("acknowledged");
setInterval(() => {}, 1000);
