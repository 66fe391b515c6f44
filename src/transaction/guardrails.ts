import { type Ending, endingOfThrown } from "./ending.ts";
import type { CallWorld } from "./call-world.ts";
import type { OpenCall } from "./open-call.ts";

/** Attempts of one logical call, until its tool's validators accept a result or the tool has had its attempts. */
export async function attemptUntilAccepted(world: CallWorld, open: OpenCall): Promise<Ending> {
  for (;;) {
    const ending = await open.attempt();
    if (ending.kind !== "rejected") return ending;
    open.refused.push({ attempt: open.attempts, reason: ending.kind, message: ending.message });
    if (ending.final || open.refused.length >= open.tool.attempts) return ending;
    try {
      await world.state.exclusive.putBack(open.call.id);
    } catch (error) {
      world.state.truth.poison(error);
      return endingOfThrown(error);
    }
    const stuck = await open.children.rewind();
    if (stuck.length > 0) return notOver(stuck, ending);
  }
}

/** A call is not run again over children that cannot be taken back: they would do their work twice. */
export function notOver<End extends { readonly message: string }>(stuck: readonly string[], ending: End): End {
  return { ...ending, message: `${ending.message} Not taken back: ${stuck.join("; ")}.` };
}
