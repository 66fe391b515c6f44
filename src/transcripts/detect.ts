import { asList, type Fields, isFields } from "../base/fields.ts";
import type { Format, FormatId } from "./format.ts";
import { FORMATS } from "./formats.ts";
import type { Head } from "./head.ts";
import type { Path } from "../base/text/edit.ts";

/**
 * `log`: every line is an element of one conversation. `documents`: every line is a document with conversations of its
 * own. `document`: the file is one document.
 */
export type Layout = "log" | "documents" | "document";

export interface Detected {
  readonly format: Format;
  readonly layout: Layout;
}

/** The format of a file of lines, or nothing when no line of its head belongs to any. */
export function detectLines({ records }: Head, only?: FormatId): Detected | undefined {
  const candidates = candidatesFor(only);
  const log = bestLog(candidates, records.filter(isFields));
  if (log !== undefined) return { format: log, layout: "log" };
  const list = candidates.find((format) => format.threads(records).some(({ path }) => path.length === 0));
  if (list !== undefined) return { format: list, layout: "log" };
  const documents = candidates.find((format) => records.some((record) => format.threads(record).length > 0));
  if (documents !== undefined) return { format: documents, layout: "documents" };
  if (only === undefined) return undefined;
  // The user says what it is: lines that hold lists are documents, others are the elements themselves.
  const lists = records.some((record) => isFields(record) && likelyList(record) !== undefined);
  return { format: FORMATS[only], layout: lists && FORMATS[only].isRecord === undefined ? "documents" : "log" };
}

/** The list that a document keeps, for a user who says what it is although nothing in it does. */
export function likelyList(document: unknown): Path | undefined {
  if (Array.isArray(document)) return [];
  if (!isFields(document)) return undefined;
  const key = Object.keys(document).find((name) => asList(document[name]).some(isFields));
  return key === undefined ? undefined : [key];
}

export function detectDocument(document: unknown, only?: FormatId): Detected | undefined {
  const format = candidatesFor(only).find((candidate) => candidate.threads(document).length > 0);
  if (format !== undefined) return { format, layout: "document" };
  if (only === undefined || likelyList(document) === undefined) return undefined;
  return { format: FORMATS[only], layout: "document" };
}

function candidatesFor(only: FormatId | undefined): readonly Format[] {
  return only === undefined ? Object.values(FORMATS) : [FORMATS[only]];
}

/** The log that claims most records, if it claims at least a quarter: other tools leave their own lines behind. */
function bestLog(candidates: readonly Format[], records: readonly Fields[]): Format | undefined {
  let best: Format | undefined;
  let most = records.length / 4;
  for (const format of candidates) {
    const claimed = records.filter((record) => format.isRecord?.(record)).length;
    if (claimed > most || (claimed === most && claimed > 0 && best === undefined)) {
      best = format;
      most = claimed;
    }
  }
  return best;
}
