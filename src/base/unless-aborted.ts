/** What `work` answers, or, when the signal aborts first, what `instead` does: whoever is waited for may never answer. */
export async function unlessAborted<T, I>(
  signal: AbortSignal,
  work: () => Promise<T>,
  instead: () => I,
): Promise<T | I> {
  if (signal.aborted) return instead();
  const aborted = Promise.withResolvers<void>();
  const listener = () => aborted.resolve();
  signal.addEventListener("abort", listener, { once: true });
  try {
    return await Promise.race([work(), aborted.promise.then(instead)]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
