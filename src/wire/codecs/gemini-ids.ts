interface Waiting {
  readonly id: string;
  readonly name: string;
}

/** How many unanswered answers are looked through: a history full of lost calls would be searched for every response. */
const REACH = 64;

/**
 * Ids for calls that carry none, and the calls that responses without an id answer: the newest one of that name. What
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

  call(name: string, message: number, part: number): string {
    const id = `call_m${message}_p${part}`;
    this.#answers.at(-1)?.add({ id, name });
    return id;
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

/** The calls of one answer that nobody has answered, in order and by name: an answer may hold thousands. */
class WaitingCalls {
  readonly #calls = new Set<Waiting>();
  readonly #byName = new Map<string, { readonly calls: Waiting[]; next: number }>();

  get size(): number {
    return this.#calls.size;
  }

  add(call: Waiting): void {
    this.#calls.add(call);
    const queue = this.#byName.get(call.name);
    if (queue === undefined) this.#byName.set(call.name, { calls: [call], next: 0 });
    else queue.calls.push(call);
  }

  take(name: string): Waiting | undefined {
    const queue = this.#byName.get(name);
    const call = queue?.calls[queue.next];
    if (queue === undefined || call === undefined) return undefined;
    queue.next += 1;
    this.#calls.delete(call);
    return call;
  }

  takeAll(): readonly Waiting[] {
    const all = [...this.#calls];
    this.#calls.clear();
    this.#byName.clear();
    return all;
  }
}
