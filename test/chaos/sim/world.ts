import { didNotHappen, type EffectAsk } from "../script/tools.ts";

/** Everything outside: what was done there stays done, whatever becomes of the processes, until somebody undoes it. */
export class World {
  readonly wrong: string[] = [];
  readonly #standing = new Map<string, number>();
  /** How often it was done so far, undone or not. */
  readonly #done = new Map<string, number>();
  readonly #failures = new Map<string, number>();

  /** How often it stands done now. More than once is a customer charged twice. */
  standing(id: string): number {
    return this.#standing.get(id) ?? 0;
  }

  /** Answers which one it was, of all that were ever done under this key. */
  async run({ of, name, how }: EffectAsk, key: string, pass: () => Promise<void>): Promise<number> {
    const id = `${of}/${name}/${key}`;
    await pass();
    if (how === "did-not") throw didNotHappen();
    const times = this.standing(id) + 1;
    this.#standing.set(id, times);
    const receipt = (this.#done.get(id) ?? 0) + 1;
    this.#done.set(id, receipt);
    if (times > 1) this.wrong.push(`effect ${id} was done ${times} times`);
    await pass();
    if (how === "breaks") throw new Error("the line went dead");
    if (how === "hangs") await new Promise<never>(() => {});
    return receipt;
  }

  /**
   * Some keys are hard to undo: one the first time, another always. A refund is for the charge on its receipt: one that
   * comes from a process that slept, when all that was undone and done anew, changes nothing.
   */
  async undo({ of, name }: EffectAsk, key: string, receipt: number, pass: () => Promise<void>): Promise<void> {
    const id = `${of}/${name}/${key}`;
    await pass();
    const failed = this.#failures.get(id) ?? 0;
    if (key.includes("stuck") || (key.includes("hard") && failed === 0)) {
      this.#failures.set(id, failed + 1);
      throw new Error("it does not come off");
    }
    if (this.#done.get(id) === receipt) this.#standing.set(id, 0);
    await pass();
  }
}
