import type { SchemaResult } from "../contracts/schema.ts";
import type { Recalled, RecallRequest } from "../context/recall.ts";
import { checkedFields, type Fields, wrong } from "../transaction/checked-by.ts";
import { type ResultMedia, toolResult } from "../transaction/result-parts.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import { bytesOf, type ReadContent } from "./show-media.ts";

export const RECALL = "recall";

/** A longer text would be shortened again on its way into the request, so it is told in parts. */
const MOST_BYTES = 24_000;

/** The model gets back what a view left out: whole, with its pictures, by lines or bytes, or the lines that hold a text. */
export function recallTool(recall: (request: RecallRequest) => Recalled, read: ReadContent): Tool {
  return defineTool<RecallRequest>({
    name: RECALL,
    description:
      "Read again what was shortened or left out of this conversation: everything that is marked with a holdfast:// handle. " +
      "Use it instead of running a tool a second time.",
    access: "read",
    input: checkedFields(["handle", "lines", "bytes", "grep"], validate),
    inputSchema: {
      type: "object",
      properties: {
        handle: { type: "string", description: "holdfast:// and 26 letters, as shown in the conversation." },
        lines: range("The first and the last line, counted from 1, both included."),
        bytes: range("A range of bytes; `to` is not included."),
        grep: { type: "string", description: "Only the lines that contain this text." },
      },
      required: ["handle"],
    },
    async run(request, call) {
      const whole = request.lines === undefined && request.bytes === undefined && request.grep === undefined;
      const answer = recall(request);
      if (!answer.ok) return call.fail(answer.fault.code, `${answer.fault.detail} (${answer.fault.handle})`);
      const media = whole ? await mediaOf(answer, read) : [];
      const text = whole ? shownWhole(answer.text) : shownPart(answer);
      return media.length > 0 ? toolResult([text, ...media]) : text;
    },
  });
}

function shownWhole(text: string): string {
  const size = Buffer.byteLength(text);
  return size <= MOST_BYTES
    ? text
    : `${beginningOf(text)}\n[${MOST_BYTES} of ${size} bytes; use bytes to read the rest]`;
}

/** What part it is belongs to it: of many matches only the first are here. */
function shownPart({ text, about }: Extract<Recalled, { readonly ok: true }>): string {
  const size = Buffer.byteLength(text);
  if (size <= MOST_BYTES) return `${text}\n[${about}]`;
  return `${beginningOf(text)}\n[${about}, and of these the first ${MOST_BYTES} of ${size} bytes; ask for less at a time]`;
}

/** Whole characters only. */
function beginningOf(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MOST_BYTES), { stream: true });
}

/** The pictures and files of a result. They are read from where they were kept, and proven on the way. */
async function mediaOf({ page }: Extract<Recalled, { readonly ok: true }>, read: ReadContent): Promise<ResultMedia[]> {
  const item = page?.representations.full?.item;
  const media: ResultMedia[] = [];
  for (const part of item?.kind === "output" || item?.kind === "user" ? item.parts : []) {
    if (!("media" in part) || part.media.blob === undefined) continue;
    const { blob, mediaType = "application/octet-stream", name } = part.media;
    const bytes = await bytesOf(blob, read);
    media.push({ mediaType, bytes, ...(name === undefined ? {} : { name }) });
  }
  return media;
}

function range(description: string) {
  const number = { type: "integer" };
  return { type: "object", properties: { from: number, to: number }, required: ["from", "to"], description };
}

function validate({ handle, lines, bytes, grep }: Fields): SchemaResult<RecallRequest> {
  if (typeof handle !== "string") return wrong("handle", "must be a string");
  if (grep !== undefined && typeof grep !== "string") return wrong("grep", "must be a string");
  for (const [name, part] of Object.entries({ lines, bytes }))
    if (part !== undefined && !isRange(part)) return wrong(name, "must be { from, to }");
  return {
    value: {
      handle: handle.trim(),
      ...(isRange(lines) ? { lines } : {}),
      ...(isRange(bytes) ? { bytes } : {}),
      ...(grep === undefined ? {} : { grep }),
    },
  };
}

function isRange(value: unknown): value is { readonly from: number; readonly to: number } {
  const { from, to } = (value ?? {}) as { readonly from?: unknown; readonly to?: unknown };
  return typeof from === "number" && typeof to === "number";
}
