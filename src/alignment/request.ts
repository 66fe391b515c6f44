import type { Fields } from "../base/fields.ts";
import { isDeepFrozen } from "../base/freeze.ts";
import { isCombined, objectSchema } from "../base/object-schema.ts";
import type { SentRequest, ToolOffer } from "../contracts/model.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { RenderedPrompt } from "../prompt/render.ts";
import type { AlignmentFault } from "./faults.ts";

/**
 * Checks a written request before it is sent: it must offer exactly what the snapshot offers, and say what it must
 * about mode and catalog. It may have no fields of the caller's own that carry words or tools: they could say anything.
 */
export function checkRequest(
  sent: SentRequest,
  catalog: SessionToolCatalogSnapshot,
  prompt?: Pick<RenderedPrompt, "tail">,
): readonly AlignmentFault[] {
  const faults: AlignmentFault[] = [...toolFaults(sent.tools, catalog)];
  const { toolChoice, foreign = [], says } = sent;
  if (toolChoice !== undefined && catalog.tool(toolChoice) === undefined)
    faults.push({ kind: "tool-choice-missing", tool: toolChoice });
  if (foreign.length > 0) faults.push({ kind: "request-fields-foreign", fields: foreign });
  const ours = prompt?.tail.filter(({ kind }) => kind !== "section") ?? [];
  const unsaid = says === undefined ? [] : ours.filter(({ text }) => !says(text)).map(({ id }) => id);
  if (unsaid.length > 0) faults.push({ kind: "request-words-missing", segments: unsaid });
  return faults;
}

function toolFaults(sent: readonly ToolOffer[], catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  if (isWritten(sent, catalog.tools ?? [])) return [];
  const byName = new Map(sent.map((tool) => [tool.name, tool]));
  const missing = catalog.activeNames.filter((name) => !byName.has(name));
  const extra = sent.map(({ name }) => name).filter((name) => catalog.tool(name) === undefined);
  const changed = [...byName.values()].flatMap((tool) => {
    const offered = catalog.tool(tool.name);
    return offered === undefined || sameOffer(tool, offered) ? [] : [tool.name];
  });
  // One name twice: the second may say something else, and nobody knows which of them counts.
  if (byName.size !== sent.length) extra.push(...twice(sent.map(({ name }) => name)));
  if (missing.length + extra.length + changed.length === 0) return [];
  return [{ kind: "request-tools-differ", missing, extra, changed }];
}

/** The tools of which snapshot sent ones were found to be. Only where nobody can change either of them any more. */
const agreed = new WeakMap<readonly ToolOffer[], readonly ToolOffer[]>();

/** Tool for tool what is offered, in its order: so nearly every request is written. */
function isWritten(sent: readonly ToolOffer[], offered: readonly ToolOffer[]): boolean {
  if (agreed.get(sent) === offered) return true;
  if (sent.length !== offered.length) return false;
  for (let at = 0; at < sent.length; at += 1) {
    const [one, other] = [sent[at] as ToolOffer, offered[at] as ToolOffer];
    if (one.name !== other.name || !sameOffer(one, other)) return false;
  }
  if (isDeepFrozen(sent) && isDeepFrozen(offered)) agreed.set(sent, offered);
  return true;
}

/** Providers want `type` and `properties` written out, and no union; with or without, the schema says the same. */
function sameOffer(sent: ToolOffer, offered: ToolOffer): boolean {
  if ((sent.description ?? "") !== (offered.description ?? "")) return false;
  if (sent.input === offered.input || sameFields(sent.input, offered.input, OBJECT)) return true;
  return isCombined(offered.input) && sameFields(sent.input, objectSchema(offered.input), OBJECT);
}

const OBJECT: Fields = { type: "object", properties: {} };

/** What was written from the snapshot holds the snapshot's own values, and those need no second look. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  return Array.isArray(a) === Array.isArray(b) && sameFields(a as Fields, b as Fields);
}

/** `unsaid`: what a field holds that is left out. Looked at for every tool of every request, so without lists in between. */
function sameFields(a: Fields, b: Fields, unsaid: Fields = NOTHING): boolean {
  for (const name in a)
    if (a[name] !== b[name] && !sameJson(valueOf(a, name, unsaid), valueOf(b, name, unsaid))) return false;
  for (const name in b) if (!Object.hasOwn(a, name) && !sameJson(unsaid[name], valueOf(b, name, unsaid))) return false;
  return true;
}

const NOTHING: Fields = {};

function valueOf(fields: Fields, name: string, unsaid: Fields): unknown {
  const said = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return said === undefined ? unsaid[name] : said;
}

function twice(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
