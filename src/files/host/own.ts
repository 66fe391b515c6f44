/** Where Holdfast keeps what is its own inside a workspace. */
export const OWN_FOLDER = ".holdfast";
/** New content waits beside its target under such a name, which ends with the commit's and a number. */
export const OWN_PREFIX = ".holdfast-";
/** The whole of it: a file that only begins like one of ours is the user's, and would be lost untold if it were taken for ours. */
const OWN_NAME = /^\.holdfast-[0-9a-f]{24}-[0-9]+$/i;

/** True for what no tool may name: the folder of ours, waiting content, and a store or its content that lies in the workspace. */
export function isOwn(names: readonly string[], places: readonly OwnPlace[]): boolean {
  const [first = ""] = names;
  // Also where `.HOLDFAST` is the same folder: no workspace needs a file of that name.
  if (first.toLowerCase() === OWN_FOLDER || names.some(isOwnName)) return true;
  return places.some((place) => isAt(names.join("/"), place));
}

/** A place of ours among the user's files. */
export interface OwnPlace {
  readonly path: string;
  /** Whether it keeps things beside itself, under names that begin with its own. A store does; a folder for its content not. */
  readonly beside: boolean;
  /** What of it may be made at any time, by what follows its path. */
  readonly coming: readonly string[];
}

/** True for a place and for everything that belongs to it. */
export function isAt(path: string, { path: place, beside }: OwnPlace): boolean {
  return path === place || (path.startsWith(place) && (beside ? /^[-./]/ : /^\//).test(path.slice(place.length)));
}

export function isOwnName(name: string): boolean {
  return OWN_NAME.test(name);
}
