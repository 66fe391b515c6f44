/** The longest beginning of at most `most` units that does not end inside a character. */
export function head(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}

/** The same from the end. */
function tail(text: string, most: number): string {
  if (text.length <= most) return text;
  const first = text.charCodeAt(text.length - most);
  return text.slice(text.length - (first >= 0xdc00 && first <= 0xdfff ? most - 1 : most));
}

/** Both ends of a line that is too long, and how much lies between. */
export function middleCut(line: string, most: number): string {
  if (line.length <= most) return line;
  const room = Math.max(0, most - 12);
  const front = head(line, Math.ceil(room * 0.7));
  const back = tail(line, Math.floor(room * 0.3));
  return `${front} …${line.length - front.length - back.length}… ${back}`;
}

/** 1234567 → 1,234,567. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Bytes as a person says them. */
export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
