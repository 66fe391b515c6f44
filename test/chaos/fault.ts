import { imagesMissing } from "./disk-image.ts";
import { faultDisk } from "./fault-disk.ts";
import { faultHost } from "./fault-host.ts";
import { faultPorts } from "./fault-ports.ts";
import { driverMissing } from "./files-model.ts";
import { faultSyscalls } from "./fault-syscalls.ts";
import { partsFrom, type Rig } from "./rig.ts";
import { straceMissing } from "./strace.ts";

const PARTS = ["driver", "files", "workspace", "commands", "syscalls", "disk"] as const;
type Part = (typeof PARTS)[number];

/** Through the ports it is exhaustive anywhere; system calls need strace, a full disk needs root. */
const MISSING: Readonly<Record<Part, () => string | undefined>> = {
  driver: () => undefined,
  files: () => undefined,
  workspace: () => undefined,
  commands: () => driverMissing("overlay"),
  syscalls: straceMissing,
  disk: () => imagesMissing("ext4"),
};

export const fault: Rig = {
  about: "every I/O call × every error × once and for ever: ports, system calls, a full disk",
  cases: 0,
  quickCases: 0,
  async run(tally, { quick, extra, cases, seed }) {
    const parts = partsFrom({ extra }, PARTS).filter((part) => {
      const why = MISSING[part]();
      if (why !== undefined) tally.skipped.push(`${part}: ${why}`);
      return why === undefined;
    });
    if (parts.includes("driver"))
      await faultPorts(tally, "sqlite", limit(cases, quick ? 30 : Number.POSITIVE_INFINITY));
    if (parts.includes("files")) await faultPorts(tally, "files", limit(cases, quick ? 16 : Number.POSITIVE_INFINITY));
    if (parts.includes("workspace")) await faultHost(tally, limit(cases, quick ? 16 : 2_000));
    if (parts.includes("commands"))
      for (const driver of ["overlay", "portable"] as const)
        await faultHost(tally, limit(cases, quick ? 8 : 1_000), driver);
    if (parts.includes("syscalls")) await faultSyscalls(tally, limit(cases, quick ? 5 : 400), seed);
    if (parts.includes("disk")) await faultDisk(tally, limit(cases, quick ? 2 : 30));
  },
};

function limit(asked: number, standard: number): number {
  return asked > 0 ? asked : standard;
}
