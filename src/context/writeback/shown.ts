import { degradationPath, type ResidencyLevel } from "../kind.ts";
import type { PageDeps } from "../make-page.ts";
import { type Page, type PinClass, pinPage } from "../page.ts";
import { constraintPage, type PlanLike, planPage, preferencePage } from "../producers.ts";
import { type DurablePage, keyOf, plainOf } from "./tuple.ts";

/** A durable page as a page that a view can show. Undefined while it says nothing. */
export function durablePageOf(durable: DurablePage, deps: PageDeps): Page | undefined {
  const made = pageOf(durable, deps);
  if (made === undefined) return undefined;
  const page = { ...made, id: `${durable.scope}/${keyOf(durable)}`, scope: durable.scope };
  const pin = plainOf(durable.fields["pin"]) as PinClass | undefined;
  const least = plainOf(durable.fields["least"]) as ResidencyLevel | undefined;
  return notBelow(pin === undefined ? page : pinPage(page, pin), least);
}

function pageOf({ kind, page, scope, source, fields }: DurablePage, deps: PageDeps): Page | undefined {
  const text = (name: string) => (plainOf(fields[name]) as string | undefined) ?? "";
  const lines = (name: string) => (plainOf(fields[name]) as readonly unknown[] | undefined) ?? [];
  const pairs = (name: string) => Object.entries((plainOf(fields[name]) as object | undefined) ?? {});
  switch (kind) {
    case "constraint": {
      if (text("text") === "") return undefined;
      const rule = [text("text"), ...lines("because").map((why) => `Because: ${worded(why)}`)].join("\n");
      return constraintPage({ id: page, text: rule, scope, source }, deps);
    }
    case "plan": {
      const steps = pairs("steps").map(([title, status]) => ({ title, status })) as PlanLike["steps"] & object;
      if (text("objective") === "" && steps.length === 0) return undefined;
      return planPage(page, { objective: text("objective"), steps }, deps);
    }
    case "preference": {
      const said = [
        ...(text("text") === "" ? [] : [text("text")]),
        ...pairs("values").map(([key, value]) => `${key}: ${worded(value)}`),
        ...lines("notes").map(worded),
      ];
      if (said.length === 0) return undefined;
      return preferencePage({ id: page, text: said.join("\n"), scope, source }, deps);
    }
  }
}

/** Levels below the one that was asked for show what that one shows. */
function notBelow(page: Page, least: ResidencyLevel | undefined): Page {
  const path = degradationPath(page.kind);
  const held = least === undefined ? undefined : page.representations[least];
  if (least === undefined || held === undefined) return page;
  const lower = path.slice(path.indexOf(least) + 1).map((level) => [level, held] as const);
  return { ...page, representations: { ...page.representations, ...Object.fromEntries(lower) } };
}

function worded(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
