import { HoldfastError } from "../index.ts";

/** What one call of a workspace tool shows at the most. More is never cut silently: the answer says how to go on. */
export interface ToolLimits {
  /** Lines of a file. */
  readonly lines: number;
  /** Characters of one line. */
  readonly lineLength: number;
  /** Characters of text altogether. */
  readonly bytes: number;
  /** Bytes of a picture or PDF. */
  readonly media: number;
  /** Paths in a listing, and files with matches. */
  readonly paths: number;
  /** Lines that a search answers. */
  readonly matches: number;
}

const TOOL_LIMITS: ToolLimits = {
  lines: 2_000,
  lineLength: 2_000,
  bytes: 100_000,
  media: 5 * 1024 * 1024, // more is taken by hardly any provider
  paths: 1_000,
  matches: 200,
};

/** As many of the lines as the characters allow; the first in any case. */
export function withinBytes(lines: readonly string[], most: number): readonly string[] {
  let size = 0;
  const end = lines.findIndex((line, at) => (size += line.length + 1) > most && at > 0);
  return end === -1 ? lines : lines.slice(0, end);
}

export function toolLimits(given: Partial<ToolLimits> = {}): ToolLimits {
  for (const [name, value] of Object.entries(given))
    if (!Object.hasOwn(TOOL_LIMITS, name) || !Number.isSafeInteger(value) || value < 1)
      throw new HoldfastError("BAD_OPTION", {
        option: `limits.${name}`,
        value: String(value),
        known: Object.keys(TOOL_LIMITS),
      });
  return { ...TOOL_LIMITS, ...given };
}
