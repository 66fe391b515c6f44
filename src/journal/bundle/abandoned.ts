import type { SessionRow } from "../../contracts/store.ts";
import { deleteSession } from "../delete.ts";
import { isImporting } from "../importing.ts";
import type { JournalDeps } from "../journal.ts";
import { sessionRows } from "../verify.ts";

/** Takes away what importers left that were killed. Those still at work are let work, however long they take. */
export async function removeAbandonedImports(deps: JournalDeps): Promise<void> {
  for await (const row of sessionRows(deps.store)) {
    if (!("damaged" in row) && isImporting(row.id) && isLeft(row, deps)) await deleteSession(deps, row.id);
  }
}

/** Between making its session and taking it an importer is nobody's holder: for a moment that means nothing. */
function isLeft({ owner, createdAt }: SessionRow, { store, clock }: JournalDeps): boolean {
  return owner === null ? Date.parse(createdAt) < clock.now() - MOMENT_MS : store.isDead(owner);
}

const MOMENT_MS = 600_000;
