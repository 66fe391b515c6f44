import { HoldfastError } from "../../base/errors.ts";
import type { CommandBody } from "../command.ts";
import { flagOf, sessionIn, STORE_OPTION, usage, WORKSPACE_OPTION } from "../options.ts";
import { inStore, kernelOn, lookIn, lookingAt, workspaceFor } from "../session/place.ts";
import { count } from "../words.ts";

export const deleteCommand: CommandBody = {
  usage: "holdfast delete SESSION --yes | --dry-run [--workspace DIR | --folder-gone] [--store FILE]",
  examples: [
    "holdfast delete rename-foo --dry-run    what would go",
    "holdfast delete rename-foo --yes        for good; `holdfast gc` then gives its space back",
  ],
  options: {
    "dry-run": { type: "boolean", help: "say what would go and delete nothing" },
    yes: { type: "boolean", help: "really: there is no way back" },
    "folder-gone": {
      type: "boolean",
      help: "its folder is not there any more, so nothing is put in place in it first",
    },
    workspace: WORKSPACE_OPTION,
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const dryRun = flagOf(parsed, "dry-run");
    if (!dryRun && !flagOf(parsed, "yes")) throw usage("--yes", "there is no way back; say --yes, or --dry-run to see");
    return (dryRun ? lookingAt : inStore)(parsed, terminal, async (place) => {
      const look = await lookIn(place, await kernelOn(place), id);
      const folder = flagOf(parsed, "folder-gone") ? undefined : workspaceFor(place, await look.binding());
      const holdfast = await kernelOn(place, folder);
      const deleted = await holdfast.delete(id, { dryRun }).catch((error: unknown) => {
        if (!HoldfastError.is(error, "WORKSPACE_FOREIGN") && !HoldfastError.is(error, "WORKSPACE_UNUSABLE"))
          throw error;
        throw usage(
          "--workspace",
          `name the folder that ${id} works in, or say --folder-gone when there is none any more`,
        );
      });
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, dryRun, ...deleted }));
      else {
        const stay = deleted.shared === 0 ? "" : `; ${count(deleted.shared, "record")} stay, because forks share them`;
        terminal.out(`${dryRun ? "would delete" : "deleted"} ${id} with ${count(deleted.records, "record")}${stay}`);
      }
      return 0;
    });
  },
};
