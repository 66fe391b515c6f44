/**
 * A signal that comes to be when somebody asks for it. Most handlers never do, and making a signal and aborting it costs
 * more than all the rest of a small call.
 */
export class LazySignal {
  readonly #outer: AbortSignal;
  readonly #onAbort = () => this.end(this.#outer.reason);
  #controller: AbortController | undefined;
  #ended: { readonly reason: unknown } | undefined;

  /** It aborts with `outer`, or when it is ended, whichever comes first. */
  constructor(outer: AbortSignal) {
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
      else if (this.#outer.aborted) this.end(this.#outer.reason);
      else this.#outer.addEventListener("abort", this.#onAbort, { once: true });
    }
    return this.#controller.signal;
  }

  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    if (this.#controller === undefined) return;
    this.#outer.removeEventListener("abort", this.#onAbort);
    this.#controller.abort(reason);
  }
}
