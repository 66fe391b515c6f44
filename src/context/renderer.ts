import type { Compressor } from "../contracts/compressor.ts";
import { contentCompressor } from "./compress/compress.ts";

/** Changes when the same page and level could give other bytes: a resumed view is then chosen anew. */
export const RENDERER = "holdfast-2";

/** The same, with somebody else's compressor: under another one, compressed pages would be other bytes. */
export function rendererWith({ version }: Pick<Compressor, "version"> = contentCompressor): string {
  return version === contentCompressor.version ? RENDERER : `${RENDERER} ${version}`;
}
