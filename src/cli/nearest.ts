/** The most similar word, when one is close enough to have been meant. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((candidate) => ({
      candidate,
      distance: Math.min(...[candidate, firstWord(candidate)].map((one) => editDistance(word, one))),
    }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** `claude` of `claude-code`: people leave out what they take for granted. */
function firstWord(candidate: string): string {
  return /^-{0,2}[^-]+/.exec(candidate)?.[0] ?? candidate;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
