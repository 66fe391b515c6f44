import { HoldfastError } from "../base/errors.ts";
import { unlessAborted } from "../base/unless-aborted.ts";
import type { JsonObject } from "../base/json.ts";
import type { Aside } from "../contracts/aside.ts";
import type { Usage } from "../contracts/model.ts";
import type { Ground } from "./ground.ts";
import { RunBudget } from "./limits.ts";

/** Why a model is asked beside the conversation: to shorten a text, or to summarise. */
export type AsidePurpose = "compress" | "summarise";

/**
 * Runs a question to a model beside the conversation. Its usage counts against the turn and is reported, whatever comes
 * of it. It ends with the signal at the latest; what arrives after that is ignored.
 */
export async function aside<T>(
  ground: Ground,
  about: { readonly purpose: AsidePurpose; readonly name: string; readonly signal: AbortSignal },
  work: (aside: Aside) => Promise<T>,
): Promise<T> {
  const { teller, state, within } = ground;
  const { purpose, name, signal } = about;
  const budget = within?.budget ?? new RunBudget({}, state);
  const begun = state.clock.monotonic();
  let told: { readonly usage: Usage; readonly model: string } | undefined;
  let isOver = false;
  const used: Aside["used"] = (usage, model) => {
    if (isOver) return;
    told = { usage, model };
    budget.use(`${ground.id} ${purpose} ${name}`, usage, model);
  };
  let failure: JsonObject = {};
  try {
    const stopped = (): never => {
      throw signal.reason;
    };
    return await unlessAborted(signal, () => work({ signal, used }), stopped);
  } catch (error) {
    failure = { failure: HoldfastError.is(error) ? error.code : "thrown" };
    throw error;
  } finally {
    isOver = true;
    const spent = told === undefined ? {} : { model: told.model, usage: { ...told.usage } };
    // A summary that is made without a model is no question to one.
    if (told !== undefined || "failure" in failure)
      teller?.moment("aside-over", { purpose, ...spent, ...failure, elapsedMs: state.clock.monotonic() - begun });
  }
}
