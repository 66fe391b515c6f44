import type { PlantedBug } from "./planted-bug.ts";

type Run = Pick<PlantedBug, "rig" | "args">;

const KILL_COMMANDS: Run = { rig: "kill", args: ["--only", "commands", "--cases", "30"] };
const FAULT_COMMANDS: Run = { rig: "fault", args: ["--only", "commands", "--cases", "20"] };
const STRAYS: Run = { rig: "strays", args: ["--cases", "36"] };

function bug(name: string, run: Run, file: string, find: string, replace: string): PlantedBug {
  return { name, edits: [{ file, find, replace }], ...run };
}

/** What could be wrong with commands, and with the plans that put their work in place. */
export const COMMAND_BUGS: readonly PlantedBug[] = [
  bug(
    "strays-outlive-their-command",
    STRAYS,
    "src/exec/processes.ts",
    '      ended.add(pid);\n      endProcess(pid, "SIGKILL");',
    "      ended.add(pid);",
  ),
  bug(
    "strays-known-by-their-environment-alone",
    STRAYS,
    "src/exec/processes.ts",
    " || held.some((one) => holds.has(one))) belong",
    ") belong",
  ),
  bug(
    "command-in-place-without-a-mark",
    KILL_COMMANDS,
    "src/files/host/in-place.ts",
    "root.inside(place, (folder) => writeNamed(root.port, folder, MARK, Buffer.from(`${id} ${sum}`)));",
    "void [root, sum, writeNamed];",
  ),
  bug(
    "removal-by-a-command-overlooked",
    FAULT_COMMANDS,
    "src/files/host/upper.ts",
    "if (visible.has(name) || isOwn(gone)) continue;",
    'if (visible.has(name) || isOwn(gone) || gone !== "") continue;',
  ),
  bug(
    "work-of-a-command-taken-back-before-its-plan-is-looked-at",
    KILL_COMMANDS,
    "src/files/host/plans.ts",
    "    let newest: FoundPlan | undefined;",
    "    await this.#ground.execs.recover(async () => {}, async () => {});\n    let newest: FoundPlan | undefined;",
  ),
  bug(
    "new-folder-moved-in-before-its-files",
    FAULT_COMMANDS,
    "src/files/host/new-trees.ts",
    "eachFile(ground, tree, (waiting, here) => port.rename(waiting, here));",
    'if (tree.top === "") eachFile(ground, tree, (waiting, here) => port.rename(waiting, here));',
  ),
];
