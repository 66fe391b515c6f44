/**
 * One promise as data, so that any test runner can run it and any report can name it. `run` rejects when the promise is
 * broken.
 */
export interface Law {
  readonly id: string;
  /** The rule that it proves and what it expects: `[STORE-4] …`. */
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** Registers every law with a test runner's `test` function: `register(storeLaws("mine", { … }), test)`. */
export function register(laws: readonly Law[], test: (title: string, run: () => Promise<void>) => unknown): void {
  for (const { title, run } of laws) test(title, run);
}

/** `["[STORE-4] a sentence", proof]`: the rule a law proves stands in front of its sentence. */
export type LawBook<Context> = readonly (readonly [title: string, run: (context: Context) => Promise<void>])[];

/** Binds a book of laws to one implementation. Each law gets a context of its own, so that they can run in any order. */
export function lawsOf<Context>(name: string, book: LawBook<Context>, context: () => Context): readonly Law[] {
  return book.map(([title, run]) => {
    const end = title.indexOf("]");
    return { id: title.slice(1, end), title: `${name}: ${title}`, run: () => run(context()) };
  });
}
