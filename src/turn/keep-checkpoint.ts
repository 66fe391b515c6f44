import type { CheckpointNote } from "../journal/append-options.ts";
import { type Appended, appendReserved, type Journal } from "../journal/journal.ts";
import type { Root } from "../state/root.ts";
import { isDueAfter, type SessionFold, type StateNote } from "./fold.ts";
import { reclaim } from "./reclaim.ts";
import type { SessionParts } from "./session-parts.ts";

export function isDue(journal: Journal<SessionFold>): boolean {
  return isDueAfter(journal.sinceCheckpoint);
}

/** The whole state by name, unchanged parts by the names they have. Only from inside the gate: the root must not move. */
export async function keepCheckpoint(
  { store, journal, blobs, state }: Pick<SessionParts, "store" | "journal" | "blobs" | "state">,
  root: Root,
  note: CheckpointNote & Pick<StateNote, "history">,
): Promise<Appended> {
  const { staged, written, ...kept } = await blobs.stage(state.truth.parts, root);
  const checkpoint: StateNote = { ...note, ...kept };
  const appended = await appendReserved(journal, [], { staged, checkpoint });
  written();
  await reclaim(store, journal);
  return appended;
}
