import { type Discarded, type Ending, endingOfThrown } from "./ending.ts";
import type { CallWorld } from "./call-world.ts";
import type { OpenCall } from "./open-call.ts";

/** Attempts of one logical call, until its tool's validators accept a result or the tool has had its attempts. */
export async function attemptUntilAccepted(world: CallWorld, open: OpenCall): Promise<Ending> {
  for (;;) {
    const ending = await open.attempt();
    if (ending.kind !== "rejected") return ending;
    open.refused.push({ attempt: open.attempts, reason: ending.kind, message: ending.message });
    if (ending.final || open.refused.length >= open.tool.attempts) return ending;
    const instead = await whyNotAgain(world, open, ending);
    if (instead !== undefined) return instead;
  }
}

/**
 * Takes back what an attempt has done to what cannot branch, so that there can be another. Answers how the call ends when that
 * cannot be: over children that are not taken back, it would do their work twice.
 */
export async function whyNotAgain(world: CallWorld, open: OpenCall, ending: Discarded): Promise<Discarded | undefined> {
  const refused = await putBack(world, open);
  if (refused !== undefined) return refused;
  const stuck = await open.children.rewind();
  if (stuck.length === 0) return undefined;
  return { ...ending, message: `${ending.message} Not taken back: ${stuck.join("; ")}.` };
}

/**
 * Its resources as they were; undefined when it has none, as for most calls. Whatever stops that, some are put back and some
 * are not, and nothing more is built on them.
 */
export function putBack(world: CallWorld, open: OpenCall): Promise<Discarded | undefined> | undefined {
  return world.state.exclusive.isHeldBy(open.call.id) ? puttingBack(world, open) : undefined;
}

async function puttingBack({ state }: CallWorld, open: OpenCall): Promise<Discarded | undefined> {
  try {
    await state.exclusive.putBack(open.call.id);
    return undefined;
  } catch (error) {
    state.truth.poison(error);
    return endingOfThrown(error);
  }
}
