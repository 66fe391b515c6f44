import { HoldfastError } from "../../base/errors.ts";
import type {
  EffectReport,
  Holdfast,
  LookedRewind,
  Recovered,
  RewindOptions,
  RewindReport,
  RewindScope,
  SessionLook,
} from "../../index.ts";
import type { CommandBody, Parsed } from "../command.ts";
import { flagOf, sessionIn, STORE_OPTION, textOf, usage, WORKSPACE_OPTION } from "../options.ts";
import { type AgentPlan, agentPlans, everyPlan, withAgents } from "../session/agents.ts";
import { targetIn } from "../session/calls.ts";
import { inStore, kernelOn, lookIn, lookingAt, type Place, workspaceFor } from "../session/place.ts";
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
    before: { type: "string", value: "CALL", help: "go back to before this call; an id, its beginning, or `last`" },
    after: { type: "string", value: "CALL", help: "go back to after this call" },
    scope: { type: "string", value: "S", help: `only these, separated by commas: ${SCOPES.join(", ")} (default all)` },
    "dry-run": { type: "boolean", help: "say exactly what would happen, and change nothing" },
    "leave-effects": { type: "boolean", help: "go back even though effects outside stay as they are" },
    workspace: WORKSPACE_OPTION,
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const scope = scopeIn(parsed);
    const dryRun = flagOf(parsed, "dry-run");
    const json = flagOf(parsed, "json");
    return (dryRun ? lookingAt : inStore)(parsed, terminal, async (place) => {
      const { kernel, look, plan, agents } = await planned(parsed, place, id, scope);
      if (dryRun) {
        const whole = withAgents(plan, agents);
        const { openCalls: closesFirst, undoing } = look;
        if (json) terminal.out(JSON.stringify({ ok: true, session: id, ...whole, closesFirst, undoing }));
        else for (const line of rewindLines(terminal, look, whole)) terminal.out(line);
        return 0;
      }
      const leave = flagOf(parsed, "leave-effects");
      for (const one of [{ look, plan }, ...everyPlan(agents)])
        refuseEffects(one.plan.effects, one.look.undoing, leave);
      const { report, recovered } = await whileSaying(
        terminal,
        () => "rewinding",
        () => rewound(kernel, look, { ...targetIn(parsed, look), scope }, leave),
      );
      if (json) terminal.out(JSON.stringify({ ok: true, session: id, ...report, recovered }));
      else for (const line of rewindLines(terminal, look, report, { recovered })) terminal.out(line);
      const unlike = [report, ...(report.agents ?? []).flatMap((one) => one.rewound ?? [])].flatMap(
        ({ files }) => files?.unlike ?? [],
      );
      return unlike.length > 0 || report.agents?.some(({ why }) => why !== undefined) === true ? 1 : 0;
    });
  },
};

interface Planned {
  readonly kernel: Holdfast;
  readonly look: SessionLook;
  readonly plan: LookedRewind;
  readonly agents: readonly AgentPlan[];
}

/** Planned without taking the session: whoever is writing it goes on. */
async function planned(parsed: Parsed, place: Place, id: string, scope: readonly RewindScope[]): Promise<Planned> {
  const bare = await kernelOn(place);
  const first = await lookIn(place, bare, id);
  const workspace = scope.includes("files") ? workspaceFor(place, await first.binding()) : undefined;
  const kernel = workspace === undefined ? bare : await kernelOn(place, workspace);
  const look = workspace === undefined ? first : await kernel.look(id);
  const plan = await look.planRewind({ ...targetIn(parsed, look), scope });
  return { kernel, look, plan, agents: await agentPlans(kernel, look, plan) };
}

async function rewound(
  kernel: Holdfast,
  look: SessionLook,
  target: RewindOptions,
  leave: boolean,
): Promise<{ readonly report: RewindReport; readonly recovered: Recovered }> {
  const session = await kernel.open(look.id, { create: false });
  try {
    // It may have gone on since it was looked at; from here on nobody else writes it.
    refuseEffects((await session.rewind({ ...target, dryRun: true })).effects, [], leave);
    return { report: await session.rewind(target), recovered: session.recovered };
  } finally {
    await session.close();
  }
}

/** This process has nobody's tools, so it can undo nothing; what it leaves is left knowingly. */
function refuseEffects(effects: readonly EffectReport[], undoing: readonly EffectReport[], leave: boolean): void {
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
