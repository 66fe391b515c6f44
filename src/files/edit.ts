import { HoldfastError } from "../base/errors.ts";
import type { FileEdit } from "../contracts/filesystem.ts";

/** The text after every edit, each on what the ones before it left, and how many places changed. */
export function edited(text: string, edits: readonly FileEdit[], path: string): { text: string; places: number } {
  return edits.reduce(
    (now, edit, index) => {
      const { text: next, places } = once(now.text, edit, () => ({ path, edit: index + 1, edits: edits.length }));
      return { text: next, places: now.places + places };
    },
    { text, places: 0 },
  );
}

type About = () => { readonly path: string; readonly edit: number; readonly edits: number };

function once(text: string, { find, replace, all = false }: FileEdit, about: About) {
  if (find instanceof RegExp) return byPattern(text, find, replace, all, about);
  if (find === "") throw new HoldfastError("FILE_EDIT_NOT_FOUND", { ...about(), detail: "the text to find is empty" });
  const places = all ? text.split(find).length - 1 : countOverlapping(text, find);
  if (places === 0) throw new HoldfastError("FILE_EDIT_NOT_FOUND", about());
  // Which of them was meant? Guessing the first one edits the wrong function.
  if (places > 1 && !all) throw new HoldfastError("FILE_EDIT_AMBIGUOUS", { ...about(), places });
  return { text: text.split(find).join(replace), places };
}

/** `}}` stands twice in `}}}`: either may be meant. */
function countOverlapping(text: string, find: string): number {
  let places = 0;
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + 1)) places += 1;
  return places;
}

function byPattern(text: string, find: RegExp, replace: string, all: boolean, about: About) {
  const flags = find.flags.replaceAll(/[gy]/g, "");
  const pattern = new RegExp(find.source, `${flags}${all ? "g" : ""}`);
  const places = [...text.matchAll(new RegExp(find.source, `${flags}g`))].length;
  if (places === 0) throw new HoldfastError("FILE_EDIT_NOT_FOUND", about());
  if (places > 1 && !all) throw new HoldfastError("FILE_EDIT_AMBIGUOUS", { ...about(), places });
  return { text: text.replace(pattern, replace), places };
}
