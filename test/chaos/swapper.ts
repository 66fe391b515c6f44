/**
 * Swaps a folder of the workspace for a link that leads out, and back, as fast as it can; and moves it out of the
 * workspace, and back.
 *
 *   node swapper.ts '{"root": …, "outside": …}'
 */
import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const { root, outside } = JSON.parse(process.argv[2] ?? "{}") as { readonly root: string; readonly outside: string };
const [folder, aside] = [join(root, "dir"), join(root, "dir-aside")];

for (let turn = 0; ; turn += 1) {
  try {
    if (turn % 8 === 7) {
      renameSync(folder, join(outside, "carried"));
      renameSync(join(outside, "carried"), folder);
      continue;
    }
    renameSync(folder, aside);
    symlinkSync(turn % 2 === 0 ? outside : "../outside", folder);
    unlinkSync(folder);
    renameSync(aside, folder);
  } catch (error) {
    // The workspace's owner has made the folder anew in the gap: theirs is the one to swap from now on.
    if (!["EEXIST", "ENOTEMPTY", "ENOENT", "EISDIR", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}
