import { compound } from "./compound.ts";
import { contention } from "./contention.ts";
import { escape } from "./escape.ts";
import { fault } from "./fault.ts";
import { flip } from "./flip.ts";
import { fuzz } from "./fuzz-rig.ts";
import { kill } from "./kill.ts";
import { model } from "./model.ts";
import { power } from "./power.ts";
import { replay } from "./replay.ts";
import type { Rig } from "./rig.ts";
import { sim } from "./sim.ts";
import { soak } from "./soak.ts";
import { strays } from "./strays.ts";
import { syscallKill } from "./syscall-kill.ts";
import { workspace } from "./workspace.ts";
import { zombie } from "./zombie.ts";

export const RIGS: Readonly<Record<string, Rig>> = {
  kill,
  "syscall-kill": syscallKill,
  power,
  fault,
  flip,
  contention,
  compound,
  fuzz,
  workspace,
  escape,
  sim,
  model,
  zombie,
  strays,
  replay,
  soak,
};
