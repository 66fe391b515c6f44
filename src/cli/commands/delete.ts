import { existsSync } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import type { GivenUp, SessionLook, WorkspaceBinding } from "../../index.ts";
import { memoryStore } from "../../stores/memory/entry.ts";
import type { CommandBody, ExitCode, Parsed, Terminal } from "../command.ts";
import { readConfig } from "../config/config.ts";
import { flagOf, sessionIn, STORE_OPTION, usage, WORKSPACE_OPTION } from "../options.ts";
import { inStore, kernelOn, lookIn, lookingAt, type Place, unknownIn, workspaceFor } from "../session/place.ts";
import { count } from "../words.ts";

export const deleteCommand: CommandBody = {
  usage:
    "holdfast delete SESSION --yes | --dry-run [--workspace DIR] [--folder-gone | --store-gone | --damaged] [--store FILE]",
  examples: [
    "holdfast delete rename-foo --dry-run              what would go",
    "holdfast delete rename-foo --yes                  for good; `holdfast gc` then frees its space",
    "holdfast delete rename-foo --damaged --dry-run    what is wrong with one that cannot be read",
  ],
  options: {
    "dry-run": { type: "boolean", help: "say what would be deleted, and delete nothing" },
    yes: { type: "boolean", help: "really delete: there is no way back" },
    "folder-gone": {
      type: "boolean",
      help: "its folder no longer exists, so do not put pending files in place first",
    },
    "store-gone": {
      type: "boolean",
      help: "its store no longer exists: give up the change that it left unfinished in the folder",
    },
    damaged: {
      type: "boolean",
      help: "it can be neither read nor repaired: give it up, so that gc works again",
    },
    workspace: WORKSPACE_OPTION,
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const dryRun = flagOf(parsed, "dry-run");
    if (!dryRun && !flagOf(parsed, "yes"))
      throw usage("--yes", "there is no way back: pass --yes to delete it, or --dry-run to see what would go");
    const inPlace = dryRun ? lookingAt : inStore;
    if (flagOf(parsed, "damaged"))
      return inPlace(parsed, terminal, (place) => forget(place, parsed, terminal, { id, dryRun }));
    if (flagOf(parsed, "store-gone")) return giveUp(parsed, terminal, { id, dryRun });
    return inPlace(parsed, terminal, async (place) => {
      const look = await lookIn(place, await kernelOn(place), id);
      const folder = flagOf(parsed, "folder-gone") ? undefined : workspaceFor(place, await bindingOf(look));
      const holdfast = await kernelOn(place, folder);
      const deleted = await holdfast.delete(id, { dryRun }).catch((error: unknown) => {
        if (!HoldfastError.is(error, "WORKSPACE_FOREIGN") && !HoldfastError.is(error, "WORKSPACE_UNUSABLE"))
          throw error;
        throw usage("--workspace", `name the folder that ${id} works in, or pass --folder-gone if it no longer exists`);
      });
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, dryRun, ...deleted }));
      else {
        const stay =
          deleted.shared === 0 ? "" : `; ${count(deleted.shared, "record")} stay, because other sessions share them`;
        terminal.out(`${dryRun ? "would delete" : "deleted"} ${id} with ${count(deleted.records, "record")}${stay}`);
      }
      return 0;
    });
  },
};

/** One whose state is lost says nothing of a folder any more, and is to go all the same. */
async function bindingOf(look: SessionLook): Promise<WorkspaceBinding | undefined> {
  try {
    return await look.binding();
  } catch (error) {
    if (!LOST.some((code) => HoldfastError.is(error, code))) throw error;
    return undefined;
  }
}

const LOST = ["SESSION_DAMAGED", "BLOB_MISSING", "BLOB_CORRUPT"] as const;

/** What a session has left in a folder, whose own store is not the one that is opened here. */
async function giveUp(
  parsed: Parsed,
  terminal: Terminal,
  { id, dryRun }: { readonly id: string; readonly dryRun: boolean },
): Promise<ExitCode> {
  const work = async (place: Pick<Place, "config" | "store">): Promise<ExitCode> => {
    const workspace = String(place.config.values.workspace);
    const found = await (await kernelOn(place, workspace)).forgetUnfinished(id, { dryRun });
    if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, dryRun, ...found }));
    else for (const line of told(found, workspace, dryRun)) terminal.out(line);
    return 0;
  };
  if (!dryRun) return inStore(parsed, terminal, work, { makes: true });
  const config = await readConfig(parsed, terminal);
  // Its store is gone: where there is no other one yet, a dry run makes none.
  if (!existsSync(String(config.values.store))) return work({ config, store: memoryStore() });
  return lookingAt(parsed, terminal, work);
}

function told({ session, paths }: GivenUp, workspace: string, dryRun: boolean): readonly string[] {
  if (paths.length === 0) return [`nothing of ${session} waits in ${workspace}`];
  const lines = paths.map(({ path, kept }) =>
    kept === undefined
      ? `  ${path}: as it is now`
      : `  ${path}: as it is now; its new content ${dryRun ? "would be" : "is"} in .holdfast/workspace/rescue/${kept}`,
  );
  return [`${dryRun ? "would give up" : "gave up"} a change of ${count(paths.length, "path")} by ${session}`, ...lines];
}

/** Whoever gives up a session should know first what it costs, and that most of it can still be saved. */
async function forget(
  place: Place,
  parsed: Parsed,
  terminal: Terminal,
  { id, dryRun }: { readonly id: string; readonly dryRun: boolean },
): Promise<ExitCode> {
  const holdfast = await kernelOn(place);
  const forgotten = await holdfast.forgetDamaged(id, { dryRun }).catch(async (error: unknown) => {
    throw HoldfastError.is(error, "SESSION_UNKNOWN") ? await unknownIn(place, holdfast, id) : error;
  });
  if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, dryRun, ...forgotten }));
  else {
    terminal.out(`${dryRun ? "would give up" : "gave up"} ${id}: ${forgotten.damaged}`);
    terminal.out("its records go with the next `holdfast gc`, except those that other sessions share");
    terminal.out("until then `holdfast verify --salvage FILE` saves every record that proves itself");
  }
  return 0;
}
