/** Ends a switch over a union: a new member breaks the build here instead of falling through at run time. */
export function unreachable(value: never): never {
  throw new TypeError(`Unhandled case: ${JSON.stringify(value)}`);
}
