import { parseJson } from "../base/json.ts";
import type { UserItem } from "../wire/item.ts";
import { oneLine } from "./facts.ts";
import { handleOfItem, makePage, type PageDeps } from "./make-page.ts";
import type { Page, PageScope } from "./page.ts";

/** A rule that holds whatever the model says. */
export interface Rule {
  readonly id: string;
  readonly text: string;
  readonly scope: PageScope;
  /** Where the rule comes from: a file, a setting, a pin of the user's. */
  readonly source: string;
}

/**
 * The page of a rule. Its structured form is the whole rule, so it is never shortened. It is shown as a note, not as an
 * instruction: some providers keep instructions before the conversation, and a rule added later would change that part.
 */
export function constraintPage(rule: Rule, deps: PageDeps, turn = 0): Page {
  const { id, scope, source } = rule;
  const item = note(`Rule ${id} (${scope}, from ${source}):\n${rule.text}`);
  return makePage(
    {
      id: `constraint:${id}`,
      item,
      kind: "constraint",
      turn,
      scope,
      provenance: { from: "producer", source },
      title: `rule ${id}: ${oneLine(rule.text)}`,
    },
    deps,
  );
}

/** The page of a project's instruction file, taken as one rule. */
export function instructionFilePage(path: string, text: string, deps: PageDeps): Page {
  return constraintPage({ id: path, text, scope: "project", source: path }, deps);
}

/**
 * Reads the goals of a `.tasks.jsonl` file: lines with a `goal`, or lines of kind or type `goal` with a text. A line
 * that is not JSON is reported as a fault; the other lines still count.
 */
export function goalsOf(
  text: string,
  source = ".tasks.jsonl",
): { readonly rules: readonly Rule[]; readonly faults: readonly { readonly line: number; readonly why: string }[] } {
  const rules: Rule[] = [];
  const faults: { line: number; why: string }[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const parsed = parseJson(line);
    if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null) {
      faults.push({ line: at + 1, why: parsed.ok ? "not an object" : parsed.error.detail });
      continue;
    }
    const goal = goalText(parsed.value as Readonly<Record<string, unknown>>);
    if (goal !== undefined) rules.push({ id: goal.id ?? `goal-${at + 1}`, text: goal.text, scope: "session", source });
  }
  return { rules, faults };
}

function goalText(
  line: Readonly<Record<string, unknown>>,
): { readonly id?: string; readonly text: string } | undefined {
  const id = typeof line["id"] === "string" ? { id: line["id"] } : {};
  if (typeof line["goal"] === "string") return { ...id, text: line["goal"] };
  if (line["kind"] !== "goal" && line["type"] !== "goal") return undefined;
  const text = [line["text"], line["title"], line["description"]].find((one) => typeof one === "string");
  return text === undefined ? undefined : { ...id, text: text as string };
}

/** What an agent is trying to do: its plan, or the objective that a sub-agent was given. */
export interface PlanLike {
  readonly objective: string;
  readonly steps?: readonly { readonly title: string; readonly status: "todo" | "doing" | "done" }[];
}

/** The page of a plan. Even its pointer says the goal and the current step. */
export function planPage(id: string, plan: PlanLike, deps: PageDeps, turn = 0): Page {
  const { objective, steps = [] } = plan;
  const current = steps.find(({ status }) => status === "doing") ?? steps.find(({ status }) => status === "todo");
  const lines = steps.map(({ title, status }) => `- ${status}: ${title}`);
  const item = note(["Plan", `Goal: ${objective}`, ...lines].join("\n"));
  const whole = handleOfItem(item, deps);
  const brief = `Goal: ${oneLine(objective)}${current === undefined ? "" : `\nNow: ${oneLine(current.title)}`}`;
  const done = steps.filter(({ status }) => status === "done").length;
  return makePage(
    {
      id: `plan:${id}`,
      item,
      kind: "plan",
      turn,
      provenance: { from: "producer", source: "plan" },
      title: `plan: ${oneLine(objective)}`,
      structured: `${brief}\n${done} of ${steps.length} steps done; all of it: ${whole}`,
      pointer: `${brief}\n${whole}`,
    },
    deps,
  );
}

/** A preference, and where it was read. */
export interface Preference {
  readonly id: string;
  readonly text: string;
  readonly scope: PageScope;
  readonly source: string;
}

/** The page of a preference. Even its pointer says whose preference it is and where it was read. */
export function preferencePage(preference: Preference, deps: PageDeps): Page {
  const { id, text, scope, source } = preference;
  const item = note(`Preference (${scope}, from ${source}):\n${text}`);
  const whole = handleOfItem(item, deps);
  return makePage(
    {
      id: `preference:${id}`,
      item,
      kind: "preference",
      scope,
      provenance: { from: "producer", source },
      title: `preference: ${oneLine(text)}`,
      structured: `Preference (${scope}, from ${source}): ${oneLine(text)} All of it: ${whole}`,
      pointer: `Preference (${scope}, from ${source}): ${whole}`,
    },
    deps,
  );
}

function note(text: string) {
  const part = { type: "text", text: text.toWellFormed(), notice: "instructions" } as const;
  return { kind: "user", notice: "instructions", parts: [part] } as const satisfies UserItem;
}
