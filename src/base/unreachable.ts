/** Ends a switch over a union: a new member breaks the build here instead of falling through at run time. */
export function unreachable(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}

/** What must hold here, or this code is wrong: an error is better than to go on with a state that cannot be. */
export function ensure(holds: boolean, what: string): asserts holds {
  if (!holds) throw new TypeError(`This cannot be: ${what}.`);
}
