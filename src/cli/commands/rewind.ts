import { HoldfastError } from "../../base/errors.ts";
import type { LookedRewind, Recovered, RewindScope, SessionLook } from "../../index.ts";
import type { CommandBody, Parsed } from "../command.ts";
import { flagOf, sessionIn, STORE_OPTION, textOf, usage, WORKSPACE_OPTION } from "../options.ts";
import { targetIn } from "../session/calls.ts";
import { inStore, kernelOn, lookIn, type Place, workspaceFor } from "../session/place.ts";
import { rewindLines } from "../session/rewind-text.ts";
import { whileSaying } from "../session/waiting.ts";

const SCOPES: readonly RewindScope[] = ["state", "files", "conversation"];

export const rewind: CommandBody = {
  usage: "holdfast rewind SESSION --before CALL | --after CALL [--scope S] [--dry-run] [--workspace DIR]",
  examples: [
    "holdfast rewind rename-foo --before ab12cd34 --dry-run   what would happen",
    "holdfast rewind rename-foo --before last",
    "holdfast rewind rename-foo --after ab12cd34 --scope files,conversation",
  ],
  options: {
    before: { type: "string", value: "CALL", help: "as it was before this call; an id, its beginning, or `last`" },
    after: { type: "string", value: "CALL", help: "as it was after this call" },
    scope: { type: "string", value: "S", help: `only these, with commas: ${SCOPES.join(", ")} (default all)` },
    "dry-run": { type: "boolean", help: "say exactly what would happen and change nothing" },
    "leave-effects": { type: "boolean", help: "go back although something outside stays as it is" },
    workspace: WORKSPACE_OPTION,
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const scope = scopeIn(parsed);
    const dryRun = flagOf(parsed, "dry-run");
    const json = flagOf(parsed, "json");
    return inStore(parsed, terminal, async (place) => {
      const { look, plan } = await planned(parsed, place, id, scope);
      if (dryRun) {
        if (json)
          terminal.out(
            JSON.stringify({ ok: true, session: id, ...plan, closesFirst: look.openCalls, undoing: look.undoing }),
          );
        else for (const line of rewindLines(terminal, look, plan)) terminal.out(line);
        return 0;
      }
      refuseEffects(plan, look, flagOf(parsed, "leave-effects"));
      const { report, recovered } = await whileSaying(
        terminal,
        () => "rewinding",
        () => rewound(parsed, place, look, scope),
      );
      if (json) terminal.out(JSON.stringify({ ok: true, session: id, ...report, recovered }));
      else for (const line of rewindLines(terminal, look, report, { recovered })) terminal.out(line);
      return (report.files?.unlike.length ?? 0) > 0 ? 1 : 0;
    });
  },
};

/** Planned without taking the session: whoever is writing it goes on. */
async function planned(
  parsed: Parsed,
  place: Place,
  id: string,
  scope: readonly RewindScope[],
): Promise<{ readonly look: SessionLook; readonly plan: LookedRewind }> {
  const first = await lookIn(place, await kernelOn(place), id);
  const workspace = scope.includes("files") ? workspaceFor(place, await first.binding()) : undefined;
  const look = workspace === undefined ? first : await (await kernelOn(place, workspace)).look(id);
  return { look, plan: await look.planRewind({ ...targetIn(parsed, look), scope }) };
}

async function rewound(parsed: Parsed, place: Place, look: SessionLook, scope: readonly RewindScope[]) {
  const holdfast = await kernelOn(place, workspaceFor(place, await look.binding()));
  const session = await holdfast.open(look.id, { create: false });
  try {
    const report = await session.rewind({ ...targetIn(parsed, look), scope });
    return { report, recovered: session.recovered satisfies Recovered };
  } finally {
    await session.close();
  }
}

/** This process has nobody's tools, so it can undo nothing; what it leaves is left knowingly. */
function refuseEffects({ effects }: LookedRewind, { undoing }: SessionLook, leave: boolean): void {
  const standing = [...effects.filter(({ is }) => is === "happened" || is === "unknown"), ...undoing];
  if (leave || standing.length === 0) return;
  const left = standing.map(({ tool, name, key, is }) => ({ tool, name, key, is }));
  throw new HoldfastError("EFFECTS_STAND", { effects: left });
}

function scopeIn(parsed: Parsed): readonly RewindScope[] {
  const text = textOf(parsed, "scope");
  if (text === undefined || text === "all") return SCOPES;
  const words = text.split(",").map((word) => word.trim());
  const odd = words.find((word) => !SCOPES.some((scope) => scope === word));
  if (odd !== undefined) throw usage("--scope", `there is no ${odd}; give some of ${SCOPES.join(", ")}`);
  return SCOPES.filter((scope) => words.includes(scope));
}
