import { HoldfastError } from "../../base/errors.ts";
import {
  type AgentReturn,
  agentSessionOf,
  type Holdfast,
  type LookedRewind,
  type RewindTarget,
  type SessionLook,
} from "../../index.ts";

/** What a sub-agent did for a call that goes, and how it goes with it. */
export interface AgentPlan {
  readonly callId: string;
  readonly look: SessionLook;
  readonly target: RewindTarget;
  readonly plan: LookedRewind;
}

/**
 * Sub-agents that worked for calls which are taken back, or were cut off, newest first, and theirs. Their sessions are
 * found by the calls alone: which agents a program declares is not known here, and what they did must not stay unseen.
 */
export async function agentPlans(
  kernel: Holdfast,
  look: SessionLook,
  plan: LookedRewind,
): Promise<readonly AgentPlan[]> {
  if (!plan.scope.includes("files")) return [];
  // The work of a call that failed went with it.
  const stayed = new Set<string>(
    look.boundaries.flatMap(({ callId, status }) => (status === "success" ? [callId] : [])),
  );
  const calls = [...plan.calls.filter((callId) => stayed.has(callId)), ...look.openCalls.map(({ callId }) => callId)];
  const plans: AgentPlan[] = [];
  for (const callId of calls.toReversed()) {
    const child = await lookIfThere(kernel, agentSessionOf(look.id, callId));
    const first = child?.boundaries.find(({ rewound }) => !rewound);
    if (child === undefined || first === undefined) continue;
    const target = { before: first.callId };
    const own = { callId, look: child, target, plan: await child.planRewind(target) };
    plans.push(own, ...(await agentPlans(kernel, child, own.plan)));
  }
  return plans;
}

/** Takes them back. One that refuses is told with its reason, and stops nothing: its session is gone from before. */
export async function rewindAgents(kernel: Holdfast, plans: readonly AgentPlan[]): Promise<readonly AgentReturn[]> {
  const returns: AgentReturn[] = [];
  for (const { callId, look, target } of plans) {
    try {
      const child = await kernel.open(look.id, { create: false });
      try {
        returns.push({ callId, session: look.id, rewound: await child.rewind(target) });
      } finally {
        await child.close();
      }
    } catch (error) {
      if (!HoldfastError.is(error)) throw error;
      returns.push({ callId, session: look.id, why: `${error.code}: ${error.message}` });
    }
  }
  return returns;
}

async function lookIfThere(kernel: Holdfast, id: string): Promise<SessionLook | undefined> {
  try {
    return await kernel.look(id);
  } catch (error) {
    if (HoldfastError.is(error, "SESSION_UNKNOWN")) return undefined;
    throw error;
  }
}
