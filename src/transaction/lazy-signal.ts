/**
 * A signal that comes to be when somebody asks for it. Most handlers never do, and making a signal and aborting it costs
 * more than all the rest of a small call.
 */
export class LazySignal {
  readonly #outer: AbortSignal;
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
      else this.#outer.addEventListener("abort", this, { once: true });
    }
    return this.#controller.signal;
  }

  /** When `outer` aborts. */
  handleEvent(): void {
    this.end(this.#outer.reason);
  }

  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    if (this.#controller === undefined) return;
    this.#outer.removeEventListener("abort", this);
    this.#controller.abort(reason);
  }
}
