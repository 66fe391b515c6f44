import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { type BundleSource, type Holdfast, toSessionId, verifyBundle } from "../../index.ts";
import { bundleAt } from "../bundle/file.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { readConfig } from "../config/config.ts";
import { untilInterrupted } from "../interrupted.ts";
import { flagOf, STORE_OPTION, textOf, usage } from "../options.ts";
import { inStore, kernelOn, lookingAt, type Place } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { count } from "../words.ts";

export const importCommand: CommandBody = {
  usage: "holdfast import BUNDLE [--as NAME] [--dry-run] [--store FILE]",
  examples: [
    "holdfast import rename-foo.bundle.tar --dry-run        whether it can be imported, and under what name",
    "holdfast import rename-foo.bundle.tar --as theirs",
    "holdfast show theirs",
  ],
  options: {
    as: { type: "string", value: "NAME", help: "the session's new id (default: the id it had)" },
    "dry-run": { type: "boolean", help: "check the file and say what would be imported; import nothing" },
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const [path, surplus] = parsed.positionals;
    if (path === undefined || surplus !== undefined)
      throw usage("BUNDLE", "name one file that `holdfast export` wrote");
    const bundle = bundleAt(resolve(terminal.cwd, path));
    const as = textOf(parsed, "as");
    const json = flagOf(parsed, "json");
    const isFirst = !existsSync(String((await readConfig(parsed, terminal)).values.store));
    if (flagOf(parsed, "dry-run")) {
      const judged = await verifyBundle(bundle);
      if (isFirst) return plan(undefined, judged, as, json, terminal); // the import makes the store
      return lookingAt(parsed, terminal, async (place) => plan(await kernelOn(place), judged, as, json, terminal));
    }
    if (isFirst) await mustBeImportable(bundle, as);
    const take = async (place: Place): Promise<ExitCode> => {
      const holdfast = await kernelOn(place);
      const { signal } = place;
      const taken = await whileSaying(
        terminal,
        () => "importing",
        () => holdfast.importBundle(bundle, { signal, ...(as === undefined ? {} : { as }) }),
      );
      const left = taken.left === 0 ? "" : `, without ${count(taken.left, "blob")} that stayed behind`;
      if (json) terminal.out(JSON.stringify(taken));
      else
        terminal.out(
          `${taken.as}: ${count(taken.records, "record")} imported${left}; try \`holdfast show ${taken.as}\``,
        );
      return 0;
    };
    return inStore(parsed, terminal, take, { tidies: true, makes: true });
  },
};

/** Or a store would be made for nothing, and be taken for one whose sessions are gone. */
async function mustBeImportable(bundle: BundleSource, as: string | undefined): Promise<void> {
  const { ok, faults, session } = await untilInterrupted(() => verifyBundle(bundle));
  if (!ok) throw new HoldfastError("BUNDLE_DAMAGED", { faults: faults.slice(0, 5) });
  toSessionId(as ?? session);
}

type Judged = Awaited<ReturnType<typeof verifyBundle>>;

/** The same refusals as the import itself, and nothing taken in. */
async function plan(
  holdfast: Holdfast | undefined,
  { ok, session, records, faults }: Judged,
  as: string | undefined,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const name = toSessionId(as ?? session);
  for await (const { id } of holdfast?.sessions() ?? [])
    if (id === name) throw new HoldfastError("SESSION_EXISTS", { session: name });
  if (json) terminal.out(JSON.stringify({ ok, done: false, as: name, records, faults }));
  else if (ok) terminal.out(`would import ${count(records, "record")} as ${name}; nothing was imported`);
  else for (const fault of faults) terminal.out(fault);
  return ok ? 0 : 1;
}
