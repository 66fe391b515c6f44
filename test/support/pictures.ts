/** A whole PNG of one pixel, and content that only begins like other kinds. */
export const PNG: Uint8Array = Uint8Array.from(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);
export const PDF: Uint8Array = Uint8Array.from(Buffer.from("%PDF-1.4\n%%EOF\n"));
export const WAV: Uint8Array = Uint8Array.from(Buffer.from("RIFF\x24\0\0\0WAVEfmt "));

/** A picture too large to travel inside a record. */
export function largePicture(): Uint8Array {
  const bytes = new Uint8Array(200_000).fill(7);
  bytes.set(PNG);
  return bytes;
}
