/** What models can look at, by how it begins: a name can lie, and the wrong type is refused by every provider. */
const SIGNS: readonly (readonly [mediaType: string, begins: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a(?=[^]*\0)/],
  ["image/webp", /^RIFF[^]{4}WEBP(?=[^]*\0)/],
  ["application/pdf", /^%PDF-\d\.\d[ \t]*[\r\n]/],
];

/** Notes about a format may begin like it; they hold no NUL. Sent as a picture they would be refused for ever after. */
export function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 512)).toString("latin1");
  return SIGNS.find(([, begins]) => begins.test(head))?.[0];
}
