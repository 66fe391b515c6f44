import { type IdSource, randomIds } from "../base/ids.ts";
import { filesPart } from "../files/part.ts";
import type { Journal, JournalDeps } from "../journal/journal.ts";
import { CheckpointStore } from "../state/checkpoints.ts";
import { DEFAULT_SLICES } from "../state/default-slices.ts";
import { ExecutionState } from "../state/execution-state.ts";
import type { AnyPart, RootChange } from "../state/part.ts";
import type { ResourceKey } from "../state/resources.ts";
import { type AnySlice, anyPartOf } from "../state/slice.ts";
import type { ToolPolicy } from "../transaction/policy.ts";
import type { Tool } from "../transaction/tool.ts";
import { type TransactionOptions, Transactions } from "../transaction/transactions.ts";
import type { SessionFold } from "./fold.ts";
import { JournalLedger } from "./journal-ledger.ts";
import { PartBlobs } from "./part-blobs.ts";
import { rebuildNewest } from "./rebuild.ts";
import { recover } from "./recover.ts";
import { isDue, keepCheckpoint, Session, type SessionParts } from "./session.ts";

/** What every session of one kernel is given. */
export interface SessionOptions
  extends Pick<TransactionOptions, "parallel" | "commitOrder" | "observe" | "onTelemetryFailure"> {
  readonly tools?: readonly Tool[];
  readonly slices?: readonly AnySlice[];
  readonly policies?: readonly ToolPolicy[];
  readonly resources?: () => Iterable<readonly [ResourceKey<unknown>, unknown]>;
  readonly ids?: IdSource;
  /** How many tool boundaries can be returned to. Default 100. */
  readonly checkpoints?: { readonly limit?: number };
  readonly development?: boolean;
}

/** Brings an opened journal to life: calls that were cut off are closed, the state is what was committed. */
export async function resumeSession(
  deps: JournalDeps,
  journal: Journal<SessionFold>,
  options: SessionOptions,
  fork: SessionParts["fork"],
  isFork: boolean,
): Promise<Session> {
  const blobs = new PartBlobs(journal);
  const rebuilt = await rebuildNewest(journal, partsOf(options), blobs);
  const recovered = await recover(journal, rebuilt.skipped);
  if (journal.head.seq === 0) await journal.append({ kind: "session-created", session: journal.session });
  // Inside the gate: the change is durable and about to be true, so a checkpoint of its root belongs right here.
  const written = async ({ root }: RootChange) => {
    if (isDue(journal) && !state.poisoned)
      await keepCheckpoint({ store: deps.store, journal, blobs, state }, root, {}).catch(() => {});
  };
  const ledger = new JournalLedger(journal, written);
  const state = ExecutionState.create({
    parts: [...rebuilt.parts.values()].filter(({ name }) => !DEFAULT_NAMES.has(name)),
    root: rebuilt.root,
    ledger,
    clock: deps.clock,
    random: deps.random,
    ids: options.ids ?? randomIds(deps.random),
    checkpoints: new CheckpointStore(options.checkpoints),
    resources: options.resources?.() ?? [],
    ...(options.development === undefined ? {} : { development: options.development }),
  });
  const transactions = new Transactions(state, { ...options, ledger });
  for (const { entry, standing, owners } of journal.folded.effects.values())
    transactions.effects.recall(entry, standing, owners);
  if (isFork) transactions.effects.disown();
  // What was begun to be undone, or taken back by a rewind, when an earlier process was cut off.
  await transactions.finishUndoing();
  return new Session({ store: deps.store, journal, blobs, ledger, state, transactions, recovered, fork });
}

const DEFAULT_NAMES = new Set(DEFAULT_SLICES.map((slice) => anyPartOf(slice).name));

/** Every part this kernel knows: the seed's slices, its own, those its policies remember in, and the files. */
function partsOf({ slices = [], policies = [] }: SessionOptions): readonly AnyPart[] {
  const all = [...DEFAULT_SLICES, ...slices, ...policies.flatMap((policy) => policy.slices ?? [])];
  return [...new Set(all.map(anyPartOf)), filesPart];
}
