import { deleteSession } from "../delete.ts";
import { isImporting } from "../importing.ts";
import type { JournalDeps } from "../journal.ts";
import { sessionRows } from "../verify.ts";

/** Takes away what importers left that were killed. Those still at work are let work, however long they take. */
export async function removeAbandonedImports(deps: JournalDeps): Promise<void> {
  for await (const row of sessionRows(deps.store)) {
    if ("damaged" in row || !isImporting(row.id)) continue;
    if (row.owner === null || deps.store.isDead(row.owner)) await deleteSession(deps, row.id);
  }
}
