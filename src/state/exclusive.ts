import { HoldfastError } from "../base/errors.ts";
import { RestoreFailedError } from "./errors.ts";
import { putBack, type ResourceKey, type ResourceRegistry, type Snapshotable } from "./resources.ts";

interface Hold {
  readonly by: string;
  /** What each resource was before this holder touched it. */
  readonly before: Map<string, unknown>;
  /** Resources that are being asked what they are: asked once more, one of them would tell what the holder made of it. */
  readonly asked: Map<string, Promise<void>>;
  /** By its shape: the name would be in our types, and is missing from those of older targets than ES2024. */
  readonly released: { readonly promise: Promise<void>; readonly resolve: () => void };
}

/**
 * Resources that cannot branch belong to one call at a time. One lock for all of them: two calls that took them one by
 * one could wait for each other for ever. Whoever needs both takes this lock first and the gate second.
 */
export class ExclusiveResources {
  readonly #registry: ResourceRegistry;
  readonly #origins = new Map<string, unknown>();
  #captured: ReadonlyMap<string, unknown> = new Map();
  #hold: Hold | undefined;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  /** What every resource was when the last call that used it had committed. Another map whenever one of them changed. */
  get captured(): ReadonlyMap<string, unknown> {
    return this.#captured;
  }

  /** What every resource was when it was first used: a snapshot that does not name it was taken before that. */
  get origins(): ReadonlyMap<string, unknown> {
    return this.#origins;
  }

  /** The resource, alone until the hold ends. What is captured here is put back if the call is discarded. */
  async acquire<T>(by: string, key: ResourceKey<T>, signal: AbortSignal): Promise<T> {
    const value = this.#registry.get(key);
    const resource = this.#registry.restorable(key.key);
    if (resource === undefined || resource.shared === true) return value; // nothing to put back: it is used as it is
    const hold = await this.hold(by, signal);
    if (hold.before.has(key.key)) return value;
    const asked = hold.asked.get(key.key) ?? this.#ask(hold, key.key, resource, signal);
    hold.asked.set(key.key, asked);
    await asked.finally(() => hold.asked.delete(key.key));
    return value;
  }

  async #ask(hold: Hold, name: string, resource: Snapshotable<unknown>, signal: AbortSignal): Promise<void> {
    const was = await resource.snapshot({ tag: `pre:${hold.by}` });
    // The call may have ended while the resource answered: then the lock is somebody else's by now.
    if (this.#hold !== hold || signal.aborted)
      throw new HoldfastError("CALL_CLOSED", { call: hold.by, attempted: "resource" });
    hold.before.set(name, was);
    if (!this.#origins.has(name)) this.#origins.set(name, was);
  }

  /** Waits for the lock. Taking it twice is taking it once. */
  async hold(by: string, signal?: AbortSignal): Promise<Hold> {
    while (this.#hold !== undefined && this.#hold.by !== by) {
      await this.#hold.released.promise;
      signal?.throwIfAborted();
    }
    this.#hold ??= { by, before: new Map(), asked: new Map(), released: Promise.withResolvers() };
    return this.#hold;
  }

  isHeldBy(by: string): boolean {
    return this.#hold?.by === by;
  }

  /** What the holder's resources are now: where a part of its work begins that may be taken back without the rest. */
  async mark(by: string): Promise<ReadonlyMap<string, unknown>> {
    const mark = new Map<string, unknown>();
    for (const name of this.#heldBy(by))
      mark.set(name, await this.#registry.restorable(name)?.snapshot({ tag: `savepoint:${by}` }));
    return mark;
  }

  /** Back to a mark; what was taken after it, to what it was before. */
  async backTo(by: string, mark: ReadonlyMap<string, unknown>): Promise<void> {
    const before = this.#hold?.before;
    await this.#restore(
      by,
      this.#heldBy(by).map((name) => [name, mark.has(name) ? mark.get(name) : before?.get(name)]),
    );
  }

  holdsAny(by: string): boolean {
    return this.#heldBy(by).length > 0;
  }

  /** Puts everything back and keeps the lock. One that refuses leaves the state half restored: the caller poisons it. */
  async putBack(by: string): Promise<void> {
    if (!this.isHeldBy(by)) return;
    const before = [...(this.#hold?.before ?? [])];
    this.#hold?.before.clear();
    await this.#restore(by, before);
  }

  async #restore(by: string, before: readonly (readonly [string, unknown])[]): Promise<void> {
    const refused: unknown[] = [];
    const names: string[] = [];
    for (const [name, was] of before.toReversed()) {
      try {
        const resource = this.#registry.restorable(name);
        if (resource !== undefined) await putBack(resource, was);
      } catch (error) {
        refused.push(error);
        names.push(name);
      }
    }
    if (refused.length > 0) throw new RestoreFailedError({ call: by, refused: names }, refused);
  }

  /**
   * What every resource will be when the holder has committed: what it made of its own, and what those say that calls share.
   * Undefined when there is nothing to say: most calls use none. It is to be noted once it is true.
   */
  capture(by: string): Promise<ReadonlyMap<string, unknown>> | undefined {
    const names = [...this.#heldBy(by), ...this.#registry.sharedNames];
    return names.length === 0 ? undefined : this.#capture(by, names);
  }

  async #capture(by: string, names: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
    const captured = new Map(this.#captured);
    for (const name of names)
      captured.set(name, await this.#registry.restorable(name)?.snapshot({ tag: `post:${by}` }));
    return captured;
  }

  /** The holder has committed. */
  noteCommitted(captured: ReadonlyMap<string, unknown>): void {
    this.#captured = captured;
  }

  /** After a restore: what the resources are now is what was put there. It may have been their first use. */
  noteRestored(before: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>): void {
    for (const [name, was] of before) if (!this.#origins.has(name)) this.#origins.set(name, was);
    this.#captured = new Map([...this.#captured, ...now]);
  }

  #heldBy(by: string): readonly string[] {
    return this.isHeldBy(by) ? [...(this.#hold?.before.keys() ?? [])] : [];
  }

  release(by: string): void {
    if (!this.isHeldBy(by)) return;
    this.#hold?.released.resolve();
    this.#hold = undefined;
  }
}
