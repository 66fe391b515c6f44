import { overDefaults } from "../base/options.ts";
import { HoldfastError } from "../index.ts";

/** How much one call of a workspace tool shows at most. Nothing is cut silently: the result says how to read on. */
export interface ToolLimits {
  /** Lines of a file. Default 2000. */
  readonly lines: number;
  /** Characters of one line. Default 2000. */
  readonly lineLength: number;
  /** Characters of text in one result. Default 100 000. */
  readonly bytes: number;
  /** Bytes of a picture or PDF. Default 5 MB. */
  readonly media: number;
  /** Paths that `list_files` and `glob` show. Default 1000. */
  readonly paths: number;
  /** Matching lines of a search. Default 200. */
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
    if (!Object.hasOwn(TOOL_LIMITS, name) || (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)))
      throw new HoldfastError("BAD_OPTION", {
        option: `limits.${name}`,
        value: String(value),
        known: Object.keys(TOOL_LIMITS),
      });
  return overDefaults(TOOL_LIMITS, given);
}
