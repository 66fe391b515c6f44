import type { PolicyView, ToolPolicy } from "../transaction/policy.ts";
import { catalogPart } from "./catalog-part.ts";
import { FILE_PARTS } from "./kernel-parts.ts";
import type { SessionCatalog } from "./session-catalog.ts";

/**
 * The last of the three layers: whatever the prompt said and the model was shown, what its catalog does not offer does not
 * run. It comes before every policy of the host's, so no approval opens it.
 */
export function catalogPolicy(catalog: () => SessionCatalog): ToolPolicy {
  return {
    name: "catalog",
    check: (view) => denial(catalog(), view),
    recheck: (view, changes) => {
      const now = catalog();
      if (now.mode === "act") return undefined;
      const denied = denial(now, view);
      if (denied !== undefined)
        return `The session went into plan mode while ${view.tool.name} ran, so its changes were undone. Put the change into your plan instead.`;
      if (changes(catalogPart.name))
        return `${view.tool.name} changed the mode, which no call may, so its changes were undone.`;
      // Whatever a tool says of itself, in plan mode the files stay as they are.
      return FILE_PARTS.some(changes)
        ? `${view.tool.name} changed files, and plan mode is on, so its changes were undone.`
        : undefined;
    },
  };
}

function denial(catalog: SessionCatalog, { tool, input, call: { epoch } }: PolicyView): string | undefined {
  return catalog.denial({ tool, input, ...(epoch === undefined ? {} : { epoch }) });
}
