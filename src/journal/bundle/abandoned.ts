import { HoldfastError } from "../../base/errors.ts";
import type { SessionRow } from "../../contracts/store.ts";
import { deleteSession } from "../delete.ts";
import { isImporting } from "../importing.ts";
import type { JournalDeps } from "../journal.ts";
import { isLetGo } from "../take-lease.ts";
import { sessionRows } from "../verify.ts";

/** What importers left that were killed, or could not take away what they had begun. Those still at work are let work, however long they take. */
export async function* abandonedImports(deps: Pick<JournalDeps, "store" | "clock">): AsyncIterable<SessionRow> {
  for await (const row of sessionRows(deps.store))
    if (!("damaged" in row) && isImporting(row.id) && isLeft(row, deps)) yield row;
}

/** Takes it away, and tells how much there was. What somebody else is taking away at the same time is theirs to count. */
export async function removeAbandonedImports(deps: JournalDeps): Promise<number> {
  let removed = 0;
  for await (const { id } of abandonedImports(deps)) {
    try {
      await deleteSession(deps, id);
      removed += 1;
    } catch (error) {
      if (!GOING.some((code) => HoldfastError.is(error, code))) throw error;
    }
  }
  return removed;
}

const GOING = ["SESSION_BUSY", "SESSION_UNKNOWN", "LEASE_LOST"] as const;

/** Between making its session and taking it an importer is nobody's holder: for a moment that means nothing. */
function isLeft(row: SessionRow, { store, clock }: Pick<JournalDeps, "store" | "clock">): boolean {
  return row.owner === null ? Date.parse(row.createdAt) < clock.now() - MOMENT_MS : isLetGo(store, row);
}

const MOMENT_MS = 600_000;
