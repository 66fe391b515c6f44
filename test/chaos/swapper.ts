/**
 * Swaps a folder of the workspace for a link that leads out, and back, as fast as it can; and moves it out of the
 * workspace, and back.
 *
 *   node swapper.ts '{"root": …, "outside": …}'
 */
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const { root, outside } = JSON.parse(process.argv[2] ?? "{}") as { readonly root: string; readonly outside: string };
const [folder, aside] = [join(root, "dir"), join(root, "dir-aside")];
// Made once: to make a link takes longer than the moment in which somebody could be caught.
const links = [join(root, "link-out"), join(root, "link-up")] as const;
symlinkSync(outside, links[0]);
symlinkSync("../outside", links[1]);

for (let turn = 0; ; turn += 1) {
  const link = links[turn % 2 === 0 ? 0 : 1];
  try {
    if (turn % 8 === 7) {
      renameSync(folder, join(outside, "carried"));
      renameSync(join(outside, "carried"), folder);
      continue;
    }
    renameSync(folder, aside);
    renameSync(link, folder);
    renameSync(folder, link);
    renameSync(aside, folder);
  } catch (error) {
    // The workspace's owner has made the folder anew in the gap: theirs is the one to swap from now on.
    if (!["EEXIST", "ENOTEMPTY", "ENOENT", "EISDIR", "EPERM", "ENOTDIR"].includes(codeOf(error))) throw error;
    rmSync(aside, { recursive: true, force: true }); // or nothing would ever be swapped again
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}
