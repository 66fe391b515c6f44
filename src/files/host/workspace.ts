import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { HeldLock } from "../../contracts/lock.ts";
import type { BlobName } from "../../records/ids.ts";
import { beforeWriting, isUnwritten } from "../../state/unwritten.ts";
import { namesIn } from "../path.ts";
import { type Applied, apply, type Diverged } from "./apply.ts";
import type { FilesDecision, FilesToCommit, Finished } from "./commit.ts";
import { Disk } from "./disk.ts";
import { type ExecWork, ExecWorks } from "./exec-work.ts";
import { hostError, inOurWords, unusable } from "./failures.ts";
import { HostRoot } from "./folders.ts";
import { moveToRescue } from "./given-up.ts";
import { guardedRoot, placesIn, refuseHuge } from "./guard.ts";
import type { Intent } from "./intent.ts";
import { bounded, RESCUE_BOUNDS, WORKSPACE_LIMITS, type WorkspaceLimits } from "./limits.ts";
import { closePlaces, hasLinks, makePlaces, openPlaces, PLACES, type Places, workspaceId } from "./meta.ts";
import { placesOfContent } from "./new-trees.ts";
import type { WorkspaceDeps, WorkspaceOptions } from "./options.ts";
import { OWN_FOLDER } from "./own.ts";
import { realHost } from "./port.ts";
import { abandon, prepare, type PrepareGround } from "./prepare.ts";
import { Rescue, type Rescued } from "./rescue.ts";
import { type FoundPlan, otherSlot, type Slot, Slots } from "./slots.ts";
import { StagedFiles } from "./staging.ts";
import { namedBy, syncNames, type ToSync } from "./syncing.ts";

interface Planned {
  readonly intent: Intent;
  readonly slot: Slot;
  /** Putting it in place has been begun before. */
  again?: boolean;
  /** An earlier process has put all of it in place. */
  readonly over?: boolean;
  /** Nobody decided it, and what it had laid out could not be removed yet. */
  refused?: boolean;
}

/** How often what is kept aside is brought within its bounds. */
const COMMITS_PER_PRUNE = 32;

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
  readonly pending = new Set<string>();
  /** The commands that run here. */
  readonly execs: ExecWorks;
  /** Content that waits for its commit. */
  readonly staged: StagedFiles;
  readonly #deps: WorkspaceDeps;
  readonly #root: HostRoot;
  readonly #places: Places;
  readonly #slots: Slots;
  readonly #lock: HeldLock;
  readonly #proven = new Set<string>();
  readonly #unsynced = new Set<string>();
  /** Decided and not in place yet. */
  #stuck: Planned | undefined;
  /** Prepared, and the store has not said whether it was decided. */
  #doubted: Planned | undefined;
  /** Found out when it is opened: after a decision it would be too late. */
  #hasLinks = true;
  #last: Promise<unknown> = Promise.resolve();
  #slot: Slot = 0;
  #order = 0;
  #commits = 0;
  /** What somebody else did, until a boundary that is reached has told it. */
  #untold: Diverged[] = [];
  #users = 0;
  #closed: Promise<void> | undefined;

  private constructor(
    root: HostRoot,
    places: Places,
    lock: HeldLock,
    deps: WorkspaceDeps,
    options: WorkspaceOptions,
    caseMatters: boolean,
  ) {
    this.#root = root;
    this.#places = places;
    this.#slots = new Slots(root.port, this.#places);
    this.#lock = lock;
    this.#deps = deps;
    this.disk = new Disk(root, placesIn(root.path, deps.store), { caseMatters });
    this.limits = bounded(WORKSPACE_LIMITS, options.limits, "workspace.limits");
    this.rescue = new Rescue(
      root.port,
      this.#places.rescue,
      bounded(RESCUE_BOUNDS, options.rescue, "workspace.rescue"),
      deps.clock,
    );
    const { disk, rescue } = this;
    this.staged = new StagedFiles(disk, this.#places.temporary, this.limits, () => deps.random.hex(8));
    this.execs = new ExecWorks({ root, disk, rescue, places: this.#places, known: {} });
    this.id = workspaceId(root.port, this.#places, () => deps.random.hex(16));
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
      const caseMatters = port.stat(`${path}/${OWN_FOLDER.toUpperCase()}`) === undefined;
      places = openPlaces(root);
      workspace = new Workspace(root, places, lock, deps, options, caseMatters);
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
    return this.#alone(async () => {
      await beforeWriting(this.#ready(files.exec?.id));
      const tx = this.#deps.random.hex(12);
      const { session, after, callId, steps } = files;
      const slot = this.#slot;
      const order = this.#order + 1;
      const work = await beforeWriting(this.#commands(files));
      const { stageBlob, content } = files;
      const left = (path: string) => files.exec?.left.get(path);
      const before = (name: BlobName) => work?.before(name) ?? NOTHING;
      const ground: PrepareGround = { ...this.#ground(slot), stageBlob, content, left, before };
      const about = {
        tx,
        order,
        session,
        after,
        ...(callId === undefined ? {} : { callId }),
        ...(work === undefined ? {} : { exec: work.id, links: work.links }),
      };
      const planned = (intent: Intent) => {
        this.#doubted = { intent, slot };
        this.#order = order;
        this.#slot = otherSlot(slot);
      };
      try {
        const { images, named } = await beforeWriting(prepare(ground, about, steps, planned));
        await decide({ tx, images, named });
      } catch (error) {
        // A plan whose decision is not known stays written down: the journal will say, to whoever asks.
        if (isUnwritten(error)) await this.#takeBack();
        throw error;
      }
      this.#stuck = this.#doubted;
      this.#doubted = undefined;
      for (const { path } of steps) this.pending.add(path);
      // Decided: from here on a failure leaves it pending, to be tried again, and takes nothing back.
      await this.#finish().catch(() => {});
      return this.#untold.splice(0);
    });
  }

  /** Puts waiting changes in place. Throws WORKSPACE_PENDING if something prevents it. */
  settle(): Promise<readonly Diverged[]> {
    return this.#alone(async () => {
      await this.#ready();
      return this.#untold.splice(0);
    });
  }

  /** Where the content of a decided change may be: still waiting, on its way, or in place. */
  placesOf(path: string): readonly (readonly string[])[] {
    return this.#stuck === undefined ? [namesIn(path)] : placesOfContent(this.#stuck.intent, path);
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
    this.#closed ??= inOurWords(this.path, () => this.#alone(() => this.#close()));
    return this.#closed;
  }

  async #close(): Promise<void> {
    try {
      await this.#finish();
      await this.#syncFolders();
      this.rescue.prune();
      this.staged.clear();
      if (this.#commits > 0) await this.#slots.emptyBoth(otherSlot(this.#slot), this.#deps.sync);
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
    let newest: FoundPlan | undefined;
    for (const plan of this.#slots.read().toReversed()) {
      this.#order = Math.max(this.#order, plan.intent.order);
      if (newest !== undefined) {
        // Before the newest was decided, this one was in place and synced. Done again, it would bring back a folder that
        // the newest has removed, when that was the work of a command, which is not done again.
        if (plan.intent.exec !== undefined) this.execs.end(plan.intent.exec, false);
        continue;
      }
      if (plan.state === "prepared" && this.#deps.givenUp?.(plan.intent) === true) {
        await this.#giveUp(plan);
        continue;
      }
      const decided = plan.state === "applied" || (await this.#deps.decided(plan.intent));
      if (decided) newest = plan;
      else await this.#abandon(plan);
    }
    if (newest !== undefined) {
      const { slot, state, isOver, intent } = newest;
      this.#stuck = { intent, slot, again: true, over: isOver };
      await this.#finish();
      const diverged = this.#untold.splice(0);
      const { session, callId } = intent;
      if (state === "prepared") this.finished.push({ session, ...(callId === undefined ? {} : { callId }), diverged });
    }
    await this.execs.recover(this.#deps.endStrays ?? (async () => {}), (names) => this.sync(names));
    await this.#syncFolders();
    this.staged.clear();
    this.#hasLinks = hasLinks(this.#root.port, this.#places);
    await this.#slots.emptyBoth(newest?.slot ?? 1, this.#deps.sync);
    for (const place of [[], [OWN_FOLDER], PLACES.home, PLACES.exec]) this.#unsynced.add(place.join("/"));
    await this.#syncFolders();
    this.#findUntold();
    this.rescue.prune();
  }

  /** What earlier processes kept in rescue and did not come to tell. */
  #findUntold(): void {
    const known = new Set(this.finished.flatMap(({ diverged }) => diverged.map(({ kept }) => kept)));
    for (const { session, path, name } of this.rescue.untold())
      if (!known.has(name)) this.finished.push({ session, diverged: [{ path, why: "changed", kept: name }] });
  }

  /** What waits is in rescue, also after a loss of power, before the plan that names it is forgotten. */
  async #giveUp(plan: FoundPlan): Promise<void> {
    for (const folder of moveToRescue(this.#root, this.rescue, this.#places, plan.intent)) this.#unsynced.add(folder);
    this.#unsynced.add(PLACES.rescue.join("/"));
    await this.#syncFolders();
    const { exec } = plan.intent;
    if (exec !== undefined) this.execs.end(exec, false); // or what its commands did in place would be taken back
    await this.#abandon(plan);
  }

  /** The next plan takes its slot: in the other one stands a plan that may not be synced yet. */
  async #abandon({ intent, slot }: Pick<Planned, "intent" | "slot">): Promise<void> {
    abandon(this.#root, intent);
    await this.#slots.empty(slot, this.#deps.sync);
    this.#slot = slot;
  }

  /** Removes what a plan had laid out. If even that fails now, the plan is kept in mind and tried again. */
  async #takeBack(): Promise<void> {
    const doubted = this.#doubted;
    if (doubted === undefined) return;
    doubted.refused = true;
    try {
      await this.#abandon(doubted);
      this.#doubted = undefined;
    } catch {
      // The refusal that led here is the one to tell; this one comes again as long as it lasts.
    }
  }

  async #askForDoubted(): Promise<void> {
    const doubted = this.#doubted;
    if (doubted === undefined) return;
    if (doubted.refused !== true && (await this.#deps.decided(doubted.intent))) this.#stuck = doubted;
    else await this.#abandon(doubted);
    this.#doubted = undefined;
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
    this.#unsynced.add(PLACES.exec.join("/")); // also of commands without a plan
    this.execs.end(
      id,
      [this.#stuck, this.#doubted].some((planned) => planned?.intent.exec === id),
    );
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
      await this.#finish();
    });
  }

  async #finish(): Promise<void> {
    for (const { path, name } of this.rescue.lateWrites()) this.#untold.push({ path, why: "written-late", kept: name });
    for (const path of this.execs.lateWrites()) this.#untold.push({ path, why: "written-late" });
    await this.#askForDoubted();
    const stuck = this.#stuck;
    if (stuck === undefined) return;
    const { intent, slot, again = false, over = false } = stuck;
    stuck.again = true;
    let applied: Applied;
    try {
      const done = (path: string) => this.pending.delete(path);
      applied = await apply({ ...this.#files(), again, over, done }, intent);
    } catch (error) {
      const path = [...this.pending][0] ?? "";
      throw new HoldfastError(
        "WORKSPACE_PENDING",
        { path, waiting: this.pending.size },
        { cause: hostError(error, path) },
      );
    }
    this.execs.finished(intent);
    this.#stuck = undefined;
    this.pending.clear();
    for (const folder of applied.folders) this.#unsynced.add(folder);
    // If the folder of commands came back with a loss of power, what they did would be taken for not decided.
    if (intent.exec !== undefined) this.#unsynced.add(PLACES.exec.join("/"));
    // What was taken out of the way is kept beside the journal too; what did not get in lies only here.
    if (applied.diverged.length > 0) this.#unsynced.add(PLACES.rescue.join("/"));
    this.rescue.watch(applied.moved);
    for (const one of applied.diverged) this.#untold.push(one);
    this.#slots.applied(slot, intent);
    this.#commits += 1;
    if (this.#commits % COMMITS_PER_PRUNE === 0) this.rescue.prune();
  }

  #files() {
    const { disk, rescue } = this;
    return { disk, rescue, root: this.#root, places: this.#places, slots: this.#slots };
  }

  #ground(slot: Slot) {
    return {
      ...this.#files(),
      slot,
      now: () => this.#deps.clock.now(),
      sync: this.#deps.sync,
      syncing: (names: ToSync) => this.sync(names),
      proven: this.#proven,
      unsynced: this.#unsynced,
    };
  }

  async #syncFolders(): Promise<void> {
    const folders = [...this.#unsynced].map((path) => namesIn(path));
    this.#unsynced.clear();
    await this.sync({ files: [], folders });
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** A change of files made by no command needs nothing of what was before one. */
const NOTHING: AsyncIterable<Bytes> = (async function* () {})();
