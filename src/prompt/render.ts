import { deepFreeze } from "../base/freeze.ts";
import { type Sha256, sha256 } from "../base/hash.ts";
import { err, ok, type Result } from "../base/result.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import { POLICY_LINES, policyLine } from "./policy-lines.ts";
import {
  fillIn,
  parametersOf,
  type Prompt,
  type PromptSection,
  sectionHash,
  type ToolMention,
  type Visibility,
} from "./section.ts";
import { stampText } from "./stamp.ts";

/** One piece of a rendered prompt: what it says, and what it was made from. */
export interface Segment {
  readonly kind: "section" | "history" | "policy" | "stamp";
  /** The section's id; for other kinds, the kind. */
  readonly id: string;
  readonly text: string;
  readonly hash: Sha256;
  /** Present for sections. */
  readonly visibility?: Visibility;
  /** The policy lines in its text, not counting what parameters put in. */
  readonly policyLines: readonly string[];
  /** The tools that it mentions. Offered ones come with the hash they had when it was rendered. */
  readonly mentions: readonly (ToolMention & { readonly hash?: Sha256 })[];
}

/** A prompt rendered for one catalog. */
export interface RenderedPrompt {
  readonly name: string;
  /** Identity, rules, guidance: the same bytes as long as neither sections nor catalog change. */
  readonly prefix: readonly Segment[];
  /** What may differ in every request: volatile sections, the policy line, the stamp. */
  readonly tail: readonly Segment[];
  readonly prefixText: string;
  readonly tailText: string;
  /** Hash of the prefix alone. As long as it stays the same, a provider's cache can be used. */
  readonly prefixHash: Sha256;
  /** Hash of prefix and tail, without the lines about history, which change with every call. */
  readonly hash: Sha256;
  /** Hash of every tool it was rendered for, by name. */
  readonly toolHashes: Readonly<Record<string, Sha256>>;
  /** Sections that were left out, and the tool about which they would be wrong. */
  readonly omitted: readonly { readonly section: string; readonly tool: string }[];
  /** Ids of sections that are shown as a summary and can be opened. */
  readonly closed: readonly string[];
}

/** A replacement for a section's text. It is refused when the section is no longer the one it was written for. */
export interface SectionOverride {
  /** The section's id. */
  readonly section: string;
  /** The `sectionHash` of the section that it was written for. */
  readonly replaces: Sha256;
  /** The new text. */
  readonly body: string;
}

/** Options of `renderPrompt`. */
export interface RenderOptions {
  /** The tools that the request will offer. */
  readonly catalog: SessionToolCatalogSnapshot;
  /** Which sections are shown in full or as a summary, instead of what they say themselves. */
  readonly visibility?: readonly { readonly section: string; readonly visibility: Visibility }[];
  /** Values for `{{name}}` in sections. Every one that is used must be given, and no other. */
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  /** Other texts for some sections. */
  readonly overrides?: readonly SectionOverride[];
  /** Lines about what has happened so far. Shown only while `run_code` is offered, with which programs can read it. */
  readonly history?: string;
}

/** Why a prompt cannot be rendered. */
export type PromptFault =
  | { readonly kind: "parameter-missing"; readonly section: string; readonly parameter: string }
  | { readonly kind: "parameter-unknown"; readonly parameter: string }
  | { readonly kind: "parameter-not-text"; readonly parameter: string }
  | { readonly kind: "override-unknown"; readonly section: string }
  | { readonly kind: "override-stale"; readonly section: string; readonly replaces: Sha256; readonly hash: Sha256 };

/** Renders the sections for one catalog. The same input gives the same bytes. */
export function renderPrompt(prompt: Prompt, options: RenderOptions): Result<RenderedPrompt, readonly PromptFault[]> {
  const { sections, faults } = overridden(prompt, options);
  const all = [...faults, ...parameterFaults(sections, options.parameters ?? {})];
  if (all.length > 0) return err(all);
  const { catalog } = options;
  const omitted: { section: string; tool: string }[] = [];
  const shown = sections.filter((section) => {
    const untrue = untrueIn(section, catalog);
    if (untrue !== undefined) omitted.push({ section: section.id, tool: untrue.tool });
    return untrue === undefined;
  });
  const segmentOf = (section: PromptSection) => renderSection(section, options);
  const prefix = shown.filter((section) => section.volatile !== true).map(segmentOf);
  const tail = [
    ...shown.filter((section) => section.volatile === true).map(segmentOf),
    ...historySegments(options),
    ...runtimeSegments(catalog),
  ];
  const closed = [...prefix, ...tail].filter(({ visibility }) => visibility === "summary").map(({ id }) => id);
  const [prefixHash, tailHash] = [hashOf(prefix), hashOf(tail.filter(({ kind }) => kind !== "history"))];
  const rendered: RenderedPrompt = {
    name: prompt.name,
    prefix,
    tail,
    prefixText: wordsOf(prefix),
    tailText: wordsOf(tail),
    prefixHash,
    hash: sha256(`${prefixHash}\n${tailHash}`),
    toolHashes: Object.fromEntries(catalog.activeNames.map((name) => [name, catalog.toolHash(name) ?? ""])),
    omitted,
    closed,
  };
  return ok(deepFreeze(rendered));
}

/** What a section says of a tool and is not so. */
function untrueIn({ tools = [] }: PromptSection, catalog: SessionToolCatalogSnapshot): ToolMention | undefined {
  return tools.find(({ tool, as }) => (as === "offered") !== (catalog.tool(tool) !== undefined));
}

function overridden(prompt: Prompt, { overrides = [], catalog }: RenderOptions) {
  const byId = new Map(prompt.sections.map((section) => [section.id, section]));
  const faults: PromptFault[] = [];
  for (const { section: id, replaces, body } of overrides) {
    const section = byId.get(id);
    const hash = section === undefined ? "" : sectionHash(section, catalog);
    if (section === undefined) faults.push({ kind: "override-unknown", section: id });
    // Of a section that is left out nothing is said, and its tool cannot be compared.
    else if (untrueIn(section, catalog) !== undefined) continue;
    else if (hash !== replaces) faults.push({ kind: "override-stale", section: id, replaces, hash });
    else byId.set(id, { ...section, body });
  }
  return { sections: [...byId.values()], faults };
}

/** A section is checked whole, whatever of it is shown: opening it later must not fail. */
function parameterFaults(
  sections: readonly PromptSection[],
  given: NonNullable<RenderOptions["parameters"]>,
): readonly PromptFault[] {
  const asked = new Set<string>();
  const missing = sections.flatMap((section) =>
    parametersOf(section).flatMap((parameter): PromptFault[] => {
      asked.add(parameter);
      return Object.hasOwn(given, parameter) ? [] : [{ kind: "parameter-missing", section: section.id, parameter }];
    }),
  );
  const odd = Object.entries(given).flatMap(([parameter, value]): PromptFault[] => {
    if (!asked.has(parameter)) return [{ kind: "parameter-unknown", parameter }];
    return ["string", "number", "boolean"].includes(typeof value) ? [] : [{ kind: "parameter-not-text", parameter }];
  });
  return [...missing, ...odd];
}

function renderSection(section: PromptSection, options: RenderOptions): Segment {
  const { id, body, summary, tools = [] } = section;
  const visibility = summary === undefined ? "full" : visibilityOf(section, options);
  const parameters = Object.fromEntries(
    Object.entries(options.parameters ?? {}).map(([name, value]) => [name, String(value)]),
  );
  const shown = visibility === "full" ? body : `${summary ?? ""}\n${closedNote(id)}`;
  const mentions = tools.map((mention) => {
    const hash = mention.as === "offered" ? options.catalog.toolHash(mention.tool) : undefined;
    return hash === undefined ? mention : { ...mention, hash };
  });
  const policyLines = POLICY_LINES.filter((line) => shown.includes(line));
  return segment("section", id, section.verbatim === true ? shown : fillIn(shown, parameters), {
    visibility,
    mentions,
    policyLines,
  });
}

function visibilityOf({ id, visibility = "full" }: PromptSection, options: RenderOptions): Visibility {
  return options.visibility?.findLast(({ section }) => section === id)?.visibility ?? visibility;
}

function closedNote(id: string): string {
  return `(This is a summary. \`open_sections\` with "${id}" shows the whole section.)`;
}

/** The tool by which a model reads the history: without it, the lines would speak of what nobody can do. */
const READER = "run_code";

function historySegments({ history, catalog }: RenderOptions): readonly Segment[] {
  const hash = history === undefined ? undefined : catalog.toolHash(READER);
  if (history === undefined || hash === undefined || catalog.tool(READER) === undefined) return [];
  return [segment("history", "history", history, { mentions: [{ tool: READER, as: "offered", hash }] })];
}

function runtimeSegments(catalog: SessionToolCatalogSnapshot): readonly Segment[] {
  const line = policyLine(catalog.mode, catalog.requestUserInputEnabled);
  const stamp = segment("stamp", "stamp", stampText(catalog));
  return line === undefined ? [stamp] : [segment("policy", "policy", line, { policyLines: [line] }), stamp];
}

function segment(
  kind: Segment["kind"],
  id: string,
  text: string,
  more: Partial<Pick<Segment, "visibility" | "mentions" | "policyLines">> = {},
): Segment {
  return { kind, id, text, hash: sha256(text), mentions: [], policyLines: [], ...more };
}

/** What segments say together, as it is sent. */
export function wordsOf(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join("\n\n");
}

function hashOf(segments: readonly Segment[]): Sha256 {
  return sha256(segments.map(({ id, hash }) => `${id}:${hash}`).join("\n"));
}
