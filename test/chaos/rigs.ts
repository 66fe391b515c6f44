import { fault } from "./fault.ts";
import { kill } from "./kill.ts";
import type { Rig } from "./rig.ts";

export const RIGS: Readonly<Record<string, Rig>> = { kill, fault };
