/**
 * 128 bits of a text as 32 hex digits, without `node:crypto`, so that it runs in a browser or a worker.
 * For derived ids only: it tells texts apart and is equal in every process, but resists no forger.
 */
export function fingerprint(text: string): string {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = 0xdeadbeef;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    b = Math.imul(b ^ unit, 0xc2b2ae35);
    c = Math.imul(c ^ unit, 0x27d4eb2f);
    d = Math.imul(d ^ unit, 0x165667b1);
    // Without the rotation and the crossing two lanes would collide on the same pairs of texts.
    a = ((a << 13) | (a >>> 19)) ^ d;
    c = ((c << 17) | (c >>> 15)) ^ b;
  }
  return [a, b, c, d].map((lane, index) => hex(mix(lane ^ Math.imul(text.length + index, 0x9e3779b9)))).join("");
}

function mix(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function hex(lane: number): string {
  return lane.toString(16).padStart(8, "0");
}
