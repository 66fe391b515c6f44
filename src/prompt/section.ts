import { HoldfastError } from "../base/errors.ts";
import { ANYTHING, BOOLEAN, checkOptions, listOf, oneOf, type OptionRules, options, TEXT } from "../base/options.ts";
import { deepFreeze } from "../base/freeze.ts";
import { type Sha256, sha256 } from "../base/hash.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";

/** How much of a section is shown. */
export type Visibility = "full" | "summary";

/** A tool that a section mentions: as one to use (`offered`), or as one that cannot be used (`blocked`). */
export interface ToolMention {
  readonly tool: string;
  readonly as: "offered" | "blocked";
}

/**
 * One piece of a prompt, as plain data. If a section needs to remember something, put it into slices or resources, so
 * that it is rolled back and restored with everything else.
 */
export interface PromptSection {
  /** A letter, then letters, digits, `_`, `.` or `-`; at most 100 characters. */
  readonly id: string;
  /** The text. `{{name}}` is replaced by the parameter `name`. */
  readonly body: string;
  /** Shown instead of the body until the section is opened. */
  readonly summary?: string;
  /** Every tool that body or summary mention. The section is left out while what it says about one of them is wrong. */
  readonly tools?: readonly ToolMention[];
  /** What is shown at first. `summary` needs a summary. Default `full`. */
  readonly visibility?: Visibility;
  /** Lower comes first; equal ones stay in the order in which they were given. Default 0. */
  readonly order?: number;
  /** True for text that may change with every request: it goes to the tail, not to the stable prefix. Default false. */
  readonly volatile?: boolean;
  /** Takes the text as it is, without filling in parameters. Default false. */
  readonly verbatim?: boolean;
}

/** What requests say before the conversation. Made with `definePrompt`. */
export interface Prompt {
  readonly name: string;
  /** In the order in which they are shown. */
  readonly sections: readonly PromptSection[];
}

const ID = /^[A-Za-z][\w.-]{0,99}$/;
const PARAMETER = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;

/** Makes a prompt: checks the sections and sorts them. Throws PROMPT_INVALID. */
export function definePrompt(name: string, sections: readonly PromptSection[]): Prompt {
  if (!ID.test(name)) throw new HoldfastError("PROMPT_INVALID", { prompt: name.slice(0, 80), fault: "not a name" });
  const seen = new Set<string>();
  for (const section of sections) {
    const fault = shapeFault(section) ?? faultOf(section) ?? (seen.has(section.id) ? "given twice" : undefined);
    if (fault !== undefined)
      throw new HoldfastError("PROMPT_INVALID", { prompt: name, section: String(Object(section).id), fault });
    seen.add(section.id);
  }
  return deepFreeze({ name, sections: structuredClone(sections).toSorted(byOrder) });
}

/**
 * The hash that a `SectionOverride` must name. It changes with the section's text and with the definitions of the tools
 * that the section offers, so an override for an older version is refused. The mode makes no difference.
 */
export function sectionHash(
  { body, summary = "", tools = [] }: PromptSection,
  catalog?: Pick<SessionToolCatalogSnapshot, "tool" | "toolHash">,
): Sha256 {
  const offered = tools.flatMap(({ tool, as }) => (as === "offered" ? [tool] : []));
  const hashes = offered.map((tool) => `\0${tool}:${catalog?.tool(tool)?.definition ?? catalog?.toolHash(tool) ?? ""}`);
  return sha256(`${body}\0${summary}${hashes.join("")}`);
}

/** Names of the parameters that a section asks for, whatever of it is shown. */
export function parametersOf({ body, summary = "", verbatim = false }: PromptSection): readonly string[] {
  return verbatim ? [] : [...new Set([...parametersIn(body), ...parametersIn(summary)])];
}

/** Names of the parameters that a text asks for. */
function parametersIn(text: string): readonly string[] {
  return [...text.matchAll(PARAMETER)].map(([, name = ""]) => name);
}

/** The text with its parameters put in, as they are: a parameter's own braces ask for nothing. */
export function fillIn(text: string, parameters: Readonly<Record<string, string>>): string {
  return text.replace(PARAMETER, (_, name: string) => parameters[name] ?? "");
}

/** What the kernel itself puts into a prompt: a section of that name would stand in for it, or be lost behind it. */
const RESERVED: readonly string[] = ["instructions", "history", "policy", "stamp"];

const MENTION = options<ToolMention>({ tool: TEXT, as: oneOf("offered", "blocked") }, ["tool", "as"]);

const SECTION: OptionRules<PromptSection> = {
  id: ANYTHING, // looked at with the order, below
  body: TEXT,
  summary: TEXT,
  tools: listOf(MENTION),
  visibility: oneOf("full", "summary"),
  order: ANYTHING,
  volatile: BOOLEAN,
  verbatim: BOOLEAN,
};

/** A misspelt `as` would hide a section just while its tool is offered, and nobody would know why the model lacks it. */
function shapeFault(section: PromptSection): string | undefined {
  try {
    checkOptions(section, SECTION, ["id", "body"]);
    return undefined;
  } catch (error) {
    if (!HoldfastError.is(error, "BAD_OPTION")) throw error;
    const { option, wants, known } = error.details as Readonly<Partial<Record<string, string>>>;
    if (option === "options") return "a section must be an object";
    return wants === undefined ? `no section has ${option}, only ${known}` : `${option} must be ${wants}`;
  }
}

function faultOf({ id, summary, visibility, order = 0 }: PromptSection): string | undefined {
  if (!ID.test(id)) return "not an id";
  if (RESERVED.includes(id)) return "an id that is the kernel's own";
  if (visibility === "summary" && summary === undefined) return "to be shown as a summary, but has none";
  return Number.isFinite(order) ? undefined : "its order is no number";
}

function byOrder(a: PromptSection, b: PromptSection): number {
  return (a.order ?? 0) - (b.order ?? 0);
}
