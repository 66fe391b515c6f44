import { HoldfastError } from "../base/errors.ts";
import type { Sha256 } from "../base/hash.ts";
import { inWords } from "../base/words.ts";
import type { Compressed, Compressible, Compressor } from "../contracts/compressor.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { CallItem, Item } from "../wire/item.ts";
import { contentCompressor, roomFor } from "./compress/compress.ts";
import { contentText } from "./content-text.ts";
import { aboutOf, evidenceFacts, factsLine, oneLine } from "./facts.ts";
import { digestOf, type Handle, handleOf, type Lineage } from "./handle.ts";
import { classify, degradationPath, type PageKind, type ResidencyLevel } from "./kind.ts";
import type { Page, PageScope, PinClass, Provenance, Representation } from "./page.ts";
import { type Shown, shorterItems } from "./represent.ts";
import { itemTokens, type MediaCosts, MEDIA_COSTS } from "./tokens/count.ts";

/** What pages are made with. */
export interface PageDeps {
  readonly counter: TokenCounter;
  /** The secret that handles are made with. */
  readonly lineage: Lineage;
  /** Makes shorter forms of long texts. Default `contentCompressor`. */
  readonly compressor?: Compressor;
  /** Called when the compressor failed; the page is then made with the default one. */
  readonly uncompressed?: (failure: CompressorFailure) => void;
  /** The shorter text that a model gave for a content, if one was asked. */
  readonly prepared?: (digest: Sha256) => Compressed | undefined;
  /** What media costs in tokens. Default `MEDIA_COSTS`. */
  readonly costs?: MediaCosts;
}

export interface CompressorFailure {
  readonly tool?: string;
  readonly failure: string;
}

/** What a page is made from. */
export interface PageSource {
  readonly id: string;
  readonly item: Item;
  /** The kind, for pages that are not conversation. Default: judged by the item's form. */
  readonly kind?: PageKind;
  /** The call that the output answers. */
  readonly call?: CallItem;
  /** The step of the conversation in which it was added. */
  readonly turn?: number;
  readonly scope?: PageScope;
  readonly pin?: PinClass;
  readonly provenance?: Provenance;
  readonly title?: string;
  readonly structured?: string;
  readonly pointer?: string;
}

/**
 * Makes a page with every form in which it may be shown, each with its token count. Representations are made nowhere
 * else.
 */
export function makePage(source: PageSource, deps: PageDeps): Page {
  const { id, item, call, turn = 0, scope = "session" } = source;
  const kind = kindOf(source);
  const text = contentText(item);
  const digest = contentDigest(item, text);
  const handle = handleOf(deps.lineage, digest);
  const facts = item.kind === "output" ? factsLine(evidenceFacts(item, call, text)) : "";
  const tool = call?.name ?? (item.kind === "output" || item.kind === "call" ? item.name : undefined);
  const shown: Shown = {
    ...source,
    kind,
    text,
    digest,
    handle,
    facts,
    compressed: (length): Compressed =>
      deps.prepared?.(digest) ??
      compressedBy(deps, { text, room: roomFor(length), ...(tool === undefined ? {} : { tool }) }),
  };
  return {
    id,
    kind,
    scope,
    provenance: source.provenance ?? provenanceOf(item, call),
    pin: source.pin ?? PINS[kind],
    dirty: false,
    demand: { recency: 1, turn },
    recomputeCost: kind === "evidence" ? recomputeCostOf(tool ?? "") : 0,
    baseUtility: UTILITY[kind],
    digest,
    handle,
    title: source.title ?? titleOf(item, text, facts),
    ...(item.at === undefined ? {} : { at: item.at }),
    representations: representations(shown, deps),
  };
}

/** A host's compressor that fails on one text would keep every request from being made: that text is left to ours. */
function compressedBy({ compressor = contentCompressor, uncompressed }: PageDeps, what: Compressible): Compressed {
  if (compressor === contentCompressor) return contentCompressor.compress(what);
  const { tool } = what;
  try {
    const made: Partial<Compressed> | undefined = compressor.compress(what);
    if (typeof made?.text === "string" && typeof made.leftOut === "string") return made as Compressed;
    throw new TypeError("it answered no text");
  } catch (error) {
    uncompressed?.({ ...(tool === undefined ? {} : { tool }), failure: inWords(error) });
    return contentCompressor.compress(what);
  }
}

/** Names what an item says. */
export function contentDigest(item: Item, text: string): Sha256 {
  return digestOf(`${item.kind}\n${text}`);
}

/** The handle that the page of an item will have, for words in it that lead to all of it. */
export function handleOfItem(item: Item, { lineage }: PageDeps): Handle {
  return handleOf(lineage, contentDigest(item, contentText(item)));
}

/** A tool's output is evidence, whoever asks for something else: text cannot promote itself to a rule. */
function kindOf({ item, kind }: PageSource): PageKind {
  const byForm = classify(item);
  if (kind === undefined || kind === byForm) return byForm;
  if (byForm === "evidence") throw new HoldfastError("PAGE_KIND_REFUSED", { asked: kind, item: item.kind });
  return kind;
}

function representations(shown: Shown, { counter, costs = MEDIA_COSTS }: PageDeps): Page["representations"] {
  const full: Representation = { item: shown.item, tokens: itemTokens(shown.item, counter, costs), of: shown.digest };
  const made: Partial<Record<ResidencyLevel, Representation>> = { full };
  const shorter = shorterItems(shown);
  let above = full;
  for (const level of degradationPath(shown.kind)) {
    if (level === "full") continue;
    const item = shorter[level];
    const tokens = item === above.item ? above.tokens : itemTokens(item, counter, costs);
    // What is not shorter is not shown: the level above stands in its place.
    if (tokens < above.tokens) above = { item, tokens, of: shown.digest };
    made[level] = above;
  }
  return made;
}

/** Base utilities and costs as the paper converts a transcript: evidence 5, rules 7. */
const UTILITY: Readonly<Record<PageKind, number>> = {
  bootstrap: 7,
  constraint: 7,
  plan: 6,
  preference: 5,
  evidence: 5,
  conversation: 5,
};

const PINS: Readonly<Record<PageKind, PinClass>> = {
  bootstrap: "hard",
  constraint: "hard",
  plan: "soft",
  preference: "none",
  evidence: "none",
  conversation: "none",
};

function recomputeCostOf(tool: string): number {
  if (/edit|write|patch|create|replace|insert/i.test(tool)) return 12;
  return /read|view|open|cat|shell|bash|exec|command|run|grep|search|find|glob|list|ls/i.test(tool) ? 8 : 6;
}

function provenanceOf(item: Item, call: CallItem | undefined): Provenance {
  if (item.kind !== "output" && item.kind !== "call") return { from: "conversation" };
  return { from: "call", callId: item.callId ?? "", tool: call?.name ?? item.name ?? "tool" };
}

function titleOf(item: Item, text: string, facts: string): string {
  switch (item.kind) {
    case "output":
      return facts;
    case "call":
      return [item.name, ...aboutOf(item)].join(" ");
    case "user": // a notice is nobody's words: a span must not quote it as the user's
      return `${item.notice ?? item.kind}: ${oneLine(text)}`;
    case "assistant":
    case "system":
      return `${item.kind}: ${oneLine(text)}`;
    default:
      return item.kind;
  }
}
