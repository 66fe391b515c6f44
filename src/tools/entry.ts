/** `holdfast/tools`: tools for a workspace, written through the door like anybody's. */
import type { Tool } from "../index.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { editFileTool } from "./edit-file.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { type ToolLimits, toolLimits } from "./limits.ts";
import { listFilesTool } from "./list-files.ts";
import { readFileTool } from "./read-file.ts";
import { writeFileTool } from "./write-file.ts";

export { execTool } from "./exec.ts";
export type { ToolLimits };

/** Reading, searching and changing the files of a session. Choose among them by name where not all are wanted. */
export function workspaceTools(options: { readonly limits?: Partial<ToolLimits> } = {}): readonly Tool[] {
  const limits = toolLimits(options.limits);
  return [
    readFileTool(limits),
    listFilesTool(limits),
    globTool(limits),
    grepTool(limits),
    writeFileTool(),
    editFileTool(),
    applyPatchTool(),
  ];
}
