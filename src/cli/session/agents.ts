import { HoldfastError } from "../../base/errors.ts";
import { agentSessionOf, type Holdfast, type LookedRewind, type SessionLook } from "../../index.ts";

/** What a sub-agent did for a call that goes, and how it goes with it. */
export interface AgentPlan {
  readonly callId: string;
  readonly look: SessionLook;
  readonly plan: LookedRewind;
  /** Those that worked for it in turn. */
  readonly inner: readonly AgentPlan[];
}

/**
 * Sub-agents that worked for calls which are taken back, or were cut off, newest first. Their sessions are
 * found by the calls alone: which agents a program declares is not known here, and what they did must not stay unseen.
 */
export async function agentPlans(
  kernel: Holdfast,
  look: SessionLook,
  plan: LookedRewind,
): Promise<readonly AgentPlan[]> {
  if (!plan.scope.includes("files")) return [];
  // The work of a call that failed went with it; that of one whose state alone was taken back before stands.
  const stayed = look.boundaries.filter(({ status, after }) => status === "success" && after > plan.to);
  const calls = [...stayed.map(({ callId }) => callId), ...look.openCalls.map(({ callId }) => callId)];
  const plans: AgentPlan[] = [];
  for (const callId of calls.toReversed()) {
    const child = await lookIfThere(kernel, agentSessionOf(look.id, callId));
    const first = child?.boundaries.find(({ rewound }) => !rewound);
    if (child === undefined || first === undefined) continue;
    const own = await child.planRewind({ before: first.callId });
    plans.push({ callId, look: child, plan: own, inner: await agentPlans(kernel, child, own) });
  }
  return plans;
}

/** Everything that goes with a plan, in one list. */
export function everyPlan(plans: readonly AgentPlan[]): readonly AgentPlan[] {
  return plans.flatMap((one) => [one, ...everyPlan(one.inner)]);
}

/** As the rewind itself reports it. */
export function withAgents(plan: LookedRewind, agents: readonly AgentPlan[]): LookedRewind {
  if (agents.length === 0) return plan;
  const told = agents.map(({ callId, look, plan: own, inner }) => ({
    callId,
    session: look.id,
    rewound: withAgents(own, inner),
  }));
  return { ...plan, agents: told };
}

async function lookIfThere(kernel: Holdfast, id: string): Promise<SessionLook | undefined> {
  try {
    return await kernel.look(id);
  } catch (error) {
    if (HoldfastError.is(error, "SESSION_UNKNOWN")) return undefined;
    throw error;
  }
}
