/** What the owner of a folder needs to look into it, and to put something there. */
export const OWNER_ALL = 0o700;

/** Closed, also to its owner. */
export function isClosed({ mode }: { readonly mode: number }): boolean {
  return (mode & OWNER_ALL) !== OWNER_ALL;
}
