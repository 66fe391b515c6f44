/** Characters of what somebody said: more than anybody reads, and little beside what a record holds. */
const LONGEST_WORDS = 1024 * 1024;
const LONGEST_NAME = 1_000;

/**
 * Whatever was thrown or answered, as text that can be kept: anybody may throw what cannot be printed or is longer than a
 * record, and whoever tells of it must not fail over it. What is left out is counted.
 */
export function inWords(said: unknown, longest = LONGEST_WORDS): string {
  const text = printed(said);
  if (text.length <= longest) return text.toWellFormed();
  const kept = withoutHalfLetter(text.slice(0, longest));
  return `${kept.toWellFormed()}… (${text.length - kept.length} more characters)`;
}

/** The same for what somebody called a thing. */
export function asName(said: unknown): string {
  return inWords(said, LONGEST_NAME);
}

function printed(said: unknown): string {
  try {
    const text: unknown = said instanceof Error ? said.message : said;
    return typeof text === "string" ? text : String(text);
  } catch {
    return "something that cannot be printed";
  }
}

function withoutHalfLetter(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
