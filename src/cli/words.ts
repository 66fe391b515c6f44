const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** `3 calls`, `1 call`. */
export function count(number: number, what: string, many = `${what}s`): string {
  return `${grouped(number)} ${number === 1 ? what : many}`;
}

/** `12 345`, with a space that no line is cut at. */
export function grouped(number: number): string {
  return number < 10_000 ? String(number) : String(number).replaceAll(/\B(?=(\d{3})+$)/g, "\u00a0");
}

/** How long ago, as people say it. */
export function ago(at: string, now: number): string {
  const ms = now - Date.parse(at);
  if (!Number.isFinite(ms)) return at;
  if (ms < 10 * SECOND) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  if (ms < 45 * DAY) return `${Math.floor(ms / DAY)} d ago`;
  return at.slice(0, 10);
}

/** `1.2 MB` */
export function bytes(number: number): string {
  if (number < 1_000) return `${number} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let [value, unit] = [number / 1_000, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** `12 ms`, `3.4 s`, `2 min`, `30 d`. */
export function lasted(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return ms < 2 * DAY ? `${Math.round(ms / HOUR)} h` : `${Math.round(ms / DAY)} d`;
}

/** Without what would move the cursor, change colours or turn the order of letters: a session's text is somebody else's. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (one) =>
    one === "\n" ? one : one === "\t" ? "  " : "�",
  );
}

/** One line of a text that may have many, no longer than it may be. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const flat = harmless(text.replaceAll(/\s+/g, " ")).trim();
  return flat.length <= most ? flat : `${flat.slice(0, Math.max(0, most - 1)).trimEnd()}…`;
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND, min: MINUTE, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };
const SIZES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** `30d`, `12 h`: milliseconds; undefined when it is no such text. */
export function durationOf(text: string): number | undefined {
  return measured(text, UNITS);
}

/** `500 MB`, `4096`: bytes; undefined when it is no such text. */
export function sizeOf(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : measured(text, SIZES);
}

function measured(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text.trim()) ?? [];
  const factor = units[unit.toLowerCase()];
  return number === undefined || factor === undefined ? undefined : Math.round(Number(number) * factor);
}
