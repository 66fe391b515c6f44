/** As few elements as will still fail: halves first, then ever smaller pieces, until no single one can go. */
export async function shrink<T>(
  all: readonly T[],
  fails: (some: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = all;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const without = left.toSpliced(at, size);
      if (without.length < left.length && (await fails(without))) left = without;
      else at += size;
    }
  }
  return left;
}
