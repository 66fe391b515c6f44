import { shownName } from "../base/shown-name.ts";
import { defineTool, type Tool } from "../index.ts";
import { argumentsOf, fields, flag, listOf, optional, text } from "./arguments.ts";
import { likelyPlaces } from "./likely.ts";
import { asSeen, linesAt, numbersWords, placesOf } from "./lines.ts";
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
      "Replace pieces of text in a file of the workspace. Each `find` must match the file exactly, and only once unless " +
      "`all` is set. The edits are made in order, all of them or none.",
    access: "write",
    ...argumentsOf({
      path: text("Relative to the workspace."),
      edits: listOf(
        "They are made in this order.",
        fields({
          find: text("The text to replace, exactly as in the file, without line numbers."),
          replace: text("The new text."),
          all: optional(flag("Replace every occurrence.")),
        }),
        1,
      ),
    }),
    run: async ({ path: given, edits }, call) => {
      const path = plainPath(given);
      try {
        const before = await call.files.readText(path);
        let now = before;
        let changed: readonly number[] = [];
        for (const [nth, edit] of edits.entries()) {
          const done = edited(now, edit);
          if (!("text" in done)) return call.fail(done.code, `${nameOf(path, nth, edits.length)} ${done.why}`);
          now = done.text;
          changed = changed.concat(done.lines);
        }
        if (now === before) return call.fail("no-change", `The edits do not change ${shownName(path)}.`);
        await call.files.writeText(path, now);
        return `Edited ${shownName(path)}: ${changed.length} ${changed.length === 1 ? "place" : "places"}, at line ${numbersWords(changed)}.`;
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });
}

type Edited =
  | { readonly text: string; readonly lines: readonly number[] }
  | { readonly code: string; readonly why: string };

/** Compared as the model sees both, without carriage returns; what is not replaced keeps its own. */
function edited(now: string, { find: given, replace, all = false }: Edit): Edited {
  const find = given.replaceAll("\r\n", "\n");
  if (find === "") return { code: "empty-find", why: "is empty; write_file writes a whole file." };
  const { seen, usual, inText } = asSeen(now);
  const places = placesOf(seen, find, { overlapping: !all });
  const lines = linesAt(seen, places);
  if (places.length === 0) return { code: "not-found", why: `is not in the file.${likelyPlaces(seen, find)}` };
  if (places.length > 1 && !all)
    return {
      code: "ambiguous",
      why: `occurs ${places.length} times, at line ${numbersWords(lines)}. Include more of the text around it, or set all.`,
    };
  const kept: string[] = [];
  let from = 0;
  for (const place of places) {
    kept.push(now.slice(from, inText(place)));
    from = inText(place + find.length);
  }
  const written = usual === "\n" ? replace : replace.replaceAll(/\r?\n/g, usual);
  return { text: [...kept, now.slice(from)].join(written), lines };
}

function nameOf(path: string, nth: number, of: number): string {
  return `In ${shownName(path)} the text to find${of === 1 ? "" : ` of edit ${nth + 1} of ${of}`}`;
}
