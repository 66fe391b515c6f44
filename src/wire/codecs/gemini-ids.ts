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
  readonly #answers: Waiting[][] = [];

  beginAnswer(): void {
    if (this.#answers.at(-1)?.length === 0) this.#answers.pop();
    if (this.#answers.length === REACH) this.#answers.shift();
    this.#answers.push([]);
  }

  call(name: string, message: number, part: number): string {
    const id = `call_m${message}_p${part}`;
    this.#answers.at(-1)?.push({ id, name });
    return id;
  }

  /** The ids of the calls that the responses of one message answer. */
  answers(names: readonly string[], message: number): readonly string[] {
    const ids = names.map((name) => this.#byName(name));
    const last = this.#answers.at(-1) ?? [];
    const left = ids.filter((id) => id === undefined).length;
    const inPlace = left === last.length ? last.splice(0) : [];
    return ids.map((id, nth) => id ?? inPlace.shift()?.id ?? `nobody_m${message}_r${nth}`);
  }

  #byName(name: string): string | undefined {
    for (let at = this.#answers.length - 1; at >= 0; at -= 1) {
      const waiting = this.#answers[at] as Waiting[];
      const found = waiting.findIndex((call) => call.name === name);
      if (found !== -1) return (waiting.splice(found, 1)[0] as Waiting).id;
    }
    return undefined;
  }
}
