import { canonicalJson } from "../base/canonical.ts";
import type { Json } from "../base/json.ts";
import type { SentRequest, ToolOffer } from "../contracts/model.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { AlignmentFault } from "./faults.ts";

/** Whether the request that is about to leave offers what the snapshot offers: no more, no less, nothing else. */
export function checkRequest(sent: SentRequest, catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const byName = new Map(sent.tools.map((tool) => [tool.name, tool]));
  const missing = catalog.activeNames.filter((name) => !byName.has(name));
  const extra = sent.tools.map(({ name }) => name).filter((name) => catalog.tool(name) === undefined);
  const changed = [...byName.values()].flatMap((tool) => {
    const offered = catalog.tool(tool.name);
    return offered === undefined || sameOffer(tool, offered) ? [] : [tool.name];
  });
  // One name twice: the second may say something else, and nobody knows which of them counts.
  if (byName.size !== sent.tools.length) extra.push(...twice(sent.tools.map(({ name }) => name)));
  const faults: AlignmentFault[] = [];
  if (missing.length + extra.length + changed.length > 0)
    faults.push({ kind: "request-tools-differ", missing, extra, changed });
  const { toolChoice } = sent;
  if (toolChoice !== undefined && catalog.tool(toolChoice) === undefined)
    faults.push({ kind: "tool-choice-missing", tool: toolChoice });
  return faults;
}

function sameOffer(a: ToolOffer, b: ToolOffer): boolean {
  return textOf(a) === textOf(b);
}

/** Providers want `type: "object"` written out; with or without, the schema says the same. */
function textOf({ description = "", input }: ToolOffer): string {
  return canonicalJson([description, { type: "object", ...input } as Json]);
}

function twice(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
