import type { SessionToolCatalogSnapshot } from "../../src/catalog/snapshot.ts";
import {
  type CatalogChange,
  type CatalogState,
  changeCatalog,
  hashTools,
  INITIAL_CATALOG,
  snapshotCatalog,
} from "../../src/catalog/state.ts";
import { shellReadOnly } from "../../src/catalog/shell.ts";
import type { CatalogTool } from "../../src/catalog/tool.ts";
import type { LiveCatalog } from "../../src/alignment/check.ts";
import { type RenderedPrompt, type RenderOptions, renderPrompt } from "../../src/prompt/render.ts";
import { definePrompt, type PromptSection } from "../../src/prompt/section.ts";

export function tool(name: string, more: Partial<CatalogTool> = {}): CatalogTool {
  return { name, description: `Does ${name}.`, inputSchema: { type: "object" }, access: "read", ...more };
}

export const readFile = tool("read_file");
export const editFile = tool("edit_file", { access: "write" });
export const shell = tool("shell", { access: "execute", readOnly: shellReadOnly() });
/** One tool, several actions: only one of them reads. */
export const unifiedFile = tool("unified_file", {
  access: "write",
  actions: { field: "action", access: { read: "read", write: "write", edit: "write" } },
  inputSchema: {
    type: "object",
    properties: { action: { type: "string", enum: ["read", "write", "edit"] }, path: { type: "string" } },
    required: ["action"],
  },
});
export const TOOLS = [readFile, editFile, shell, unifiedFile];

/** A catalog of these tools, after some changes. */
export function catalogWith(tools: readonly CatalogTool[], ...changes: readonly CatalogChange[]): CatalogState {
  const opened = changeCatalog(INITIAL_CATALOG, { tools: hashTools(tools) }, "opened");
  return changes.reduce<CatalogState>((now, change) => changeCatalog(now, change, "changed"), opened);
}

export function snapshotOf(
  tools: readonly CatalogTool[],
  ...changes: readonly CatalogChange[]
): SessionToolCatalogSnapshot {
  return snapshotCatalog(catalogWith(tools, ...changes), tools);
}

export function liveOf({ epoch, mode, requestUserInputEnabled }: SessionToolCatalogSnapshot): LiveCatalog {
  return { epoch, mode, requestUserInputEnabled };
}

export const identity: PromptSection = { id: "identity", body: "You are a careful engineer." };

export function rendered(
  catalog: SessionToolCatalogSnapshot,
  sections: readonly PromptSection[] = [identity],
  options: Omit<RenderOptions, "catalog"> = {},
): RenderedPrompt {
  const result = renderPrompt(definePrompt("test", sections), { catalog, ...options });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
