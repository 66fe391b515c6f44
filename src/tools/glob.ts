import { shownName } from "../base/shown-name.ts";
import { defineTool, type Tool } from "../index.ts";
import { argumentsOf, optional, text } from "./arguments.ts";
import { type ToolLimits, withinBytes } from "./limits.ts";
import { fileFailure, globbed, Unreadable, passedOver, plainPath } from "./look.ts";

/** Files by their paths. */
export function globTool({ paths: most, bytes }: ToolLimits): Tool {
  return defineTool({
    name: "glob",
    description:
      "Find files of the workspace by their paths: `**/*.ts`, `src/{a,b}/*.md`. `*` stays inside a name, `**` does not. " +
      ".git and node_modules are skipped unless they are named.",
    access: "read",
    ...argumentsOf({
      pattern: text("Relative to `path`."),
      path: optional(text("The folder to search. Default: the workspace.")),
    }),
    run: async ({ pattern, path: given = "" }, call) => {
      const path = plainPath(given);
      try {
        if (path !== "") await call.files.list(path); // a folder that is not there has no matches, and should say so
        const wanted = plainPath(pattern);
        const unreadable = new Unreadable();
        const options = { path, exclude: passedOver(pattern, path), passedOver: unreadable.add };
        const found = await globbed(call, wanted, options);
        if (found.length === 0) return ["[no file matches]", ...unreadable.words].join("\n");
        const shown = withinBytes(found.slice(0, most).map(shownName), bytes);
        const more = found.length - shown.length;
        const left = more > 0 ? [`[and ${more} more; use a narrower pattern]`] : [];
        return [...shown, ...left, ...unreadable.words].join("\n");
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });
}
