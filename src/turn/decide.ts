import type { NewBlob } from "../contracts/store.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RootChange } from "../state/part.ts";
import type { SliceEvent } from "../state/slice.ts";

/** What to write, found out when its turn has come: nobody else moves the state meanwhile. */
interface Decision<T> {
  readonly drafts: readonly RecordDraft[];
  readonly events?: readonly SliceEvent[];
  /** Content that the records name. */
  readonly contents?: readonly NewBlob[];
  readonly answer: T;
}

export type Decide = <T>(work: () => Decision<T>) => Promise<T>;

/** Records with what they change in the state, through the gate like every other change. */
export function decideIn(
  { truth }: ExecutionState,
  write: (drafts: readonly RecordDraft[], change: RootChange, contents: readonly NewBlob[]) => Promise<void>,
): Decide {
  return (work) =>
    truth.gate.run(async () => {
      const { drafts, events = [], contents = [], answer } = work();
      const branch = truth.branch();
      for (const event of events) branch.dispatch(event);
      await truth.commit(branch.onto(truth.root), (change) => write(drafts, change, contents));
      return answer;
    });
}
