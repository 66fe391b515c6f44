import { HoldfastError } from "../../base/errors.ts";
import { namesIn } from "../path.ts";
import { type Applied, apply, type Diverged } from "./apply.ts";
import type { Finished } from "./commit.ts";
import type { ExecWorks } from "./exec-work.ts";
import { hostError } from "./failures.ts";
import type { FormerGround } from "./former.ts";
import { moveToRescue } from "./given-up.ts";
import type { Intent } from "./intent.ts";
import { PLACES } from "./meta.ts";
import { placesOfContent } from "./new-trees.ts";
import type { WorkspaceDeps } from "./options.ts";
import type { Step } from "./part.ts";
import { abandon, prepare, type Prepared, type PrepareGround } from "./prepare.ts";
import { type FoundPlan, otherSlot, type Slot, Slots } from "./slots.ts";
import type { ToSync } from "./syncing.ts";

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

/** What plans are carried out on. */
interface PlansGround extends Omit<FormerGround, "now"> {
  readonly execs: ExecWorks;
  readonly sync: (names: ToSync) => Promise<void>;
}

/** How often what is kept aside is brought within its bounds. */
const COMMITS_PER_PRUNE = 32;

/**
 * The plans of a workspace: each is written down, decided by somebody else, and put in place or taken back. One after the
 * other: the next is prepared when nothing of the one before it waits.
 */
export class Plans {
  /** Paths that were decided and are not in place yet. */
  readonly pending = new Set<string>();
  readonly #ground: PlansGround;
  readonly #deps: WorkspaceDeps;
  readonly #slots: Slots;
  /** Folders that were seen to be on the same file system as our own. */
  readonly #proven = new Set<string>();
  readonly #unsynced = new Set<string>();
  /** Decided and not in place yet. */
  #stuck: Planned | undefined;
  /** Prepared, and the store has not said whether it was decided. */
  #doubted: Planned | undefined;
  /** For the next one. */
  #slot: Slot = 0;
  #order = 0;
  #done = 0;
  /** What somebody else did, until a boundary that is reached has told it. */
  #untold: Diverged[] = [];

  constructor(ground: PlansGround, deps: WorkspaceDeps) {
    this.#ground = ground;
    this.#deps = deps;
    this.#slots = new Slots(ground.root.port, ground.places);
  }

  /** Finishes the newest plan of earlier processes that was decided, if it was not finished, and takes back what was not. */
  async takeUp(): Promise<Finished | undefined> {
    let newest: FoundPlan | undefined;
    for (const plan of this.#slots.read().toReversed()) {
      this.#order = Math.max(this.#order, plan.intent.order);
      if (newest !== undefined) {
        // Before the newest was decided, this one was in place and synced. Done again, it would bring back a folder that
        // the newest has removed, when that was the work of a command, which is not done again.
        if (plan.intent.exec !== undefined) this.#ground.execs.end(plan.intent.exec, false);
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
    if (newest === undefined) return undefined;
    const { slot, state, isOver, intent } = newest;
    this.#stuck = { intent, slot, again: true, over: isOver };
    this.#slot = otherSlot(slot);
    await this.finish();
    const diverged = this.takeUntold();
    const { session, callId } = intent;
    return state === "prepared" ? { session, ...(callId === undefined ? {} : { callId }), diverged } : undefined;
  }

  /** Prepares one and writes it down. From then on there is something to take back, or to be decided. */
  prepare(
    content: Pick<PrepareGround, "stageBlob" | "content" | "left" | "before">,
    about: Omit<Intent, "order" | "steps">,
    steps: readonly Step[],
  ): Promise<Prepared> {
    const [slot, order] = [this.#slot, this.#order + 1];
    const ground: PrepareGround = {
      ...this.#ground,
      ...content,
      slots: this.#slots,
      slot,
      now: () => this.#deps.clock.now(),
      sync: this.#deps.sync,
      syncing: this.#ground.sync,
      proven: this.#proven,
      unsynced: this.#unsynced,
    };
    return prepare(ground, { ...about, order }, steps, (intent) => {
      this.#doubted = { intent, slot };
      this.#order = order;
      this.#slot = otherSlot(slot);
    });
  }

  /** The one that was prepared is decided: from here on a failure leaves it pending, to be tried again, and takes nothing back. */
  decided(): void {
    this.#stuck = this.#doubted;
    this.#doubted = undefined;
    for (const { path } of this.#stuck?.intent.steps ?? []) this.pending.add(path);
  }

  /** Removes what the one that was prepared had laid out. If even that fails now, it is kept in mind and tried again. */
  async takeBack(): Promise<void> {
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

  /** Nothing waits any more when this is over. Throws WORKSPACE_PENDING if something prevents it. */
  async finish(): Promise<void> {
    const { rescue, execs } = this.#ground;
    for (const { path, name } of rescue.lateWrites()) this.#untold.push({ path, why: "written-late", kept: name });
    for (const path of execs.lateWrites()) this.#untold.push({ path, why: "written-late" });
    await this.#askForDoubted();
    const stuck = this.#stuck;
    if (stuck === undefined) return;
    const { intent, slot, again = false, over = false } = stuck;
    stuck.again = true;
    let applied: Applied;
    try {
      const done = (path: string) => this.pending.delete(path);
      applied = await apply({ ...this.#ground, again, over, done }, intent);
    } catch (error) {
      const path = [...this.pending][0] ?? "";
      const waiting = this.pending.size;
      throw new HoldfastError("WORKSPACE_PENDING", { path, waiting }, { cause: hostError(error, path) });
    }
    execs.finished(intent);
    this.#stuck = undefined;
    this.pending.clear();
    this.toSync(applied.folders);
    // If the folder of commands came back with a loss of power, what they did would be taken for not decided.
    if (intent.exec !== undefined) this.toSync([PLACES.exec.join("/")]);
    // What was taken out of the way is kept beside the journal too; what did not get in lies only here.
    if (applied.diverged.length > 0) this.toSync([PLACES.rescue.join("/")]);
    rescue.watch(applied.moved);
    for (const one of applied.diverged) this.#untold.push(one);
    this.#slots.applied(slot, intent);
    this.#done += 1;
    if (this.#done % COMMITS_PER_PRUNE === 0) rescue.prune();
  }

  /** What somebody else did. Told once. */
  takeUntold(): readonly Diverged[] {
    return this.#untold.splice(0);
  }

  /** Where the content of a decided change may be: still waiting, on its way, or in place. */
  placesOf(path: string): readonly (readonly string[])[] {
    return this.#stuck === undefined ? [namesIn(path)] : placesOfContent(this.#stuck.intent, path);
  }

  /** Whether the folder of some commands is still needed, to put their work in place or to take it back. */
  needs(exec: string): boolean {
    return [this.#stuck, this.#doubted].some((planned) => planned?.intent.exec === exec);
  }

  /** These folders are to be synced before a plan is forgotten. */
  toSync(folders: Iterable<string>): void {
    for (const folder of folders) this.#unsynced.add(folder);
  }

  async syncFolders(): Promise<void> {
    const folders = [...this.#unsynced].map((path) => namesIn(path));
    this.#unsynced.clear();
    await this.#ground.sync({ files: [], folders });
  }

  /** All is in place and synced: no plan is found any more. */
  async forget(): Promise<void> {
    await this.#slots.emptyBoth(otherSlot(this.#slot), this.#deps.sync);
  }

  /** Whether any was carried out here. */
  get haveBeen(): boolean {
    return this.#done > 0;
  }

  /** What waits is in rescue, also after a loss of power, before the plan that names it is forgotten. */
  async #giveUp(plan: FoundPlan): Promise<void> {
    const { root, rescue, places, execs } = this.#ground;
    this.toSync(moveToRescue(root, rescue, places, plan.intent));
    this.toSync([PLACES.rescue.join("/")]);
    await this.syncFolders();
    const { exec } = plan.intent;
    if (exec !== undefined) execs.end(exec, false); // or what its commands did in place would be taken back
    await this.#abandon(plan);
  }

  /** The next plan takes its slot: in the other one stands a plan that may not be synced yet. */
  async #abandon({ intent, slot }: Pick<Planned, "intent" | "slot">): Promise<void> {
    abandon(this.#ground.root, intent);
    await this.#slots.empty(slot, this.#deps.sync);
    this.#slot = slot;
  }

  async #askForDoubted(): Promise<void> {
    const doubted = this.#doubted;
    if (doubted === undefined) return;
    if (doubted.refused !== true && (await this.#deps.decided(doubted.intent))) this.#stuck = doubted;
    else await this.#abandon(doubted);
    this.#doubted = undefined;
  }
}
