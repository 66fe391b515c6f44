import { HoldfastError } from "../base/errors.ts";
import { encodeJson, type Json } from "../base/json.ts";
import type { EffectEntry, Ledger } from "./ledger.ts";
import type { EffectSpec, Tool } from "./tool.ts";

type Standing =
  | { readonly is: "open" }
  | { readonly is: "done"; readonly result: Json }
  | { readonly is: "undone" }
  /** Begun by a process that did not live to tell: it may have happened. Never assumed either way. */
  | { readonly is: "unknown" };

interface Known {
  readonly entry: EffectEntry;
  standing: Standing;
}

/** What became of an effect when its call was discarded or rewound, in words a model and a person can use. */
export interface EffectReport {
  readonly key: string;
  readonly name: string;
  readonly is: "happened" | "undone" | "not-undone" | "unknown";
  readonly detail?: string;
}

const UNDO_ATTEMPTS = 3;

/** Every effect of a session by its key: done once, found again after a restart, undone newest first. */
export class EffectBook {
  readonly #ledger: Ledger;
  readonly #byKey = new Map<string, Known>();
  readonly #running = new Map<string, Promise<Json>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** What an earlier process left, in the order it happened. An effect that never ended is unknown. */
  recall(entry: EffectEntry, standing: Standing): void {
    this.#byKey.set(entry.key, { entry, standing });
  }

  /** The same key is the same effect: a second request gets the first one's result, also while that is still running. */
  run(tool: Tool, callId: string, name: string, args: Json, key: string, signal: AbortSignal): Promise<Json> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const work = this.#run(tool, callId, name, args, key, signal).finally(() => this.#running.delete(key));
    this.#running.set(key, work);
    return work;
  }

  async #run(tool: Tool, callId: string, name: string, args: Json, key: string, signal: AbortSignal): Promise<Json> {
    const spec = Object.hasOwn(tool.effects, name) ? tool.effects[name] : undefined;
    if (spec === undefined) throw new HoldfastError("EFFECT_UNDECLARED", { tool: tool.name, effect: name });
    const known = this.#byKey.get(key);
    if (known?.standing.is === "done") return known.standing.result;
    if (known?.standing.is === "unknown" || known?.standing.is === "open") {
      throw new HoldfastError("EFFECT_UNKNOWN", { key, effect: known.entry.name, call: known.entry.callId });
    }
    const generation = known === undefined ? 0 : known.entry.generation + 1;
    const entry: EffectEntry = { key, name, tool: tool.name, callId, args, generation };
    await this.#ledger.effectOpened(entry);
    const fresh: Known = { entry, standing: { is: "open" } };
    this.#byKey.set(key, fresh);
    try {
      const encoded = encodeJson(await spec.run(args as never, { key, signal }));
      if (!encoded.ok)
        throw new HoldfastError("VALUE_NOT_JSON", {
          effect: name,
          path: encoded.error.path,
          detail: encoded.error.detail,
        });
      await this.#ledger.effectDone(entry, encoded.value.value);
      fresh.standing = { is: "done", result: encoded.value.value };
      return encoded.value.value;
    } catch (error) {
      fresh.standing = { is: "unknown" }; // it failed while it ran: nobody knows how far it came
      throw error;
    }
  }

  of(callId: string): readonly EffectReport[] {
    return this.#of(callId).map(({ entry, standing }) => ({
      key: entry.key,
      name: entry.name,
      is: standing.is === "done" ? "happened" : "unknown",
    }));
  }

  /** Undoes a call's effects, newest first. One that cannot be undone is reported and does not stop the others. */
  async undo(
    callId: string,
    specOf: (tool: string, name: string) => EffectSpec | undefined,
  ): Promise<readonly EffectReport[]> {
    const reports: EffectReport[] = [];
    for (const known of this.#of(callId).toReversed()) reports.push(await this.#undo(known, specOf));
    return reports;
  }

  async #undo(known: Known, specOf: (tool: string, name: string) => EffectSpec | undefined): Promise<EffectReport> {
    const { entry } = known;
    const about = { key: entry.key, name: entry.name };
    if (known.standing.is !== "done")
      return { ...about, is: "unknown", detail: "it had not ended when the call did; it may have happened" };
    const { result } = known.standing;
    const undo = specOf(entry.tool, entry.name)?.undo;
    let detail = "no way to undo it is declared";
    for (let attempt = 0; undo !== undefined && attempt < UNDO_ATTEMPTS; attempt += 1) {
      try {
        await undo(entry.args as never, result as never, { key: entry.key });
        await this.#ledger.effectUndone(entry, "undone");
        known.standing = { is: "undone" };
        return { ...about, is: "undone" };
      } catch (error) {
        detail = `undoing it failed ${UNDO_ATTEMPTS} times: ${String(error)}`;
      }
    }
    await this.#ledger.effectUndone(entry, "not-undone", detail);
    return { ...about, is: "not-undone", detail };
  }

  #of(callId: string): readonly Known[] {
    return [...this.#byKey.values()].filter(
      ({ entry, standing }) => entry.callId === callId && standing.is !== "undone",
    );
  }
}
