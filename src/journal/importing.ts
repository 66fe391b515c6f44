import { HoldfastError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { type SessionId, toSessionId } from "../records/ids.ts";

/** A bundle grows under such a name until all of it is there; the name it was asked for comes last, in one commit. */
export function importingId(random: Random): SessionId {
  return toSessionId(`importing:${random.hex(16)}`);
}

export function isImporting(id: string): boolean {
  return /^importing:[0-9a-f]{32}$/.test(id);
}

/** What is removed when its maker is dead must not be anybody's work. */
export function refuseImportingId(id: SessionId): void {
  if (isImporting(id)) throw new HoldfastError("SESSION_BAD_ID", { id, reserved: "for what is being imported" });
}
