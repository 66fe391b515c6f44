import type { Journal } from "../journal/journal.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import { catalogDrafts } from "./catalog-part.ts";
import type { SessionFold } from "./fold.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import { wayBack } from "./rewind-files.ts";
import type { SessionCatalog } from "./session-catalog.ts";

interface RewoundGround {
  readonly state: ExecutionState;
  readonly journal: Journal<SessionFold>;
  readonly ledger: JournalLedger;
}

const SCOPE = ["state", "files", "conversation"] as const;

/** What takes a session back to where it stands now, for a call of another one that has it work for it. */
export function rewoundBy({ state, journal, ledger }: RewoundGround, catalog: SessionCatalog) {
  const to = journal.head.seq;
  return async (kept: CompositeSnapshot): Promise<void> => {
    const record: RecordDraft = { kind: "rewound", to, scope: SCOPE };
    const { snapshot } = await wayBack(state, kept);
    await state.restore(snapshot, {
      decide: ({ change }) => ledger.write([record, ...catalogDrafts(catalog, change)], change, "rewound"),
    });
  };
}
