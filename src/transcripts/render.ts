import { toolCallId } from "../wire/item.ts";
import type { Fields, Format, Wanted } from "./format.ts";
import type { Insert } from "./plan.ts";
import { called } from "./skeleton.ts";
import { type Edit, editText, type Path } from "../base/text/edit.ts";
import type { Element } from "./transcript.ts";

/** The text of an element as the file has it. */
export type TextOf = (element: Element) => string;

/** JSON texts of what is added, from the elements it is made of. */
export function renderInsert(insert: Insert, format: Format, textOf: TextOf, edits: readonly Edit[]): string {
  const text = textOf(insert.element);
  if (insert.kind === "moved") return editText(text, edits).trim();
  if (insert.kind === "part") return partText(text, insert, format, edits);
  const answer = format.answer(wantedOf(insert, JSON.parse(text) as Fields));
  return "element" in answer ? JSON.stringify(answer.element) : text;
}

/** Edits that write an output inside the element of its call. */
export function insideEdits(
  insert: Extract<Insert, { kind: "answer" }>,
  format: Format,
  text: string,
): readonly Edit[] {
  const answer = format.answer(wantedOf(insert, JSON.parse(text) as Fields));
  return "inside" in answer ? answer.inside : [];
}

function wantedOf({ element, path, callId, text, link }: Extract<Insert, { kind: "answer" }>, fields: Fields): Wanted {
  const piece = element.reading.pieces.find((one) => one.path === path && one.item.kind === "call");
  const call = piece?.item.kind === "call" ? piece.item : called({ id: callId, name: "" });
  return {
    call: { ...call, callId: toolCallId(callId) },
    callId,
    text,
    element: fields,
    path,
    ...(link === undefined ? {} : { link: { id: link.id, parent: link.parent?.id ?? null } }),
  };
}

/** An element with only some of its blocks, under an id of its own. */
function partText(
  text: string,
  insert: Extract<Insert, { kind: "part" }>,
  format: Format,
  edits: readonly Edit[],
): string {
  const { element, keep, link } = insert;
  const [first] = keep;
  const list = (first ?? "").split(" ").slice(0, -1);
  const blocks = element.reading.blocks ?? 0;
  const others = Array.from({ length: blocks }, (_, nth): Path => [...list, nth]).filter(
    (path) => !keep.has(path.join(" ")),
  );
  const mine = edits.filter((edit) => edit.op === "set" && keep.has(edit.path.slice(0, list.length + 1).join(" ")));
  const outputs = element.reading.pieces.some(({ item, path }) => item.kind === "output" && keep.has(path.join(" ")));
  const foreign = outputs ? [] : (format.outputFields ?? []);
  const { links } = format;
  const linked: Edit[] =
    link === undefined || links === undefined
      ? []
      : [
          { op: "set", path: [links.id], value: link.id },
          { op: "set", path: [links.parent], value: link.parent?.id ?? null },
        ];
  const removals: Edit[] = [...others, ...foreign.map((key) => [key])].map((path) => ({ op: "remove", path }));
  return editText(text, [...mine, ...removals, ...linked]).trim();
}
