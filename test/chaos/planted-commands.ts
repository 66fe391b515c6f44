import type { PlantedBug } from "./planted-bug.ts";

type Run = Pick<PlantedBug, "rig" | "args">;

const KILL_COMMANDS: Run = { rig: "kill", args: ["--only", "commands", "--cases", "30"] };
const KILL_FILES: Run = { rig: "kill", args: ["--only", "files", "--cases", "60"] };
const STRAYS: Run = { rig: "strays", args: ["--cases", "36"] };

function bug(name: string, run: Run, file: string, find: string, replace: string): PlantedBug {
  return { name, edits: [{ file, find, replace }], ...run };
}

/** What could be wrong with commands, and with the plans that put their work and everybody else's in place. */
export const COMMAND_BUGS: readonly PlantedBug[] = [
  bug(
    "strays-outlive-their-command",
    STRAYS,
    "src/exec/spawn.ts",
    "const strays = await request.endStrays();",
    "const strays = 0;",
  ),
  bug(
    "strays-known-by-their-environment-alone",
    STRAYS,
    "src/exec/processes.ts",
    " || heldBy(pid).some((one) => holds.has(one));",
    " && holds.size >= 0;",
  ),
  bug(
    "aborted-command-left-to-end-by-itself",
    STRAYS,
    "src/exec/spawn.ts",
    '  endProcess(group, "SIGTERM");\n  await clock.sleep(GRACE_MS, over, "keep-alive").catch(() => {});\n  endProcess(group, "SIGKILL");\n  await endStrays().catch(() => {}); // tried again when the command itself has ended',
    "  await clock.sleep(GRACE_MS, over).catch(() => {});\n  void [group, endStrays, endProcess];",
  ),
  bug(
    "command-in-place-without-a-mark",
    KILL_COMMANDS,
    "src/files/host/in-place.ts",
    "root.inside(place, (folder) => writeNamed(root.port, folder, MARK, Buffer.from(`${id} ${sum}`)));",
    "void [root, sum, writeNamed];",
  ),
  bug(
    "changes-of-the-manifest-not-written-down",
    KILL_COMMANDS,
    "src/files/host/manifest-file.ts",
    "      writeAll(root.port, handle, text, earlier.changes);",
    "      void writeAll;",
  ),
  bug(
    "removal-by-a-command-overlooked",
    KILL_COMMANDS,
    "src/files/host/upper.ts",
    "if (visible.has(name) || isOwn(gone)) continue;",
    'if (visible.has(name) || isOwn(gone) || gone !== "") continue;',
  ),
  bug(
    "work-of-a-command-taken-back-before-its-plan-is-looked-at",
    KILL_COMMANDS,
    "src/files/host/workspace.ts",
    "    for (const { slot, state, intent } of this.#slots.read()) {",
    "    await this.execs.recover(async () => {});\n    for (const { slot, state, intent } of this.#slots.read()) {",
  ),
  bug(
    "new-folder-moved-in-before-its-files",
    KILL_COMMANDS,
    "src/files/host/new-trees.ts",
    "eachFile(ground, tree, (waiting, here) => port.rename(waiting, here));",
    'if (tree.top === "") eachFile(ground, tree, (waiting, here) => port.rename(waiting, here));',
  ),
  bug(
    "old-content-not-kept",
    KILL_FILES,
    "src/files/host/prepare.ts",
    '    throw new HoldfastError("FILE_CONFLICT", { path, found: "changed while it was read" });\n  return [blob];',
    '    throw new HoldfastError("FILE_CONFLICT", { path, found: "changed while it was read" });\n  return [];',
  ),
  bug(
    "plan-taken-for-one-that-is-in-place",
    KILL_FILES,
    "src/files/host/intent.ts",
    'const state = after === `${APPLIED} ${intent.tx}` ? "applied" : "prepared";',
    'const state: SlotState = after === undefined ? "prepared" : "applied";',
  ),
  bug(
    "second-attempt-does-not-look-what-is-done",
    KILL_FILES,
    "src/files/host/workspace.ts",
    "this.#stuck = { intent, slot, again: true };",
    "this.#stuck = { intent, slot };",
  ),
];
