import { defineTool, type Tool } from "../index.ts";
import { argumentsOf, fields, flag, listOf, optional, text } from "./arguments.ts";
import { likelyPlaces } from "./likely.ts";
import { lineBreakOf, linesAt, numbersWords, placesOf } from "./lines.ts";
import { fileFailure, plainPath } from "./look.ts";

interface Edit {
  readonly find: string;
  readonly replace: string;
  readonly all?: boolean;
}

/** Exact replacements, all of them or none. What could mean two places is refused, and the places are named. */
export function editFileTool(): Tool {
  return defineTool({
    name: "edit_file",
    description:
      "Replace pieces of text in a file of the workspace. Each `find` must stand in the file exactly, and once unless " +
      "`all` is set. The edits are made in order, all of them or none.",
    access: "write",
    ...argumentsOf({
      path: text("Relative to the workspace."),
      edits: listOf(
        "In the order in which they are made.",
        fields({
          find: text("Exactly as it stands in the file, without line numbers."),
          replace: text("What shall stand there instead."),
          all: optional(flag("Every place, not only one.")),
        }),
        1,
      ),
    }),
    run: async ({ path: given, edits }, call) => {
      const path = plainPath(given);
      try {
        const before = await call.files.readText(path);
        const lineBreak = lineBreakOf(before);
        let now = before;
        let changed: readonly number[] = [];
        for (const [nth, edit] of edits.entries()) {
          const done = edited(now, inLineBreaks(edit, lineBreak));
          if (!("text" in done)) return call.fail(done.code, `${nameOf(path, nth, edits.length)} ${done.why}`);
          now = done.text;
          changed = changed.concat(done.lines);
        }
        if (now === before) return call.fail("no-change", `The edits leave ${path} as it is.`);
        await call.files.writeText(path, now);
        return `Edited ${path}: ${changed.length} ${changed.length === 1 ? "place" : "places"}, at line ${numbersWords(changed)}.`;
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });
}

type Edited =
  | { readonly text: string; readonly lines: readonly number[] }
  | { readonly code: string; readonly why: string };

function edited(now: string, { find, replace, all = false }: Edit): Edited {
  if (find === "") return { code: "empty-find", why: "has an empty text to find; write_file writes a whole file." };
  const places = placesOf(now, find);
  const lines = linesAt(now, places);
  if (places.length === 0) return { code: "not-found", why: `does not stand in the file.${likelyPlaces(now, find)}` };
  if (places.length > 1 && !all)
    return {
      code: "ambiguous",
      why: `stands in ${places.length} places, at line ${numbersWords(lines)}. Give more of what is around it, or set all.`,
    };
  return { text: now.split(find).join(replace), lines };
}

function inLineBreaks(edit: Edit, lineBreak: string): Edit {
  if (lineBreak === "\n") return edit;
  const written = (text: string) => text.replaceAll(/\r?\n/g, lineBreak);
  return { ...edit, find: written(edit.find), replace: written(edit.replace) };
}

function nameOf(path: string, nth: number, of: number): string {
  return of === 1 ? `In ${path} the text to find` : `In ${path} the text to find of edit ${nth + 1} of ${of}`;
}
