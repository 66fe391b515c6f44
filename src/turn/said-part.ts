import { HoldfastError } from "../base/errors.ts";
import { badOption } from "../base/options.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { middleCut } from "../context/compress/cut.ts";
import { count, fields, optional, type Shape, string } from "../records/shape.ts";
import type { MediaSource, Part } from "../wire/item.ts";

const origin = fields({ format: string });
const source = fields({
  mediaType: optional(string),
  url: optional(string),
  base64: optional(string),
  blob: optional(fields({ name: string, size: count })),
  name: optional(string),
});
const SOURCES = ["url", "base64", "blob"] as const satisfies readonly (keyof MediaSource)[];

/** A picture without any of them would be sent empty, and refused with every later request as well. */
const media: Shape<MediaSource> = {
  fault: (value, path) =>
    source.fault(value, path) ??
    (SOURCES.some((name) => (value as JsonObject)[name] !== undefined)
      ? undefined
      : `${path} must bring ${SOURCES.join(", ")}`),
};
const shown = fields({ media, origin: optional(origin) });

const FORMS: Readonly<Record<Part["type"], Shape<unknown>>> = {
  text: fields({ text: string, notice: optional(string), origin: optional(origin) }),
  image: shown,
  audio: shown,
  file: shown,
  other: fields({ origin }),
};

/** What keeps a value from being a part of a message, in words, or nothing. */
export function partFault(value: unknown, path: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} must be an object`;
  const { type } = value as { readonly type?: unknown };
  if (typeof type !== "string" || !Object.hasOwn(FORMS, type))
    return `${path}.type must be one of ${Object.keys(FORMS).join(", ")}`;
  return FORMS[type as Part["type"]].fault(value as Json, path);
}

/** Refuses what nobody can say. Once it were written down, every later request would be made of it, in every process. */
export function checkSaid(input: unknown): void {
  if (input === undefined || typeof input === "string") return;
  if (!Array.isArray(input)) throw badOption("input", input, "a text or a list of parts");
  for (const [nth, part] of input.entries()) {
    const fault = partFault(part, `input[${nth}]`);
    if (fault !== undefined) throw new HoldfastError("BAD_OPTION", { option: `input[${nth}]`, fault });
  }
}

/** Characters of a part that cannot be read, as far as the model is told of it. */
const MOST_UNREAD = 500;

/** A kept part. Versions before this one wrote down whatever they were given: such a part is told in words. */
export function readPart(kept: Json): Part {
  if (partFault(kept, "") === undefined) return kept as unknown as Part;
  const text = middleCut(JSON.stringify(kept), MOST_UNREAD);
  return { type: "text", text: `[A part of this message cannot be read: ${text}]` };
}
