import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { ByteRange, Bytes, ByteSource } from "../contracts/blob-store.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Diverged } from "../files/host/apply.ts";
import type { HostEntry } from "../files/host/entry.ts";
import {
  type Binding,
  type StagedContent,
  type Step,
  takeStaged,
  WORKSPACE_PART,
  type WorkspaceDelta,
  workspaceDelta,
  type WorkspaceValue,
} from "../files/host/part.ts";
import { type HostPart, type HostSession, hostPart } from "../files/host/session.ts";
import { View } from "../files/host/view.ts";
import type { FilesDecision, FilesToCommit, LeftByCommand } from "../files/host/commit.ts";
import type { Workspace } from "../files/host/workspace.ts";
import { SMALL_BLOB } from "../journal/blobs.ts";
import { appendReserved, type Journal } from "../journal/journal.ts";
import type { BlobName, CallId } from "../records/ids.ts";
import type { BlobRef, RecordDraft } from "../records/kinds.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RootChange, RootDelta } from "../state/part.ts";
import { beforeWriting } from "../state/unwritten.ts";

/** What a commit writes down beside its records: content, the names of content, and the change with its plan named. */
export interface DecidedFiles {
  readonly staged: readonly NewBlob[];
  readonly named: readonly BlobRef[];
  readonly delta: RootDelta;
}

type FileThere = HostEntry & { readonly kind: "file" };

/**
 * A session's way to its workspace. Every change of its files passes here: prepared before the record, put in place after
 * it, and what somebody else had changed meanwhile is journalled.
 */
export class SessionFiles {
  readonly part: HostPart;
  readonly binding: Binding;
  /** What this process found changed by somebody else after it had been decided. */
  readonly diverged: Diverged[] = [];
  readonly workspace: Workspace;
  /** Calls that have run commands and are not settled, with the folder those ran in. */
  readonly commands = new Map<string, string>();
  readonly #journal: Journal;

  constructor(workspace: Workspace, journal: Journal, mode: Binding["mode"]) {
    this.workspace = workspace;
    this.#journal = journal;
    this.binding = { mode, workspace: workspace.id };
    const host: HostSession = {
      disk: workspace.disk,
      mode,
      limits: workspace.limits,
      pending: workspace.pending,
      content: (entry, path, range) => this.#content(entry, path, range),
      keep: (source, path) => workspace.staged.keep(source, path),
      kept: (file, range) => workspace.staged.kept(file, range),
      letGo: (file) => workspace.staged.letGo(file),
    };
    this.part = hostPart(host);
  }

  /** From now on the session knows its folder, by the folder's own name. */
  async bind(state: ExecutionState): Promise<void> {
    const { part, binding } = this;
    const now = state.root.get(WORKSPACE_PART) as WorkspaceValue;
    if (now.binding?.mode === binding.mode && now.binding.workspace === binding.workspace) return;
    await state.truth.change((branch) => branch.change(part, (value) => ({ ...value, binding })), "workspace bound");
  }

  /** Whether a change is about files at all. */
  concerns({ delta }: RootChange): boolean {
    const change = Object.hasOwn(delta, WORKSPACE_PART)
      ? (delta[WORKSPACE_PART] as unknown as WorkspaceDelta)
      : undefined;
    return change !== undefined && change.steps.length > 0; // looked at closely when it is written down
  }

  async commit(
    change: RootChange,
    callId: string | undefined,
    decide: (files: DecidedFiles) => Promise<void>,
  ): Promise<void> {
    const steps = this.#steps(change.delta);
    const value = change.root.get(WORKSPACE_PART) as WorkspaceValue;
    const staged = takeStaged(value);
    const held = new Map(change.contents.map(({ name, bytes }) => [name, bytes]));
    const content = (name: BlobName, step: Step): AsyncIterable<Bytes> => {
      const bytes = held.get(name);
      return bytes === undefined ? this.#waiting(value, staged.get(step.path), step) : once(bytes);
    };
    if (this.binding.mode !== "host") return decide(await this.#kept(change, steps, staged, content));
    const { session, head } = this.#journal;
    const files = {
      session,
      after: head.seq,
      ...(callId === undefined ? {} : { callId }),
      steps,
      stageBlob: async (source: ByteSource, known?: BlobName): Promise<NewBlob> => {
        const isHashed = known !== undefined && source instanceof Uint8Array && source.length <= SMALL_BLOB;
        return isHashed
          ? { ref: { name: known, size: source.length }, bytes: source }
          : this.#journal.stageBlob(source);
      },
      content,
      ...this.#left(callId, staged),
    };
    const posts = await beforeWriting(this.#posts(change, steps, staged, content));
    const diverged = await this.workspace.commit(files, ({ tx, images, named }: FilesDecision) =>
      decide({ staged: [...images, ...posts], named, delta: withPlan(change.delta, tx) }),
    );
    await this.tell(diverged, callId);
  }

  /** Journals what somebody else had changed: theirs is in place, and ours, if it had content, is kept aside. */
  async tell(diverged: readonly Diverged[], callId?: string): Promise<void> {
    if (diverged.length === 0) return;
    this.diverged.push(...diverged);
    await appendReserved(
      this.#journal,
      diverged.map(
        ({ path, kept }): RecordDraft => ({
          kind: "file-diverged",
          path,
          ...(callId === undefined ? {} : { callId: callId as CallId }),
          ...(kept === undefined ? {} : { kept }),
        }),
      ),
    );
    for (const { kept } of diverged) if (kept !== undefined) this.workspace.rescue.told(kept);
  }

  /** From what was kept; what a command wrote is not copied, and is read where it waits or lies. */
  async *#content({ digest }: FileThere, path: string, range?: ByteRange): AsyncIterable<Bytes> {
    try {
      return yield* this.#journal.readBlob(digest, range);
    } catch (error) {
      if (!HoldfastError.is(error, "BLOB_MISSING")) throw error; // known before its first byte
    }
    const { disk } = this.workspace;
    for (const names of this.workspace.placesOf(path))
      if ((await disk.file(names, 0))?.entry.digest === digest) return yield* disk.stream(names, range);
    throw new HoldfastError("FILE_GONE", { paths: [path] });
  }

  /** Files that never reach the disk are kept whole beside the journal. */
  async #kept(
    change: RootChange,
    steps: readonly Step[],
    staged: ReadonlyMap<string, StagedContent>,
    content: (name: BlobName, step: Step) => AsyncIterable<Bytes>,
  ): Promise<DecidedFiles> {
    const blobs = await beforeWriting(this.#posts(change, steps, staged, content));
    // A path that is forgotten is read from below again: what lay there before the session was never copied.
    const named = steps.flatMap(({ to, kept }): BlobRef[] =>
      to.kind === "file" && kept !== null ? [{ name: to.digest, size: to.size }] : [],
    );
    return { staged: blobs, named, delta: change.delta };
  }

  /** New content that is not in the change itself, because it was too large to hold or lies elsewhere in the workspace. */
  async #posts(
    change: RootChange,
    steps: readonly Step[],
    staged: ReadonlyMap<string, StagedContent>,
    content: (name: BlobName, step: Step) => AsyncIterable<Bytes>,
  ): Promise<readonly NewBlob[]> {
    const posts: NewBlob[] = [];
    for (const { bytes } of change.contents) posts.push(await this.#journal.stageBlob(bytes));
    for (const step of steps) {
      const waits = staged.get(step.path);
      // What a command left is moved into place and not copied: its own undoing keeps what was there before.
      const copied = waits !== undefined && ("file" in waits || "at" in waits);
      if (copied && step.to.kind === "file") posts.push(await this.#journal.stageBlob(content(step.to.digest, step)));
    }
    return posts;
  }

  /** What commands of the call left of which path, when it ran any. */
  #left(callId: string | undefined, staged: ReadonlyMap<string, StagedContent>): Pick<FilesToCommit, "exec"> {
    const id = this.commands.get(callId ?? "");
    if (id === undefined) return {};
    const left = new Map<string, LeftByCommand>();
    for (const [path, content] of staged) if ("lies" in content || "placed" in content) left.set(path, content);
    return { exec: { id, left } };
  }

  #waiting(value: WorkspaceValue, waits: StagedContent | undefined, { path, to }: Step): AsyncIterable<Bytes> {
    if (to.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path });
    if (waits === undefined) return this.#journal.readBlob(to.digest);
    return new View(this.part.host, value).staged(waits, to, path);
  }

  #steps(delta: RootDelta): readonly Step[] {
    const data = delta[WORKSPACE_PART];
    return data === undefined ? [] : workspaceDelta(data).steps;
  }
}

async function* once(bytes: Bytes): AsyncIterable<Bytes> {
  yield bytes;
}

function withPlan(delta: RootDelta, tx: string): RootDelta {
  return { ...delta, [WORKSPACE_PART]: { ...(delta[WORKSPACE_PART] as { readonly [key: string]: Json }), tx } };
}
