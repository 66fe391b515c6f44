import type { Sha256 } from "../base/hash.ts";
import type { Item } from "../wire/item.ts";
import type { Handle } from "./handle.ts";
import { degradationPath, isBelow, minFidelity, type PageKind, type ResidencyLevel } from "./kind.ts";

/** Who may see a page: this session alone, every session of the project, or every session of the user. */
export type PageScope = (typeof PAGE_SCOPES)[number];

export const PAGE_SCOPES = ["session", "project", "user"] as const;

export function isPageScope(word: unknown): word is PageScope {
  return (PAGE_SCOPES as readonly unknown[]).includes(word);
}

/** How firmly a page is kept: not specially, longer than its neighbours, or always at its floor or better. */
export type PinClass = "none" | "soft" | "hard";

/** Where a page came from. */
export type Provenance =
  | { readonly from: "conversation" }
  | { readonly from: "call"; readonly callId: string; readonly tool: string }
  /** A producer: the file or the setting it was read from. */
  | { readonly from: "producer"; readonly source: string };

/** One way to show a page. It is made together with the page. */
export interface Representation {
  readonly item: Item;
  readonly tokens: number;
  /**
   * The digest of the content it was made from. If it differs from the page's, the text has changed since, and this
   * must not be shown.
   */
  readonly of: Sha256;
}

/** When a page was last wanted, and how much it was wanted at that time. */
export interface Demand {
  readonly recency: number;
  readonly turn: number;
}

/** A unit of context. Pages are immutable: every change makes a new one. */
export interface Page {
  readonly id: string;
  readonly kind: PageKind;
  readonly scope: PageScope;
  readonly provenance: Provenance;
  readonly pin: PinClass;
  /** Whether it has changed since it was last committed. */
  readonly dirty: boolean;
  readonly demand: Demand;
  /**
   * What it would cost to get the content again, by the paper's scale: 8 for reading, 12 for editing, 6 for anything
   * else.
   */
  readonly recomputeCost: number;
  readonly baseUtility: number;
  /** The digest of the content; the handle names the same content. */
  readonly digest: Sha256;
  readonly handle: Handle;
  /** One line about the page, for lists and for the pointer of a span. */
  readonly title: string;
  readonly at?: string;
  readonly representations: Readonly<Partial<Record<ResidencyLevel, Representation>>>;
}

/** What is left of a page's recency after a step in which nobody wanted it. */
const FADING = 0.88;

/** How recently a page was wanted, as of step `now`: the value fades with every step. */
export function recencyAt({ recency, turn }: Demand, now: number): number {
  return recency * FADING ** Math.max(0, now - turn);
}

/** The page, marked as wanted once more. */
export function demandPage(page: Page, now: number): Page {
  return { ...page, demand: { recency: recencyAt(page.demand, now) + 1, turn: now } };
}

/** The page with another pin. */
export function pinPage(page: Page, pin: PinClass): Page {
  return page.pin === pin ? page : { ...page, pin };
}

/** The representation at a level, when there is one and it shows what the page says now. */
export function representationAt(page: Page, level: ResidencyLevel): Representation | undefined {
  const found = page.representations[level];
  return found?.of === page.digest ? found : undefined;
}

/** Why a page may not be shown at a level. */
export interface FloorRejection {
  readonly kind: "below-floor" | "not-on-path" | "no-representation";
  readonly page: string;
  readonly asked: ResidencyLevel;
  readonly floor: ResidencyLevel;
  readonly why: string;
}

/** The representation of a page at a level, or why it may not be shown so. The page itself does not change. */
export function degrade(
  page: Page,
  level: ResidencyLevel,
):
  | { readonly ok: true; readonly representation: Representation }
  | { readonly ok: false; readonly rejection: FloorRejection } {
  const floor = minFidelity(page.kind);
  const reject = (kind: FloorRejection["kind"], why: string) =>
    ({ ok: false, rejection: { kind, page: page.id, asked: level, floor, why } }) as const;
  if (isBelow(level, floor)) return reject("below-floor", `a ${page.kind} page is never shown below ${floor}`);
  if (!degradationPath(page.kind).includes(level))
    return reject("not-on-path", `a ${page.kind} page has no ${level} form`);
  const representation = representationAt(page, level);
  if (representation === undefined)
    return reject("no-representation", `${level} was made of an older text, or not at all`);
  return { ok: true, representation };
}
