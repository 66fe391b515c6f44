interface Waiting {
  readonly id: string;
  readonly name: string;
}

/** How many unanswered answers are looked through: a history full of lost calls would be searched for every response. */
const REACH = 64;

/**
 * The calls that responses without an id answer, whether or not the call has one: the newest of that name. What
 * is then left over on both sides, in equal number, is paired by place, so that a wrong name is seen as a wrong name.
 */
export class UnnamedCalls {
  /** Unanswered calls of each answer, newest last. */
  readonly #answers: WaitingCalls[] = [];

  beginAnswer(): void {
    if (this.#answers.at(-1)?.size === 0) this.#answers.pop();
    if (this.#answers.length === REACH) this.#answers.shift();
    this.#answers.push(new WaitingCalls());
  }

  call(name: string, id: string): string {
    this.#answers.at(-1)?.add({ id, name });
    return id;
  }

  /** A response named its call. */
  settle(id: string): void {
    for (let at = this.#answers.length - 1; at >= 0; at -= 1) if (this.#answers[at]?.settle(id)) return;
  }

  /** The ids of the calls that the responses of one message answer. */
  answers(names: readonly string[], message: number): readonly string[] {
    const ids = names.map((name) => this.#byName(name));
    const last = this.#answers.at(-1);
    const left = ids.filter((id) => id === undefined).length;
    const inPlace = left === last?.size ? last.takeAll() : [];
    let placed = 0;
    return ids.map((id, nth) => id ?? inPlace[placed++]?.id ?? `nobody_m${message}_r${nth}`);
  }

  #byName(name: string): string | undefined {
    for (let at = this.#answers.length - 1; at >= 0; at -= 1) {
      const found = this.#answers[at]?.take(name);
      if (found !== undefined) return found.id;
    }
    return undefined;
  }
}

/** The calls of one answer that nobody has answered, in order, by name and by id: an answer may hold thousands. */
class WaitingCalls {
  readonly #calls = new Set<Waiting>();
  readonly #byId = new Map<string, Waiting>();
  readonly #byName = new Map<string, { readonly calls: Waiting[]; next: number }>();

  get size(): number {
    return this.#calls.size;
  }

  add(call: Waiting): void {
    this.#calls.add(call);
    if (!this.#byId.has(call.id)) this.#byId.set(call.id, call);
    const queue = this.#byName.get(call.name);
    if (queue === undefined) this.#byName.set(call.name, { calls: [call], next: 0 });
    else queue.calls.push(call);
  }

  settle(id: string): boolean {
    const call = this.#byId.get(id);
    return call !== undefined && this.#calls.delete(call);
  }

  take(name: string): Waiting | undefined {
    const queue = this.#byName.get(name);
    while (queue !== undefined && queue.next < queue.calls.length) {
      const call = queue.calls[queue.next++] as Waiting;
      if (this.#calls.delete(call)) return call;
    }
    return undefined;
  }

  takeAll(): readonly Waiting[] {
    const all = [...this.#calls];
    this.#calls.clear();
    return all;
  }
}
