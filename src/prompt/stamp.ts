import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";

const STAMP_HEADING = "[Runtime Tool Catalog]";

/** What the stamp of a snapshot says, line by line. The first four are the seed's; others read past the rest. */
export function stampFields(catalog: SessionToolCatalogSnapshot): ReadonlyMap<string, string> {
  return new Map([
    ["version", String(catalog.version)],
    ["epoch", String(catalog.epoch)],
    ["available_tools", String(catalog.availableTools())],
    ["request_user_input_enabled", String(catalog.requestUserInputEnabled)],
    ["mode", catalog.mode],
    ["content_hash", catalog.contentHash],
  ]);
}

export function stampText(catalog: SessionToolCatalogSnapshot): string {
  return [STAMP_HEADING, ...[...stampFields(catalog)].map(([field, value]) => `- ${field}: ${value}`)].join("\n");
}

/**
 * The fields of the last stamp in a text, as they are written. It begins after its heading, blank lines and lines that are
 * no field are passed over, and it ends at the next line that begins with a bracket.
 */
export function readStamp(text: string): ReadonlyMap<string, string> | undefined {
  const start = text.lastIndexOf(STAMP_HEADING);
  if (start === -1) return undefined;
  const fields = new Map<string, string>();
  for (const line of text.slice(start).split("\n").slice(1)) {
    const trimmed = line.trim();
    if (trimmed.startsWith("[")) break;
    const colon = trimmed.indexOf(":");
    if (!trimmed.startsWith("- ") || colon === -1) continue;
    fields.set(trimmed.slice(2, colon).trim(), trimmed.slice(colon + 1).trim());
  }
  return fields;
}
