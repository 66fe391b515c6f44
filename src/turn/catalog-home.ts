import type { CatalogState } from "../catalog/state.ts";
import type { Redactor } from "../records/redact.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { catalogPart } from "./catalog-part.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import type { CatalogHome } from "./session-catalog.ts";

/** The catalog in the root: every change of it goes through the gate, with the records that tell of it. */
export function homeIn({ truth }: ExecutionState, ledger: JournalLedger, redactor: Redactor): CatalogHome {
  const now = () => truth.root.get(catalogPart.name) as CatalogState;
  return {
    get state() {
      return now();
    },
    change: (next) =>
      truth.gate.run(async () => {
        const { to: wanted, drafts } = next(now());
        if (wanted === now()) return;
        const to = { ...wanted, reason: redactor.text(wanted.reason) }; // the only words of somebody's in it
        const branch = truth.branch();
        branch.change(catalogPart, () => to);
        await truth.commit(branch.onto(truth.root), (change) => ledger.write(drafts, change, "catalog"));
      }),
  };
}
