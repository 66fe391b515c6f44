import { contents } from "./filesystem-laws/contents.ts";
import type { FilesystemUnderLaw } from "./filesystem-laws/context.ts";
import { model } from "./filesystem-laws/model.ts";
import { places } from "./filesystem-laws/places.ts";
import { type Law, lawsOf } from "./law.ts";

/** The laws that every filesystem must keep: `register(filesystemLaws("mine", { open }), test)`. */
export function filesystemLaws(name: string, filesystem: FilesystemUnderLaw): readonly Law[] {
  return lawsOf(name, [...contents, ...places, ...model], () => filesystem);
}
