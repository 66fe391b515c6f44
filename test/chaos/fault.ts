import { faultPorts } from "./fault-ports.ts";
import type { Rig } from "./rig.ts";

/** The parts of the rig. Through the ports it is exhaustive anywhere; the others need Linux, strace and root. */
export const fault: Rig = {
  about: "every I/O call × every error × once and for ever: ports, system calls, a full disk",
  cases: 0,
  quickCases: 0,
  async run(tally, { quick, extra, cases }) {
    const only = extra.get("only")?.split(",") ?? ["ports", "syscalls", "disk"];
    const limit = cases > 0 ? cases : quick ? 400 : Number.POSITIVE_INFINITY;
    if (only.includes("ports")) await faultPorts(tally, limit);
  },
};
