import type { ModelFailure, ModelFailureKind } from "../../contracts/model.ts";
import type { ScriptedFault } from "../../records/script.ts";
import { failureOfKind } from "../failure.ts";

/** A fault of the script on its way to becoming a failure. */
export class ScriptedFailure extends Error {
  readonly fault: ScriptedFault;

  constructor(fault: ScriptedFault) {
    super(`The script says: ${fault.fault}.`);
    this.fault = fault;
  }
}

/** A closed line looks different before and after the first word. */
export function failureOf(thrown: unknown, begun: boolean): ModelFailure {
  if (!(thrown instanceof ScriptedFailure)) return failureOfKind("unreadable", String(thrown), begun);
  const { fault, retryAfter } = thrown.fault;
  const kind: ModelFailureKind =
    fault === "hang-up" ? (begun ? "cut" : "unreachable") : fault === "silent" ? "timed-out" : fault;
  const failure = failureOfKind(kind, thrown.message, begun);
  return retryAfter === undefined ? failure : { ...failure, retryAfterMs: retryAfter * 1000 };
}
