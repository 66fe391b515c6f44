import { HoldfastError } from "../base/errors.ts";
import { checkWire, type WireFault } from "../wire/check.ts";
import type { WireProfile } from "../wire/profiles.ts";

/** What is checked: the conversation and the tools as written, under these names, whatever the provider calls them. */
export interface Sendable {
  readonly messages: readonly object[];
  readonly tools?: readonly object[];
}

/** Throws if the provider would refuse a request. A refusal by the provider costs a round trip and says less. */
export function mustBeSendable(request: Sendable, profile: WireProfile): void {
  if (request.messages.length === 0) {
    throw new HoldfastError("REQUEST_MALFORMED", { profile: profile.id, detail: "there is nothing to send" });
  }
  const faults = checkWire(request, profile).filter(isRefusal);
  const [first] = faults;
  if (first === undefined) return;
  const { rule, at, detail, error } = first;
  throw new HoldfastError(
    "REQUEST_MALFORMED",
    { profile: profile.id, rule, at, detail, error, faults: faults.length },
    { cause: faults },
  );
}

/** Some faults are taken by the provider and hurt later. They are the doctor's business, not a reason not to send. */
function isRefusal({ error }: WireFault): boolean {
  return !error.startsWith("unquoted: accepted");
}
