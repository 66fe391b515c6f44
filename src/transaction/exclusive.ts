import { RestoreFailedError } from "../state/errors.ts";
import type { ResourceKey, ResourceRegistry } from "../state/resources.ts";

/**
 * Resources that cannot branch belong to one call at a time. One lock for all of them: two calls that took them one by
 * one could wait for each other for ever.
 */
export class ExclusiveResources {
  readonly #registry: ResourceRegistry;
  #holder: string | undefined;
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};
  readonly #before = new Map<string, unknown>();

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  async acquire<T>(callId: string, key: ResourceKey<T>, signal: AbortSignal): Promise<T> {
    const value = this.#registry.get(key);
    const snapshotable = this.#registry.snapshotableResources().get(key.key);
    if (snapshotable === undefined) return value; // nothing to put back: it is used as it is
    while (this.#holder !== callId && this.#holder !== undefined) {
      await this.#free;
      signal.throwIfAborted();
    }
    if (this.#holder === undefined) {
      this.#holder = callId;
      this.#free = new Promise((resolve) => {
        this.#release = resolve;
      });
    }
    if (!this.#before.has(key.key)) this.#before.set(key.key, await snapshotable.snapshot({ tag: `pre:${callId}` }));
    return value;
  }

  /** Ends the call's hold. When discarding, everything is put back first; one that refuses poisons the state. */
  async settle(callId: string, commit: boolean): Promise<void> {
    if (this.#holder !== callId) return;
    const refused: unknown[] = [];
    const names: string[] = [];
    if (!commit) {
      for (const [name, was] of [...this.#before].toReversed()) {
        try {
          await this.#registry.snapshotableResources().get(name)?.restore(was);
        } catch (error) {
          refused.push(error);
          names.push(name);
        }
      }
    }
    this.#before.clear();
    this.#holder = undefined;
    this.#release();
    if (refused.length > 0) throw new RestoreFailedError({ call: callId, refused: names }, refused);
  }
}
