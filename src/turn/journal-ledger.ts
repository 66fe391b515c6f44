import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { onceEach } from "../base/once-each.ts";
import type { NewBlob } from "../contracts/store.ts";
import { appendReserved, type Journal } from "../journal/journal.ts";
import type { CallId } from "../records/ids.ts";
import type { RecordDraft, UndoStage } from "../records/kinds.ts";
import type { Content, Parts, RootChange, RootDelta } from "../state/part.ts";
import { beforeWriting } from "../state/unwritten.ts";
import type { StateLedger } from "../state/truth.ts";
import type { EffectEntry } from "../transaction/effect.ts";
import type { ClosedCall, Ledger, OpenedCall, SaidOfCall } from "../transaction/ledger.ts";
import type { SessionFold } from "./fold.ts";
import { introductions } from "./kernel-parts.ts";
import { withoutMediaSecrets } from "./media-secrets.ts";
import { withoutOutcomeSecrets } from "./outcome-secrets.ts";
import type { DecidedFiles, SessionFiles } from "./session-files.ts";

/** Where transactions and the state write: the session's journal. A call's end and what it changed are one commit. */
export class JournalLedger implements Ledger, StateLedger {
  readonly #journal: Journal<SessionFold>;
  readonly #written: (change: RootChange) => Promise<void>;
  readonly #parts: () => Parts;
  readonly #files: SessionFiles | undefined;

  /** `written` hears, inside the gate, what has just become durable. */
  constructor(
    journal: Journal<SessionFold>,
    written: (change: RootChange) => Promise<void>,
    parts: () => Parts,
    files?: SessionFiles,
  ) {
    this.#journal = journal;
    this.#written = written;
    this.#parts = parts;
    this.#files = files;
  }

  get unsure(): boolean {
    return this.#journal.unsure;
  }

  knows(callId: string): boolean {
    return this.#journal.folded.boundaries.some((one) => one.callId === callId && !one.rewound);
  }

  waits(callId: string): boolean {
    return this.#journal.folded.waiting.has(callId as CallId);
  }

  async opened({ callId, parent, ...rest }: OpenedCall, { traceless }: { readonly traceless: boolean }): Promise<void> {
    const family = parent === undefined ? {} : { parent: parent as CallId };
    const opening: RecordDraft = { kind: "call-opened", callId: callId as CallId, ...rest, ...family };
    await appendReserved(this.#journal, opening, { unsynced: traceless });
  }

  async closed(calls: readonly ClosedCall[], change: RootChange): Promise<void> {
    const closings: RecordDraft[] = [];
    const staged: NewBlob[] = [];
    const clean = calls.map((call) => withoutMediaSecrets(call, this.#journal.redactor));
    for (const { callId, contents = [], ...call } of clean) {
      const blobs = contents.length === 0 ? [] : await beforeWriting(this.#stage({ contents }));
      staged.push(...blobs);
      const named = blobs.length === 0 ? {} : { blobs: blobs.map(({ ref }) => ref) };
      closings.push({ kind: "call-closed", callId: callId as CallId, ...call, ...named });
    }
    await this.write(closings, change, "call", calls.at(-1)?.callId, staged);
  }

  async changed(change: RootChange, cause: string): Promise<void> {
    await this.write([], change, cause);
  }

  /** Records with content that they name, and a change of the state: durable together; then its files, in place. */
  async write(
    drafts: readonly RecordDraft[],
    change: RootChange,
    cause: string,
    callId?: string,
    named: readonly NewBlob[] = [],
  ): Promise<void> {
    const append = (files: DecidedFiles) => this.#append(drafts, files, cause, callId, named);
    if (this.#files?.concerns(change) === true) await this.#files.commit(change, callId, append);
    else await append({ staged: await beforeWriting(this.#stage(change)), named: [], delta: change.delta });
    await this.#written(change);
  }

  async #append(
    drafts: readonly RecordDraft[],
    { staged, named, delta }: DecidedFiles,
    cause: string,
    callId: string | undefined,
    byDrafts: readonly NewBlob[],
  ): Promise<void> {
    const fresh = onceEach([...staged, ...byDrafts], ({ ref }) => ref.name);
    const blobs = onceEach([...staged.map(({ ref }) => ref), ...named], ({ name }) => name);
    const parts = this.#parts();
    const checked = plainOf(delta, parts);
    const introduces = introductions(Object.keys(delta), parts, this.#journal.folded.introduced);
    const changed: RecordDraft = {
      kind: "state-changed",
      delta,
      cause,
      ...(Object.keys(introduces).length === 0 ? {} : { introduces: introduces as unknown as Json }),
      ...(callId === undefined ? {} : { callId: callId as CallId }),
      ...(blobs.length === 0 ? {} : { blobs }),
    };
    const records = Object.keys(delta).length > 0 ? [...drafts, changed] : drafts;
    if (records.length > 0) await appendReserved(this.#journal, records, { staged: fresh, checked }); // else: other references, the same values
  }

  shown<O extends SaidOfCall>(outcome: O): O {
    return withoutOutcomeSecrets(outcome, this.#journal.redactor);
  }

  async late({
    callId,
    tool,
    output,
  }: {
    readonly callId: string;
    readonly tool: string;
    readonly output: Json;
  }): Promise<void> {
    await appendReserved(this.#journal, { kind: "call-late", callId: callId as CallId, tool, output });
  }

  /** An effect is found again by its key, in whichever process: a key that cannot be kept would let it happen twice. */
  async effectOpened(effect: EffectEntry): Promise<void> {
    if (this.#journal.redactor.finds(effect.key))
      throw new HoldfastError("EFFECT_KEY_SECRET", { tool: effect.tool, effect: effect.name });
    await appendReserved(this.#journal, { kind: "effect-opened", ...effect, callId: effect.callId as CallId });
  }

  async effectDone(effect: EffectEntry, result: Json): Promise<void> {
    await appendReserved(this.#journal, { kind: "effect-done", ...aboutOf(effect), result });
  }

  async effectJoined(effect: EffectEntry, callId: string): Promise<void> {
    await appendReserved(this.#journal, { kind: "effect-joined", ...aboutOf(effect), callId: callId as CallId });
  }

  async effectLeft(effect: EffectEntry, callId: string): Promise<void> {
    await appendReserved(this.#journal, { kind: "effect-left", ...aboutOf(effect), callId: callId as CallId });
  }

  async effectUndone(effect: EffectEntry, how: UndoStage, detail?: string): Promise<void> {
    const words = detail === undefined ? {} : { detail };
    await appendReserved(this.#journal, { kind: "effect-undone", ...aboutOf(effect), how, ...words });
  }

  async #stage({ contents }: { readonly contents: readonly Content[] }): Promise<readonly NewBlob[]> {
    const staged: NewBlob[] = [];
    for (const { bytes } of contents) staged.push(await this.#journal.stageBlob(bytes));
    return staged;
  }
}

/** The changes that are known to be JSON: slices let nothing else become true, and other parts say what they like. */
function plainOf(delta: RootDelta, parts: Parts): RootDelta {
  const isPlain = (name: string) => parts.get(name)?.plain === true;
  if (Object.keys(delta).every(isPlain)) return delta; // the very same: then it is not even walked through
  return Object.fromEntries(Object.entries(delta).filter(([name]) => isPlain(name)));
}

function aboutOf({ tool, name, key, generation }: EffectEntry) {
  return { tool, name, key, generation };
}
