import { shownName } from "../base/shown-name.ts";
import { defineTool, type Tool } from "../index.ts";
import { argumentsOf, text } from "./arguments.ts";
import { lineCount } from "./lines.ts";
import { fileFailure, misplaced, plainPath } from "./look.ts";

/** A whole file, new or in the place of the old one. */
export function writeFileTool(): Tool {
  return defineTool({
    name: "write_file",
    description:
      "Write a whole file of the workspace. Missing folders are created. A file that exists is replaced: " +
      "use edit_file to change a part of a file.",
    access: "write",
    ...argumentsOf({ path: text("Relative to the workspace."), text: text("The whole content of the file.") }),
    run: async ({ path: given, text: content }, call) => {
      const path = plainPath(given);
      try {
        const elsewhere = await misplaced(call, given);
        if (elsewhere !== undefined) return call.fail("FILE_BAD_PATH", elsewhere);
        const replaced = await call.files.exists(path);
        await call.files.writeText(path, content);
        return `${replaced ? "Replaced" : "Created"} ${shownName(path)}: ${lineCount(content)} lines.`;
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });
}
