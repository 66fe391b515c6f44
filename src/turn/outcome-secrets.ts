import type { Json } from "../base/json.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import type { Redactor } from "../records/redact.ts";
import type { SaidOfCall } from "../transaction/ledger.ts";
import { partsText, type ResultPart } from "../transaction/result-parts.ts";
import { withoutSecrets } from "./media-secrets.ts";

/** What a tool or its validators said, and a host may hand on. */
const SAID = ["output", "payload", "notes", "attemptFailures"] as const;

/**
 * An outcome as it was written down: a host that hands it to a model of its own tells that model what ours would read.
 * The same outcome where there is nothing to hide.
 */
export function withoutOutcomeSecrets<O extends SaidOfCall>(outcome: O, redactor: Redactor): O {
  const clean: { -readonly [K in keyof SaidOfCall]?: SaidOfCall[K] } = {};
  for (const field of SAID) {
    const said = outcome[field] as Json | undefined;
    const hidden = said === undefined ? undefined : redactor.field(field, said);
    if (hidden !== said) clean[field] = hidden as never;
  }
  const { parts } = outcome;
  const shown = parts?.map((part) => withoutPartSecrets(part, redactor));
  if (shown?.some((part, nth) => part !== parts?.[nth]) === true) {
    clean.parts = shown;
    clean.output = partsText(shown);
  }
  return Object.keys(clean).length === 0 ? outcome : { ...outcome, ...clean };
}

function withoutPartSecrets(part: ResultPart, redactor: Redactor): ResultPart {
  if (part.type === "text") {
    const text = redactor.text(part.text);
    return text === part.text ? part : { ...part, text };
  }
  const bytes = withoutSecrets(part.bytes, part.mediaType, redactor);
  return bytes === part.bytes ? part : { ...part, bytes, blob: { name: nameOfBytes(bytes), size: bytes.length } };
}
