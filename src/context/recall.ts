import { grouped } from "./compress/cut.ts";
import { contentText } from "./content-text.ts";
import { digestOf, type Handle, handleOf, looksLikeHandle } from "./handle.ts";
import type { Page } from "./page.ts";
import { lineOf, spanOf } from "./span.ts";
import { isSpan } from "./place.ts";
import type { View } from "./view.ts";

/** What to recall of a handle's content: all of it, some lines or bytes, or the lines that contain a text. */
export interface RecallRequest {
  readonly handle: string;
  /** Line numbers from 1, both included. */
  readonly lines?: { readonly from: number; readonly to: number };
  /** Byte offsets in UTF-8; `to` is exclusive. A character that the range cuts through is left out. */
  readonly bytes?: { readonly from: number; readonly to: number };
  /** Text to find: not a pattern, and upper and lower case match each other. */
  readonly grep?: string;
}

/** Why nothing was recalled. */
export type RecallCode =
  /** Nothing in this session has this handle, or no line contains the text. */
  | "no-match"
  | "denied"
  /** The place that keeps the content failed, or has lost it. */
  | "backend-error"
  /** The content is not what was kept. */
  | "corrupt";

/** Why a recall gave nothing, with details. */
export interface RecallFault {
  readonly code: RecallCode;
  readonly handle: string;
  readonly detail: string;
}

/** The recalled text, or why there is none. */
export type Recalled =
  | { readonly ok: true; readonly text: string; readonly about: string; readonly page?: Page }
  | { readonly ok: false; readonly fault: RecallFault };

/** Reads the content of a page. By default it comes from the page itself. */
export type Backing = (
  page: Page,
) =>
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: "denied" | "backend-error"; readonly detail: string };

/** One pointer for the pages from here to there, as another process can find them again. */
export type ShownSpan = readonly [handle: Handle, from: string, to: string];

const MOST_MATCHES = 100;

/** The handles of one lineage and what they name. Only what was added resolves, whatever a text looks like. */
export class HandleTable {
  readonly #pages = new Map<Handle, Page>();
  readonly #spans = new Map<Handle, string>();

  /** Adds pages. A page can be recalled for as long as it is in the table. */
  addPages(pages: Iterable<Page>): void {
    for (const page of pages) this.#pages.set(page.handle, page);
  }

  /** Adds the spans that a view shows, and returns those that are new, with the pages at their ends. */
  addView(view: View): readonly ShownSpan[] {
    return view.entries.flatMap((entry) => {
      if (!isSpan(entry)) return [];
      const pages = view.pages.slice(entry.from, entry.to);
      const { handle, content } = spanOf(pages);
      if (this.#spans.has(handle)) return [];
      this.#spans.set(handle, content);
      return [[handle, pages[0]?.id ?? "", pages.at(-1)?.id ?? ""] as const];
    });
  }

  /**
   * Adds a list of pages that an earlier process or a boundary left. A handle that is known already keeps its content,
   * unless it is the name of this one.
   */
  addList(handle: Handle, content: string): void {
    if (!this.#spans.has(handle) || handleOf(content, digestOf(content)) === handle) this.#spans.set(handle, content);
  }

  get size(): number {
    return this.#pages.size + this.#spans.size;
  }

  /** One line for each page: its handle and its title. */
  list(): readonly string[] {
    return [...this.#pages.values()].map(lineOf);
  }

  /**
   * Returns exactly what the handle names, checked by its digest, or the reason why not. A miss is never an empty text.
   */
  recall(request: RecallRequest, backing: Backing = ownText): Recalled {
    const { handle } = request;
    const miss = (code: RecallCode, detail: string): Recalled => ({ ok: false, fault: { code, handle, detail } });
    if (!looksLikeHandle(handle)) return miss("no-match", "this is no handle");
    const span = this.#spans.get(handle);
    if (span !== undefined) return part(span, request, miss);
    const page = this.#pages.get(handle);
    if (page === undefined) return miss("no-match", "nothing in this session has this handle");
    const found = backing(page);
    if (!found.ok) return miss(found.code, found.detail);
    if (digestOf(`${itemKind(page)}\n${found.text}`) !== page.digest)
      return miss("corrupt", "the bytes are not those that were kept");
    const answer = part(found.text, request, miss);
    return answer.ok ? { ...answer, page } : answer;
  }
}

function ownText(page: Page): ReturnType<Backing> {
  const item = page.representations.full?.item;
  if (item === undefined) return { ok: false, code: "backend-error", detail: "the page's text is not here" };
  return { ok: true, text: contentText(item) };
}

function itemKind(page: Page): string {
  return page.representations.full?.item.kind ?? (page.kind === "evidence" ? "output" : "user");
}

type Miss = (code: RecallCode, detail: string) => Recalled;

function part(text: string, { lines, bytes, grep }: RecallRequest, miss: Miss): Recalled {
  if (grep !== undefined) return matches(text, grep, miss);
  if (lines !== undefined) {
    const all = text.split("\n");
    const from = Math.max(1, Math.trunc(lines.from));
    const to = Math.min(all.length, Math.trunc(lines.to));
    if (!(from <= to)) return miss("no-match", `it has ${grouped(all.length)} lines`);
    return { ok: true, text: all.slice(from - 1, to).join("\n"), about: `lines ${from} to ${to} of ${all.length}` };
  }
  if (bytes !== undefined) {
    const all = Buffer.from(text);
    const from = Math.max(0, Math.trunc(bytes.from));
    const to = Math.min(all.length, Math.trunc(bytes.to));
    if (!(from < to)) return miss("no-match", `it has ${grouped(all.length)} bytes`);
    return { ok: true, text: wholeCharacters(all, from, to), about: `bytes ${from} to ${to} of ${all.length}` };
  }
  return { ok: true, text, about: `all ${grouped(Buffer.byteLength(text))} bytes` };
}

/** A byte that continues a character is no place to begin or to end. */
function wholeCharacters(all: Buffer, from: number, to: number): string {
  const continues = (at: number) => ((all[at] ?? 0) & 0xc0) === 0x80;
  let first = from;
  let end = to;
  while (first < end && continues(first)) first += 1;
  while (end > first && end < all.length && continues(end)) end -= 1;
  return all.subarray(first, end).toString("utf8");
}

function matches(text: string, wanted: string, miss: Miss): Recalled {
  const small = wanted.toLowerCase();
  const found = text
    .split("\n")
    .map((line, at) => ({ line, at }))
    .filter(({ line }) => line.toLowerCase().includes(small));
  if (found.length === 0) return miss("no-match", "no line holds this text");
  const shown = found.slice(0, MOST_MATCHES).map(({ line, at }) => `${at + 1}: ${line}`);
  return { ok: true, text: shown.join("\n"), about: `${shown.length} of ${grouped(found.length)} matching lines` };
}
