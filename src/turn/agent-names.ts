import { sha256 } from "../base/hash.ts";
import { CHECKPOINT_LIMIT } from "../state/checkpoints.ts";

/**
 * The id of the session in which a sub-agent works for this call. Derived from the call, so a later process finds it.
 */
export function agentSessionOf(session: string, callId: string): string {
  return `${beginningFor(session)}${sha256(`${session} ${callId}`).slice(0, 24)}`;
}

/** Whether a session can be one that a sub-agent of the other left, by its name. */
export function isAgentSessionOf(session: string, other: string): boolean {
  return other.startsWith(beginningFor(session));
}

/** How many boundaries a session keeps. A sub-agent's is taken back as a whole, however long it worked, so it keeps all. */
export function boundariesKept(session: string, limit: number = CHECKPOINT_LIMIT): number {
  return AGENT_SESSION.test(session) ? Number.POSITIVE_INFINITY : limit;
}

const AGENT_SESSION = /\.agent-[0-9a-f]{24}$/;

function beginningFor(session: string): string {
  return `${session.slice(0, 120)}.agent-`;
}
