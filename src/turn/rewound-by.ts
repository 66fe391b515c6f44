import type { Journal } from "../journal/journal.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RestorePlan } from "../state/restore.ts";
import type { CompositeSnapshot } from "../state/snapshot.ts";
import { catalogDrafts } from "./catalog-part.ts";
import type { SessionFold } from "./fold.ts";
import type { Ground } from "./ground.ts";
import type { JournalLedger } from "./journal-ledger.ts";
import { withoutReply } from "./reply.ts";
import { lookingAgain, wayBack } from "./rewind-files.ts";
import type { SessionCatalog } from "./session-catalog.ts";
import { unansweredOf } from "./waiting.ts";

interface RewoundGround {
  readonly state: ExecutionState;
  readonly journal: Journal<SessionFold>;
  readonly ledger: JournalLedger;
}

const SCOPE = ["state", "files", "conversation"] as const;

/** What takes a session back to where it stands now, for a call of another one that has it work for it. */
export function rewoundBy(
  { state, journal, ledger }: RewoundGround,
  catalog: SessionCatalog,
  turn: Pick<Ground, "waits" | "replies">,
) {
  const { head, folded } = journal;
  const to = head.seq;
  return async (kept: CompositeSnapshot, admit: () => void): Promise<void> => {
    const record: RecordDraft = { kind: "rewound", to, scope: SCOPE };
    // Left waiting, a call that nobody asked for any more would run as soon as somebody consents.
    const since = journal.folded.waiting.values().filter(({ callId }) => !folded.waiting.has(callId));
    await withoutReply(turn, [...since], (unanswered) => {
      const closed = unanswered.map((call) => unansweredOf(call, "The call that it was for was discarded."));
      const decide = ({ change }: RestorePlan) =>
        ledger.write([...closed, record, ...catalogDrafts(catalog, change)], change, "rewound");
      return lookingAgain(async () => state.restore((await wayBack(state, kept)).snapshot, { admit, decide }));
    });
  };
}
