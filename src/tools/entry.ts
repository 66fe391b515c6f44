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

/**
 * Tools that read, search and change the files of a session: `read_file`, `list_files`, `glob`, `grep`, `write_file`,
 * `edit_file` and `apply_patch`. To offer only some of them, filter the list by name.
 */
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
