import { HoldfastError } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import { type Sha256, sha256 } from "../base/hash.ts";

/** How much of a section is shown. */
export type Visibility = "full" | "summary";

/** A tool that a section speaks of, and how: as one to use, or as one that cannot be used. */
export interface ToolMention {
  readonly tool: string;
  readonly as: "offered" | "blocked";
}

/**
 * One piece of a prompt. Plain data: what a section needs to remember lies in slices and resources, so that it is rolled
 * back and restored with everything else.
 */
export interface PromptSection {
  readonly id: string;
  /** `{{name}}` stands for a parameter. */
  readonly body: string;
  /** Shown instead of the body while the section is not opened. */
  readonly summary?: string;
  /** Every tool that body or summary speak of. A section is left out while what it says of one of them is not so. */
  readonly tools?: readonly ToolMention[];
  /** `summary` needs a summary. Default `full`. */
  readonly visibility?: Visibility;
  /** Lower comes first; equal ones stay in the order in which they were given. Default 0. */
  readonly order?: number;
  /** Goes to the tail, which may differ in every request. Everything else is the stable prefix. */
  readonly volatile?: boolean;
}

export interface Prompt {
  readonly name: string;
  /** In the order in which they are shown. */
  readonly sections: readonly PromptSection[];
}

const ID = /^[A-Za-z][\w.-]{0,99}$/;
const PARAMETER = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

/** Checks sections and puts them into their order. */
export function definePrompt(name: string, sections: readonly PromptSection[]): Prompt {
  if (!ID.test(name)) throw new HoldfastError("PROMPT_INVALID", { prompt: name.slice(0, 80), fault: "not a name" });
  const seen = new Set<string>();
  for (const section of sections) {
    const fault = faultOf(section) ?? (seen.has(section.id) ? "given twice" : undefined);
    if (fault !== undefined) throw new HoldfastError("PROMPT_INVALID", { prompt: name, section: section.id, fault });
    seen.add(section.id);
  }
  return deepFreeze({ name, sections: structuredClone(sections).toSorted(byOrder) });
}

/** What a replacement of the section's text must name, so that it is refused once the text has changed. */
export function sectionHash({ body, summary = "" }: PromptSection): Sha256 {
  return sha256(`${body}\0${summary}`);
}

/** Names of the parameters that a text asks for. */
export function parametersIn(text: string): readonly string[] {
  return [...text.matchAll(PARAMETER)].map(([, name = ""]) => name);
}

/** The text with its parameters put in, as they are: a parameter's own braces ask for nothing. */
export function fillIn(text: string, parameters: Readonly<Record<string, string>>): string {
  return text.replace(PARAMETER, (_, name: string) => parameters[name] ?? "");
}

function faultOf({ id, summary, visibility, order = 0 }: PromptSection): string | undefined {
  if (!ID.test(id)) return "not an id";
  if (visibility === "summary" && summary === undefined) return "to be shown as a summary, but has none";
  return Number.isFinite(order) ? undefined : "its order is no number";
}

function byOrder(a: PromptSection, b: PromptSection): number {
  return (a.order ?? 0) - (b.order ?? 0);
}
