/**
 * Errors of the protocol after which nothing can have happened: the request could not be read, or named a method or
 * arguments that the server refused. After any other, a time-out above all, the tool may have run.
 */
const NOT_RUN: ReadonlySet<unknown> = new Set([-32700, -32600, -32601, -32602]);

export function didNotRun(error: unknown): boolean {
  return typeof error === "object" && error !== null && NOT_RUN.has((error as { readonly code?: unknown }).code);
}
