/** What models can look at, by how it begins: a name can lie, and the wrong type is refused by every provider. */
const SIGNS: readonly (readonly [mediaType: string, begins: readonly number[], at?: number])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", [0x57, 0x45, 0x42, 0x50], 8],
  ["application/pdf", [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const found = SIGNS.find(([, begins, at = 0]) => begins.every((byte, nth) => bytes[at + nth] === byte));
  return found?.[0];
}
