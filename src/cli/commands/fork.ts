import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { toSessionId } from "../../index.ts";
import type { CommandBody, Parsed } from "../command.ts";
import { flagOf, sessionIn, STORE_OPTION, textOf, usage } from "../options.ts";
import { targetIn } from "../session/calls.ts";
import { inStore, kernelOn, lookIn, lookingAt, workspaceFor } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { wrapped } from "../wrap.ts";

export const fork: CommandBody = {
  usage: "holdfast fork SESSION --before CALL | --after CALL --as NAME [--workspace DIR | --memory] [--dry-run]",
  examples: [
    "holdfast fork rename-foo --after ab12 --as again --workspace ../again",
    "holdfast fork rename-foo --before last --as other-way --memory",
    "holdfast fork rename-foo --after last --as look-only    files to read only",
  ],
  options: {
    before: { type: "string", value: "CALL", help: "start from before this call; an id, its beginning, or `last`" },
    after: { type: "string", value: "CALL", help: "start from after this call" },
    as: { type: "string", value: "NAME", help: "the new session's id" },
    workspace: { type: "string", value: "DIR", help: "copy the files, as they were, to this new folder" },
    memory: { type: "boolean", help: "keep the new session's files beside the journal, never on the disk" },
    from: { type: "string", value: "DIR", help: "the session's working folder (default: this one)" },
    "dry-run": { type: "boolean", help: "say where the fork would begin, and make nothing" },
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const as = toSessionId(asked(parsed));
    const json = flagOf(parsed, "json");
    // Here `--workspace` is the fork's folder; where the session itself lies is `--from`.
    const origin = { ...parsed, values: { ...parsed.values, workspace: parsed.values["from"] } };
    const dryRun = flagOf(parsed, "dry-run");
    return (dryRun ? lookingAt : inStore)(origin, terminal, async (place) => {
      const look = await lookIn(place, await kernelOn(place), id);
      const skipped = await look.skippedChanges();
      if (skipped.length > 0) throw new HoldfastError("SESSION_NOT_FOLLOWED", { session: id, records: [...skipped] });
      const binding = await look.binding();
      const workspace = workspaceIn(parsed, terminal.cwd, binding !== undefined);
      const target = targetIn(parsed, look);
      const after = await look.placeOf(target);
      const mode = await look.mode();
      const said = { ok: true, session: as, from: id, after, mode, ...(workspace === undefined ? {} : { workspace }) };
      if (dryRun) {
        if (json) terminal.out(JSON.stringify({ ...said, done: false }));
        else terminal.out(`would fork ${id} after record ${after} as ${as}; nothing was made`);
        return 0;
      }
      const holdfast = await kernelOn(place, workspaceFor(place, binding));
      const session = await whileSaying(
        terminal,
        () => "forking",
        () => holdfast.fork(id, { as, after, ...(workspace === undefined ? {} : { workspace }) }),
      );
      try {
        // The boundary may be older than the mode: going on from it must not open anything up.
        if (mode === "plan") await session.setMode("plan", "it was forked from a session in plan mode");
        if (json) terminal.out(JSON.stringify({ ...said, done: true, recovered: session.recovered }));
        else
          for (const line of told(as, id, after, workspace, binding !== undefined))
            for (const one of wrapped(line, terminal.columns)) terminal.out(one);
      } finally {
        await session.close();
      }
      return 0;
    });
  },
};

function asked(parsed: Parsed): string {
  const as = textOf(parsed, "as");
  if (as === undefined) throw usage("--as", "give the new session a name: --as NAME");
  return as;
}

/** Where its files are to lie. A folder that holds something is somebody's. */
function workspaceIn(parsed: Parsed, cwd: string, hasFiles: boolean): string | undefined {
  const given = textOf(parsed, "workspace");
  const memory = flagOf(parsed, "memory");
  if (given !== undefined && memory) throw usage("--memory", "choose one of --workspace and --memory");
  if ((given !== undefined || memory) && !hasFiles)
    throw usage(
      memory ? "--memory" : "--workspace",
      "the session works in no folder; its files are in the store already",
    );
  if (given === undefined) return memory ? "memory" : undefined;
  const folder = resolve(cwd, given);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw usage("--workspace", `${folder} is not empty`);
  return folder;
}

function told(
  as: string,
  from: string,
  after: number,
  workspace: string | undefined,
  hasFiles: boolean,
): readonly string[] {
  const files = !hasFiles
    ? []
    : workspace === undefined
      ? ["its files can be read and not changed; give --workspace DIR or --memory to change them"]
      : [workspace === "memory" ? "its files lie beside the journal" : `its files lie in ${workspace}`];
  return [`forked ${from} after record ${after} as ${as}`, ...files];
}
