import { shownName } from "../base/shown-name.ts";
import { type Call, defineTool, HoldfastError, type Tool } from "../index.ts";
import { argumentsOf, optional, text, whole } from "./arguments.ts";
import { type ToolLimits, withinBytes } from "./limits.ts";
import { fileFailure, passedOver, plainPath, Unreadable } from "./look.ts";

const DEEPEST = 8;

/** What a folder holds, and what its folders hold, as deep as asked. */
export function listFilesTool({ paths: most, bytes }: ToolLimits): Tool {
  return defineTool({
    name: "list_files",
    description: "List a folder of the workspace. Names of folders end in /.",
    access: "read",
    ...argumentsOf({
      path: optional(text("Relative to the workspace. Default: the workspace.")),
      depth: optional(whole("How many levels of folders to list. Default: 1.", 1, DEEPEST)),
    }),
    run: async ({ path: given = "", depth = 1 }, call) => {
      const path = plainPath(given);
      const skipped = new Set(passedOver(path));
      const found: string[] = [];
      const unnamed = new Unreadable();
      let unseen = 0;
      try {
        await walk(path, 1);
      } catch (error) {
        return fileFailure(call, path, error);
      }
      if (found.length + unnamed.words.length === 0)
        return `[${path === "" ? "the workspace" : shownName(path)} is empty]`;
      const shown = withinBytes(found, bytes);
      const more = unseen + found.length - shown.length;
      // What is in the folders among them was not looked at.
      const left = `[and ${depth > 1 ? "at least " : ""}${more} more; list one of its folders, or use glob]`;
      return [...shown, ...(more === 0 ? [] : [left]), ...unnamed.words].join("\n");

      async function walk(folder: string, level: number): Promise<void> {
        for (const { name, kind } of await call.files.list(folder, { passedOver: unnamed.add })) {
          const place = folder === "" ? name : `${folder}/${name}`;
          if (found.length >= most) {
            unseen += 1;
            continue;
          }
          found.push(kind === "folder" ? shownName(`${place}/`) : await told(call, place, kind));
          if (kind !== "folder" || level >= depth || skipped.has(name)) continue;
          await walk(place, level + 1).catch((error: unknown) => {
            if (!HoldfastError.is(error, "FILE_NOT_READABLE")) throw error;
            found[found.length - 1] = `${shownName(`${place}/`)} (not readable)`;
          });
        }
      }
    },
  });
}

async function told(call: Call, place: string, kind: string): Promise<string> {
  if (kind !== "link") return kind === "file" ? shownName(place) : `${shownName(place)} (neither file nor folder)`;
  const stat = await call.files.stat(place);
  return stat.kind === "link" ? `${shownName(place)} -> ${shownName(stat.target)}` : shownName(place);
}
