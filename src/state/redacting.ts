import type { Json } from "../base/json.ts";
import type { Redactor } from "../records/redact.ts";
import type { AnyPart } from "./part.ts";
import { isSlice } from "./slice.ts";

/**
 * A part whose values hold no secrets from the moment they are true. What is true here and what another process reads back
 * would otherwise be two things.
 */
export function redacting(part: AnyPart, redactor: Redactor): AnyPart {
  if (part.exact === true) return part;
  const hidden = (before: never, after: unknown): unknown => {
    if (!isSlice(part)) return cleanOf(part, redactor, before, after);
    const clean = redactor.json(after as Json, before);
    if (clean !== after) part.decode(clean); // whoever opens the session next reads the word, and must be able to
    return clean;
  };
  return {
    ...part,
    accept: (before: never, after: never) =>
      hidden(before, part.accept === undefined ? after : part.accept(before, after)),
    // What a snapshot remembers may have become a secret since.
    restored: (now: never, then: never) => hidden(now, part.restored === undefined ? then : part.restored(now, then)),
    decode: (data: Json) => part.decode(redactor.json(data)),
  };
}

/** Only what changed is looked at; a value that holds a secret is made anew from its data. */
function cleanOf(part: AnyPart, redactor: Redactor, before: never, after: unknown): unknown {
  const delta = part.change(before, after as never)?.delta;
  if (delta === undefined || redactor.json(delta) === delta) return after;
  return part.decode(redactor.json(part.encode(after as never)));
}
