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

  async run({ of, name, how }: EffectAsk, key: string, pass: () => Promise<void>): Promise<void> {
    const id = `${of}/${name}/${key}`;
    await pass();
    if (how === "did-not") throw didNotHappen();
    const times = this.standing(id) + 1;
    this.#standing.set(id, times);
    this.#done.set(id, (this.#done.get(id) ?? 0) + 1);
    if (times > 1) this.wrong.push(`effect ${id} was done ${times} times`);
    await pass();
    if (how === "breaks") throw new Error("the line went dead");
    if (how === "hangs") await new Promise<never>(() => {});
  }

  /**
   * Some keys are hard to undo: one the first time, another always. A refund is for the charge that it was asked for: one
   * that was on its way while its process slept, and arrives when all that was undone and done anew, changes nothing.
   */
  async undo({ of, name }: EffectAsk, key: string, pass: () => Promise<void>): Promise<void> {
    const id = `${of}/${name}/${key}`;
    const meant = this.#done.get(id);
    await pass();
    const failed = this.#failures.get(id) ?? 0;
    if (key.includes("stuck") || (key.includes("hard") && failed === 0)) {
      this.#failures.set(id, failed + 1);
      throw new Error("it does not come off");
    }
    if (this.#done.get(id) === meant) this.#standing.set(id, 0);
    await pass();
  }
}
