import { HoldfastError } from "../base/errors.ts";
import type { Stretch } from "../state/branch.ts";
import type { ExclusiveResources } from "../state/exclusive.ts";
import type { ResourceKey } from "../state/resources.ts";
import type { LazySignal } from "./lazy-signal.ts";
import { SideBySide } from "./side-by-side.ts";

/** What each of the resources was when a part of an attempt began. */
export type ResourceMark = ReadonlyMap<string, unknown>;

/** What cannot branch, as one attempt of a call and the parts of it use it. */
export class CallResources {
  readonly #exclusive: ExclusiveResources;
  readonly #call: string;
  readonly #turn: Promise<unknown>;
  readonly #stop: LazySignal;
  /** Most calls have no parts. */
  #sideBySide: SideBySide | undefined;
  #isGivenUp = false;

  /** `turn`: when the call may use what calls before it have used. */
  constructor(exclusive: ExclusiveResources, call: string, turn: Promise<unknown>, stop: LazySignal) {
    this.#exclusive = exclusive;
    this.#call = call;
    this.#turn = turn;
    this.#stop = stop;
  }

  async get<T>(key: ResourceKey<T>, stretch: Stretch): Promise<T> {
    await this.#turn;
    const got = await this.#exclusive.acquire(this.#call, key, this.#stop.signal);
    this.#sideBySide?.use(stretch);
    return got;
  }

  /** Whether the call has any alone. */
  get areHeld(): boolean {
    return this.#exclusive.holdsAny(this.#call);
  }

  mark(stretch: Stretch): Promise<ResourceMark> {
    this.#sideBySide ??= new SideBySide();
    this.#sideBySide.begin(stretch);
    return this.#exclusive.mark(this.#call);
  }

  async backTo(mark: ResourceMark, stretch: Stretch): Promise<void> {
    if (this.#isGivenUp || !this.areHeld) return;
    if (this.#sideBySide?.isMixed(stretch) === true)
      throw new HoldfastError("RESOURCE_SAVEPOINT", { call: this.#call });
    await this.#exclusive.backTo(this.#call, mark);
  }

  /** The stretch has ended. */
  leave(stretch: Stretch): void {
    this.#sideBySide?.end(stretch);
  }

  /** Another attempt has begun: what is left of this one puts back nothing. */
  giveUp(): void {
    this.#isGivenUp = true;
  }
}
