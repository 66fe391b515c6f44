import { HoldfastError } from "../../base/errors.ts";
import { OneByOne } from "../../base/one-by-one.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { HeldLock } from "../../contracts/lock.ts";
import type { BlobName } from "../../records/ids.ts";
import { beforeWriting, isUnwritten } from "../../state/unwritten.ts";
import type { Diverged } from "./apply.ts";
import type { FilesDecision, FilesToCommit, Finished } from "./commit.ts";
import { type Disk, diskIn } from "./disk.ts";
import { type ExecWork, ExecWorks } from "./exec-work.ts";
import { inOurWords, unusable } from "./failures.ts";
import { HostRoot } from "./folders.ts";
import { guardedRoot, refuseHuge } from "./guard.ts";
import { bounded, RESCUE_BOUNDS, WORKSPACE_LIMITS, type WorkspaceLimits } from "./limits.ts";
import { closePlaces, hasLinks, makePlaces, openPlaces, PLACES, type Places, workspaceId } from "./meta.ts";
import type { WorkspaceDeps, WorkspaceOptions } from "./options.ts";
import { OWN_FOLDER } from "./own.ts";
import { Plans } from "./plans.ts";
import { realHost } from "./port.ts";
import { Rescue, type Rescued } from "./rescue.ts";
import { StagedFiles } from "./staging.ts";
import { namedBy, syncNames, type ToSync } from "./syncing.ts";

/**
 * A folder that the sessions of this process change, and no other process at the same time. All changes to files are
 * made here: prepared before the decision, put in place after it, and finished by the next process if this one dies.
 */
export class Workspace {
  readonly id: string;
  readonly disk: Disk;
  readonly limits: WorkspaceLimits;
  readonly rescue: Rescue;
  /** What became of plans of earlier processes: they were finished when this one opened the folder, or had told nobody. */
  readonly finished: Finished[] = [];
  /** The commands that run here. */
  readonly execs: ExecWorks;
  /** Content that waits for its commit. */
  readonly staged: StagedFiles;
  readonly #deps: WorkspaceDeps;
  readonly #root: HostRoot;
  readonly #places: Places;
  readonly #plans: Plans;
  readonly #lock: HeldLock;
  /** Found out when it is opened: after a decision it would be too late. */
  #hasLinks = true;
  readonly #line = new OneByOne();
  #users = 0;
  #closed: Promise<void> | undefined;

  private constructor(root: HostRoot, places: Places, lock: HeldLock, deps: WorkspaceDeps, options: WorkspaceOptions) {
    this.#root = root;
    this.#places = places;
    this.#lock = lock;
    this.#deps = deps;
    this.disk = diskIn(root, deps.store);
    this.limits = bounded(WORKSPACE_LIMITS, options.limits, "workspace.limits");
    this.rescue = new Rescue(
      root.port,
      places.rescue,
      bounded(RESCUE_BOUNDS, options.rescue, "workspace.rescue"),
      deps.clock,
    );
    const { disk, rescue } = this;
    this.staged = new StagedFiles(disk, places.temporary, this.limits, () => deps.random.hex(8));
    this.execs = new ExecWorks({ root, disk, rescue, places, known: {} });
    const sync = (names: ToSync) => this.sync(names);
    this.#plans = new Plans({ root, disk, rescue, places, execs: this.execs, sync }, deps);
    this.id = workspaceId(root.port, places, () => deps.random.hex(16));
  }

  /** Takes the folder's lock and finishes what earlier processes left. */
  static open(options: WorkspaceOptions, deps: WorkspaceDeps): Promise<Workspace> {
    return inOurWords(options.root, () => Workspace.#open(options, deps));
  }

  static async #open(options: WorkspaceOptions, deps: WorkspaceDeps): Promise<Workspace> {
    const port = options.port ?? realHost;
    const path = guardedRoot(port, options.root, options);
    const first = port.stat(`${path}/${PLACES.home.join("/")}`) === undefined;
    if (first && options.anyRoot !== true) refuseHuge(port, path);
    const root = new HostRoot(port, path);
    let lock: HeldLock | undefined;
    let places: Places | undefined;
    let workspace: Workspace | undefined;
    try {
      makePlaces(root);
      lock = await deps.locks(`${path}/${PLACES.home.join("/")}`).tryAcquire("lock");
      if (lock === undefined) throw new HoldfastError("WORKSPACE_BUSY", { root: path });
      places = openPlaces(root);
      workspace = new Workspace(root, places, lock, deps, options);
      await workspace.#begin();
      return workspace;
    } catch (error) {
      workspace?.execs.close();
      if (places !== undefined) closePlaces(places);
      root.close();
      await lock?.release();
      throw unusable(error, path);
    }
  }

  get path(): string {
    return this.#root.path;
  }

  /** Prepare, decide, apply. Nothing of another session of this process comes between. */
  commit(files: FilesToCommit, decide: (decision: FilesDecision) => Promise<void>): Promise<readonly Diverged[]> {
    return this.#line.run(async () => {
      await beforeWriting(this.#ready(files.exec?.id));
      const tx = this.#deps.random.hex(12);
      const { session, after, callId, steps, exec, stageBlob, content } = files;
      const work = await beforeWriting(this.#commands(files));
      const left = (path: string) => exec?.left.get(path);
      const before = (name: BlobName) => work?.before(name) ?? NOTHING;
      const about = {
        tx,
        session,
        after,
        ...(callId === undefined ? {} : { callId }),
        ...(work === undefined ? {} : { exec: work.id, links: work.links }),
      };
      try {
        const prepared = this.#plans.prepare({ stageBlob, content, left, before }, about, steps);
        const { images, named } = await beforeWriting(prepared);
        await decide({ tx, images, named });
      } catch (error) {
        // A plan whose decision is not known stays written down: the journal will say, to whoever asks.
        if (isUnwritten(error)) await this.#plans.takeBack();
        throw error;
      }
      this.#plans.decided();
      await this.#plans.finish().catch(() => {}); // it stays pending, and is tried again
      return this.#plans.takeUntold();
    });
  }

  /** Puts waiting changes in place. Throws WORKSPACE_PENDING if something prevents it. */
  settle(): Promise<readonly Diverged[]> {
    return this.#line.run(async () => {
      await this.#ready();
      return this.#plans.takeUntold();
    });
  }

  /** Paths that were decided and are not in place yet. */
  get pending(): ReadonlySet<string> {
    return this.#plans.pending;
  }

  /** Where the content of a decided change may be: still waiting, on its way, or in place. */
  placesOf(path: string): readonly (readonly string[])[] {
    return this.#plans.placesOf(path);
  }

  rescued(): readonly Rescued[] {
    return this.rescue.list();
  }

  /** Counts one more session of this process. The last session to leave releases the folder. */
  enter(): void {
    this.#users += 1;
  }

  /** Returns true if no session is left and the folder was released. */
  async leave(): Promise<boolean> {
    this.#users -= 1;
    if (this.#users > 0) return false;
    await this.close();
    return true;
  }

  /** Puts waiting changes in place, and releases the folder whether or not that succeeds. */
  close(): Promise<void> {
    this.#closed ??= inOurWords(this.path, () => this.#line.run(() => this.#close()));
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#plans.finish();
      await this.#plans.syncFolders();
      this.rescue.prune();
      this.staged.clear();
      if (this.#plans.haveBeen) await this.#plans.forget();
    } finally {
      try {
        this.execs.close();
        closePlaces(this.#places);
        this.#root.close();
      } finally {
        await this.#lock.release();
      }
    }
  }

  async #begin(): Promise<void> {
    const finished = await this.#plans.takeUp();
    if (finished !== undefined) this.finished.push(finished);
    await this.execs.recover(this.#deps.endStrays ?? (async () => {}), (names) => this.sync(names));
    await this.#plans.syncFolders();
    this.staged.clear();
    this.#hasLinks = hasLinks(this.#root.port, this.#places);
    await this.#plans.forget();
    this.#plans.toSync([[], [OWN_FOLDER], PLACES.home, PLACES.exec].map((place) => place.join("/")));
    await this.#plans.syncFolders();
    this.#findUntold();
    this.rescue.prune();
  }

  /** What earlier processes kept in rescue and did not come to tell. */
  #findUntold(): void {
    const known = new Set(this.finished.flatMap(({ diverged }) => diverged.map(({ kept }) => kept)));
    for (const { session, path, name } of this.rescue.untold())
      if (!known.has(name)) this.finished.push({ session, diverged: [{ path, why: "changed", kept: name }] });
  }

  /** The commands whose work is committed. What the call has changed again after them is first as it was before. */
  async #commands({ exec }: FilesToCommit): Promise<ExecWork | undefined> {
    const work = this.execs.of(exec?.id);
    await work?.leaving();
    const again = [...(work?.placed ?? [])].filter((path) => !exec?.left.has(path));
    if (again.length === 0) return work;
    work?.restore(new Set(again));
    await this.sync(namedBy(again)); // also what the call took back: no step will name it
    return work;
  }

  /** Ends the commands of a call, whether or not their work was kept. */
  endExec(id: string): void {
    this.#plans.toSync([PLACES.exec.join("/")]); // also of commands without a plan
    this.execs.end(id, this.#plans.needs(id));
  }

  /** A new name for the commands of one call. */
  freshExec(): string {
    return this.#deps.random.hex(8);
  }

  /** Makes names of the workspace durable, when what is acknowledged must survive a loss of power. */
  async sync(names: ToSync): Promise<void> {
    if (!this.#deps.sync) return;
    await inOurWords(this.path, () => syncNames(this.#root, names, this.#deps.syncDisk));
  }

  /** Nothing waits any more, or a typed refusal. */
  #ready(exec?: string): Promise<void> {
    return inOurWords(this.path, async () => {
      this.execs.refuseOthers(exec);
      if (!this.#hasLinks) throw new HoldfastError("WORKSPACE_NO_LINKS", { root: this.path });
      await this.#plans.finish();
    });
  }
}

/** A change of files made by no command needs nothing of what was before one. */
const NOTHING: AsyncIterable<Bytes> = (async function* () {})();
