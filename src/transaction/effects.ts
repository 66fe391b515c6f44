import { copyJson } from "../base/copy-json.ts";
import type { Clock } from "../base/clock.ts";
import { bothErrors, HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, KEPT_LIMITS } from "../base/json.ts";
import { asName } from "../base/words.ts";
import { CallIds } from "./call-ids.ts";
import {
  EffectDidNotHappen,
  type EffectEntry,
  effectId,
  type EffectReport,
  type EffectSpec,
  lastOfEach,
  SOMEBODY_ELSE,
  type Standing,
} from "./effect.ts";
import type { EffectLedger } from "./ledger.ts";
import { inOrder, isFree, type KnownEffect, KnownEffects, reportNow, reportOf } from "./known-effects.ts";
import type { Tool } from "./tool.ts";
import { undoingOf, whyNever, whyNotUndone } from "./undo-effect.ts";

export interface EffectRequest {
  readonly tool: Tool;
  readonly callId: string;
  readonly name: string;
  readonly args: unknown;
  readonly key: string;
  readonly signal: AbortSignal;
}

export type SpecOf = (tool: string, name: string) => EffectSpec | undefined;

/** Every effect of a session by its key: done once, found again after a restart, undone newest first. */
export class EffectBook {
  readonly #ledger: EffectLedger;
  readonly #clock: Clock;
  readonly #ids: CallIds;
  readonly #known = new KnownEffects();
  /** How the store is told of the end of those of which it refused to hear: this process knows better than the journal. */
  readonly #untold = new Map<KnownEffect, () => Promise<void>>();
  #keepsAll = false;
  readonly #running = new Map<string, Promise<Json>>();
  readonly #undoing = new Map<string, { readonly of: KnownEffect; readonly work: Promise<EffectReport> }>();
  readonly #touched = new Map<string, Set<string>>();
  /** What calls inside others, which have not ended yet, are letting go or have let go. */
  readonly #inside = new Map<string, Promise<readonly EffectReport[]>>();

  constructor(ledger: EffectLedger, clock: Clock, ids = new CallIds()) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** What an earlier process left, in the order it happened. `inside`: the outermost call of those that ran inside one. */
  recall(
    entry: EffectEntry,
    standing: Standing,
    owners: readonly string[],
    inside: ReadonlyMap<string, string> = new Map(),
  ): void {
    const known = this.#known.make(entry, Promise.resolve());
    this.#known.replace(effectId(entry), known);
    this.#known.stand(known, standing.is === "open" ? { is: "unknown" } : standing);
    for (const owner of owners) this.#known.reliance.add(known, owner, inside.get(owner) ?? owner);
    if (standing.is === "done" && owners.length === 0) this.#known.reliance.add(known, SOMEBODY_ELSE, SOMEBODY_ELSE);
  }

  /** In a fork: what was inherited stays as it is, whatever is rewound here. */
  disown(): void {
    for (const known of this.#known.all) {
      for (const owner of known.owners.keys()) this.#known.reliance.drop(known, owner);
      if (known.standing.is === "done") this.#known.reliance.add(known, SOMEBODY_ELSE, SOMEBODY_ELSE);
      if (known.standing.is === "undoing") this.#known.stand(known, { is: "unknown" }); // the origin goes on with it
    }
  }

  /** A call begins its handler, perhaps for the second time: what the first attempt did is kept only if asked for again. */
  beginAttempt(callId: string): void {
    this.#touched.delete(callId);
  }

  /**
   * Nothing can undo these any more, so nobody asks for their arguments: they may be whole files, and a session that goes on
   * for weeks would hold all of them.
   */
  forgetArguments(entries: Iterable<EffectEntry>): void {
    if (this.#keepsAll) return;
    for (const { generation, ...entry } of entries) {
      const known = this.#known.get(effectId(entry));
      if (known?.entry.generation === generation) known.entry = { ...known.entry, args: null };
    }
  }

  /** Somebody may take back all that came since, also what no boundary reaches any more. */
  keepAll(): void {
    this.#keepsAll = true;
  }

  /** The call is over, and so are those inside it: nobody asks any more what they asked for. */
  forget(callId: string): void {
    for (const remembered of [this.#touched, this.#inside])
      for (const id of remembered.keys()) if (this.#ids.outermost(id) === callId) remembered.delete(id);
  }

  /** Tells the store again what it refused to hear, as far as it hears it now. */
  async tellUntold(): Promise<void> {
    const untold = [...this.#untold.keys()]; // who is refused once more comes in again at the end
    for (const known of untold) await this.#tellAgain(known);
  }

  /** Nothing was ever done outside: there is nothing to undo, whatever ends. */
  get isEmpty(): boolean {
    return this.#known.isEmpty;
  }

  /** Calls, and calls inside them, of which it is remembered what they asked for. None of them has ended. */
  get underWay(): number {
    return new Set([...this.#touched.keys(), ...this.#inside.keys()]).size;
  }

  /** Whether a call of that id relies on anything. */
  isReliedOnBy(callId: string): boolean {
    return this.#known.reliance.has(callId);
  }

  /** The same key is the same effect: a second request gets the first one's result, also while that is still running. */
  async run(request: EffectRequest): Promise<Json> {
    return copyJson(await this.#run(request)); // what a caller makes of it is its own
  }

  async #run(request: EffectRequest): Promise<Json> {
    const { tool, callId, name, key } = request;
    // Kept, half a character becomes another one: not found again by its key, the effect would happen twice.
    if (typeof key !== "string" || !key.isWellFormed() || !name.isWellFormed())
      throw new HoldfastError("EFFECT_BAD_KEY", { tool: tool.name, effect: asName(name), call: callId });
    const id = effectId({ tool: tool.name, name, key });
    if (request.signal.aborted) throw ended(request); // asked for anew behind its call's end, it would be remembered for ever
    this.#touched.set(callId, (this.#touched.get(callId) ?? new Set()).add(id));
    await this.#undoing.get(id)?.work.catch(() => {}); // told to whoever asked for it
    await this.tellUntold();
    const known = this.#known.get(id);
    if (known?.standing.is === "undoing") await this.#undo(known, () => tool.effects[name]);
    // Whatever it waited for, its call may have ended meanwhile, and would never be told.
    if (request.signal.aborted) throw ended(request);
    const running = this.#running.get(id);
    if (running !== undefined) {
      if (known?.standing.is === "open") await this.#join(known, request);
      const result = await running;
      // Undone as soon as it was done, because nobody relied on it by then: it is done anew.
      return known?.standing.is === "done" ? result : this.#run(request);
    }
    if (known?.standing.is === "done" || known?.standing.is === "not-undone") {
      const { result } = known.standing;
      await this.#join(known, request);
      return result;
    }
    if (known !== undefined && known.standing.is !== "undone")
      throw new HoldfastError("EFFECT_UNKNOWN", { key, effect: name, call: known.entry.callId });
    const work = this.#begin(request, id, known === undefined ? 0 : known.entry.generation + 1);
    this.#running.set(id, work);
    return work.finally(() => this.#running.delete(id));
  }

  /** Calls that rely on something; without these, and without those that ran inside them. */
  owners(except?: ReadonlySet<string>): ReadonlySet<string> {
    return new Set(this.#known.reliance.owners(except));
  }

  /** What this call did or relied on. */
  of(callId: string): readonly EffectReport[] {
    if (this.isEmpty) return [];
    return this.#known.owned([callId]).flatMap(({ entry, standing }) => reportOf(entry, standing) ?? []);
  }

  /**
   * Lets go of what earlier attempts of a call did and the last did not ask for again. The answer undoes it, once the call has
   * ended: cut off in between, the next process does.
   */
  async leaveUntouched(callId: string, specOf: SpecOf): Promise<() => Promise<readonly EffectReport[]>> {
    const stale = this.#untouched(callId);
    this.#drop(stale, [callId]);
    try {
      await this.#tellLeft(stale, callId);
    } catch (error) {
      this.#letGoFree(stale);
      throw error;
    }
    return () => this.#undoFree(stale, specOf);
  }

  /** What only attempts that were given up asked for, and calls inside them: their end tells that it is undone behind it. */
  givenUp(callId: string, inside: readonly string[], specOf: SpecOf): readonly EffectReport[] {
    if (this.isEmpty) return [];
    const stale = new Set(this.#untouched(callId));
    const gone = new Set(inside);
    return inOrder(stale.union(new Set(this.#known.owned(inside))))
      .filter((known) =>
        known.owners.keys().every((owner) => gone.has(owner) || (owner === callId && stale.has(known))),
      )
      .flatMap((known): readonly EffectReport[] => {
        const report = foreseen(known, specOf);
        if (report?.is !== "happened") return report === undefined ? [] : [report];
        return [
          report.detail === undefined
            ? { ...report, detail: "it is about to be undone" }
            : { ...report, is: "not-undone" },
        ];
      });
  }

  /** Undoes what only these calls rely on, newest first. One that cannot be undone is reported and stops nothing. */
  async undo(callIds: readonly string[], specOf: SpecOf): Promise<readonly EffectReport[]> {
    const gone = this.#known.withInner(callIds);
    // Stopped together, a call inside may be undoing what was its own: whoever ends the call around it tells of that too.
    const inside = gone.flatMap((callId) => this.#inside.get(callId) ?? []);
    for (const callId of gone) this.#inside.delete(callId);
    const earlier = (await Promise.all(inside)).flat();
    const refused = this.#known.toUndo.filter(({ entry }) => gone.includes(entry.callId));
    await this.finishUndoing(specOf);
    const finished = refused.map(({ entry, standing }) => reportNow(entry, standing));
    const owned = this.#known.owned(gone);
    this.#drop(owned, gone);
    return lastOfEach([...earlier, ...finished.toReversed(), ...(await this.#undoFree(owned, specOf))]);
  }

  /** The same for some of what a call did: a part of it was rolled back. */
  async undoOf(callId: string, effects: ReadonlySet<string>, specOf: SpecOf): Promise<readonly EffectReport[]> {
    const touched = this.#touched.get(callId);
    for (const effect of effects) touched?.delete(effect);
    const gone = this.#known.owned([callId]).filter(({ entry }) => effects.has(effectId(entry)));
    return this.#leave(gone, callId, specOf);
  }

  /** The same for a call inside another one, and for those inside it. */
  async undoInside(callId: string, deeper: readonly string[], specOf: SpecOf): Promise<readonly EffectReport[]> {
    if (this.isEmpty) return [];
    const work = this.undo([...deeper, callId], specOf);
    this.#inside.set(
      callId,
      work.catch(() => []), // told to whoever asked; what is still to be undone is found again
    );
    return work;
  }

  /** Goes on with what an earlier process, or a rewind that the store refused in the middle, had still to undo. */
  async finishUndoing(specOf: SpecOf): Promise<void> {
    for (const known of this.#known.toUndo.toReversed())
      if (known.standing.is === "undoing" && !this.#undoing.has(effectId(known.entry))) await this.#undo(known, specOf);
  }

  /** What `undo` would find to do, and why it could not. */
  planUndo(callIds: readonly string[], specOf: SpecOf): readonly EffectReport[] {
    const gone = new Set(this.#known.withInner(callIds));
    return this.#known
      .owned([...gone])
      .toReversed()
      .filter(({ owners }) => owners.keys().every((owner) => gone.has(owner)))
      .flatMap((known) => foreseen(known, specOf) ?? []);
  }

  async #begin(request: EffectRequest, id: string, generation: number): Promise<Json> {
    const { tool, callId, name, key, signal } = request;
    const spec = Object.hasOwn(tool.effects, name) ? tool.effects[name] : undefined;
    if (spec === undefined) throw new HoldfastError("EFFECT_UNDECLARED", { tool: tool.name, effect: name });
    const entry: EffectEntry = { tool: tool.name, name, key, callId, args: plain(name, request.args), generation };
    const begun = this.#ledger.effectOpened(entry);
    const known = this.#known.make(entry, begun);
    const before = this.#known.get(id);
    // Known before it is written down: a call that ends meanwhile must find it.
    this.#known.replace(id, known);
    this.#known.reliance.add(known, callId, this.#ids.outermost(callId));
    try {
      await begun;
    } catch (error) {
      this.#known.replace(id, before);
      throw error;
    }
    let result: Json;
    try {
      result = plain(name, await spec.run(copyJson(entry.args) as never, { key, signal }));
    } catch (error) {
      if (error instanceof EffectDidNotHappen) {
        await this.#tell(known, () => this.#ledger.effectUndone(entry, "undone", "it did not happen"));
        this.#known.stand(known, { is: "undone" });
      } else this.#known.stand(known, { is: "unknown" }); // it failed while it ran: nobody knows how far it came
      throw error;
    }
    await this.#tell(known, () => this.#ledger.effectDone(entry, result));
    this.#known.stand(known, { is: "done", result }); // not before: whoever asks meanwhile joins it, and that is written behind this
    // The call ended while it ran, and found it neither done nor undone.
    if (isFree(known)) await this.#undo(known, () => spec);
    return result;
  }

  /** What became of it is so, whether or not the store hears of it now: whoever asked goes on with that. */
  async #tell(known: KnownEffect, telling: () => Promise<void>): Promise<void> {
    this.#untold.delete(known);
    try {
      await telling();
    } catch {
      this.#untold.set(known, telling); // told again before anything else is said of it, and before a call ends
    }
  }

  async #tellAgain(known: KnownEffect): Promise<void> {
    const telling = this.#untold.get(known);
    if (telling !== undefined) await this.#tell(known, telling);
  }

  /** Relied on from here on, before it is written down: whoever is discarded meanwhile leaves it standing. */
  async #join(known: KnownEffect, request: EffectRequest): Promise<void> {
    const { callId } = request;
    // Asked for twice at once, it is the same joining: refused, it would be of no use to the second either.
    if (known.owners.has(callId)) return known.joining.get(callId);
    this.#known.reliance.add(known, callId, this.#ids.outermost(callId));
    const joining = this.#joined(known, request);
    known.joining.set(callId, joining);
    try {
      await joining;
    } finally {
      if (known.joining.get(callId) === joining) known.joining.delete(callId);
    }
  }

  async #joined(known: KnownEffect, request: EffectRequest): Promise<void> {
    const { entry, owners, begun } = known;
    const { callId } = request;
    try {
      await begun;
      // Let go meanwhile: written down now, behind its call's end, it would be relied on for ever.
      if (!owners.has(callId)) throw ended(request);
    } catch (error) {
      this.#known.reliance.drop(known, callId);
      throw error;
    }
    try {
      await this.#ledger.effectJoined(entry, callId);
    } catch (error) {
      // It may have been written down all the same; and whoever was discarded meanwhile has left it to this call.
      await this.#leave([known], callId, () => request.tool.effects[request.name]).catch((second: unknown) => {
        throw bothErrors(error, second);
      });
      throw error;
    }
  }

  /** A call that stays lets go of some, and they are undone. */
  async #leave(owned: readonly KnownEffect[], callId: string, specOf: SpecOf): Promise<readonly EffectReport[]> {
    this.#drop(owned, [callId]);
    const [reports] = await Promise.all([this.#undoFree(owned, specOf), this.#tellLeft(owned, callId)]);
    return reports;
  }

  /**
   * Nobody relies on any of them from here on, though they are undone one after another: asked for again meanwhile, one that
   * still seemed to be its call's would be undone under it.
   */
  #drop(owned: readonly KnownEffect[], callIds: readonly string[]): void {
    for (const known of owned) for (const callId of callIds) this.#known.reliance.drop(known, callId);
  }

  /** Its end tells nobody: the next process would find the call relying on what another one undoes. */
  async #tellLeft(owned: readonly KnownEffect[], callId: string): Promise<void> {
    // Behind its beginning, like its joinings: who asks for it again joins it again, and that is written down after this.
    const left = owned.map(({ entry, begun }) =>
      begun.then(
        () => this.#ledger.effectLeft(entry, callId),
        () => {}, // it never began
      ),
    );
    await Promise.all(left);
  }

  /** Those of them that nobody relies on, newest first. Joined before its turn, one stands. */
  async #undoFree(owned: readonly KnownEffect[], specOf: SpecOf): Promise<readonly EffectReport[]> {
    const free = owned.filter(isFree);
    const reports: EffectReport[] = [];
    try {
      for (const known of free.toReversed()) if (isFree(known)) reports.push(await this.#undo(known, specOf));
    } catch (error) {
      this.#letGoFree(free);
      throw error;
    }
    return reports;
  }

  /** The store refused one: the others are still to be undone, and found again. */
  #letGoFree(effects: readonly KnownEffect[]): void {
    for (const known of effects.filter(isFree)) this.#known.letGo(known);
  }

  /** Once at a time. Whoever asks for it meanwhile waits until it is known how that went. */
  async #undo(known: KnownEffect, specOf: SpecOf): Promise<EffectReport> {
    const id = effectId(known.entry);
    const running = this.#undoing.get(id);
    if (running?.of === known) return running.work;
    const undoing = { of: known, work: this.#undoNow(known, specOf) };
    this.#undoing.set(id, undoing);
    try {
      return await undoing.work;
    } finally {
      if (this.#undoing.get(id) === undoing) this.#undoing.delete(id);
    }
  }

  async #undoNow(known: KnownEffect, specOf: SpecOf): Promise<EffectReport> {
    this.#known.letGo(known);
    const { entry, standing } = known;
    const about = { tool: entry.tool, name: entry.name, key: entry.key };
    if (standing.is !== "undoing") return reportNow(entry, standing);
    await this.#tellAgain(known);
    this.#untold.delete(known); // told behind its undoing, it would stand anew
    const { result } = standing;
    const spec = undoingOf(entry.args, result, () => specOf(entry.tool, entry.name));
    // An earlier process may have undone it, and nobody here can: it stays what it is.
    if (standing.begun && spec?.undo === undefined) return reportNow(entry, standing);
    // Written down first: cut off in the middle, it must not be taken for one that still stands.
    if (!standing.begun && spec?.undo !== undefined) {
      await this.#ledger.effectUndone(entry, "undoing");
      this.#known.stand(known, { is: "undoing", result, begun: true });
    }
    const detail = await whyNotUndone(entry, result, spec, this.#clock);
    if (detail === undefined) {
      await this.#ledger.effectUndone(entry, "undone");
      this.#known.stand(known, { is: "undone" });
      return { ...about, is: "undone" };
    }
    await this.#ledger.effectUndone(entry, "not-undone", detail);
    this.#known.stand(known, { is: "not-undone", result, detail });
    return { ...about, is: "not-undone", detail };
  }

  /** What the last attempt of a call did not ask for again. */
  #untouched(callId: string): readonly KnownEffect[] {
    const touched = this.#touched.get(callId) ?? new Set();
    return this.#known.owned([callId]).filter(({ entry }) => !touched.has(effectId(entry)));
  }
}

/** As it stands, and why nobody here could undo it. */
function foreseen({ entry, standing }: KnownEffect, specOf: SpecOf): EffectReport | undefined {
  const report = reportOf(entry, standing);
  if (report === undefined || standing.is !== "done") return report;
  const detail = whyNever(undoingOf(entry.args, standing.result, () => specOf(entry.tool, entry.name)));
  return detail === undefined ? report : { ...report, detail };
}

function ended({ callId, tool }: EffectRequest): HoldfastError {
  return new HoldfastError("CALL_CLOSED", { call: callId, tool: tool.name, attempted: "effect" });
}

/** A copy: who gave it may change it, and it would be undone with something else than the next process reads. */
function plain(effect: string, value: unknown): Json {
  const checked = checkJson(value ?? null, KEPT_LIMITS);
  if (checked.ok) return copyJson(checked.value.value);
  throw new HoldfastError("VALUE_NOT_JSON", { effect, path: checked.error.path, detail: checked.error.detail });
}
