import { HoldfastError } from "../base/errors.ts";

/**
 * A source's pieces, whatever kind of source it is. An abort ends it with the signal's reason at once, also while the
 * source stalls: a download that hangs must not hold up whoever has given up on it.
 */
export async function* piecesOf(source: unknown, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const iterator = iteratorOf(source);
  let ended = false;
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal);
      signal?.throwIfAborted();
      ended = next.done === true;
      if (ended) return;
      yield mustBeBytes(next.value);
    }
  } finally {
    if (!ended) await leave(iterator, signal); // a file behind the source would stay open
  }
}

type Pieces = Iterator<unknown> | AsyncIterator<unknown>;

/** A text is iterable too, and would silently become zeros. */
function iteratorOf(source: unknown): Pieces {
  if (source instanceof Uint8Array) return [source].values();
  if (typeof source === "object" && source !== null) {
    const pieces = source as Partial<AsyncIterable<unknown> & Iterable<unknown>>;
    const iterator = pieces[Symbol.asyncIterator]?.() ?? pieces[Symbol.iterator]?.();
    if (iterator !== undefined) return iterator;
  }
  throw badSource(source);
}

function mustBeBytes(piece: unknown): Uint8Array {
  if (piece instanceof Uint8Array) return piece;
  throw badSource(piece);
}

function badSource(got: unknown): HoldfastError {
  return new HoldfastError("BLOB_BAD_SOURCE", { got: got === null ? "null" : typeof got });
}

function unlessAborted<T>(step: T | PromiseLike<T>, signal: AbortSignal | undefined): T | PromiseLike<T> {
  if (signal === undefined) return step;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void Promise.resolve(step)
      .then(resolve, reject)
      .then(() => signal.removeEventListener("abort", onAbort));
  });
}

async function leave(iterator: Pieces, signal: AbortSignal | undefined): Promise<void> {
  const left = Promise.resolve(iterator.return?.());
  // A stalled generator hears of it when it wakes, perhaps never; what it says then, nobody waits for any more.
  if (signal?.aborted === true) left.catch(() => {});
  else await left;
}
