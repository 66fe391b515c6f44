import type { CheckpointNote } from "../journal/append-options.ts";
import { type Appended, appendReserved, type Journal } from "../journal/journal.ts";
import type { Root } from "../state/root.ts";
import { effectsToKeep, isDueAfter, type SessionFold } from "./fold.ts";
import { beyondUndoing } from "./kept-effects.ts";
import type { StateNote } from "./kept-state.ts";
import { reclaim } from "./reclaim.ts";
import type { SessionParts } from "./session-parts.ts";

export function isDue(journal: Journal<SessionFold>): boolean {
  return isDueAfter(journal.sinceCheckpoint);
}

/** The whole state by name, unchanged parts by the names they have. Only from inside the gate: the root must not move. */
export async function keepCheckpoint(
  parts: Pick<SessionParts, "store" | "journal" | "blobs" | "effectBlobs" | "state" | "transactions">,
  root: Root,
  note: CheckpointNote & Pick<StateNote, "history">,
): Promise<Appended> {
  const { store, journal, blobs, effectBlobs, state, transactions } = parts;
  const { staged, written, ...kept } = await blobs.stage(state.truth.parts, root);
  const outside = await effectBlobs.stage(effectsToKeep(journal.folded));
  const checkpoint: StateNote = { ...note, ...kept, effects: outside.places };
  const appended = await appendReserved(journal, [], { staged: [...staged, ...outside.staged], checkpoint });
  written();
  outside.written();
  transactions.effects.forgetArguments(beyondUndoing(journal.folded.effects.values()));
  await reclaim(store, journal);
  return appended;
}
