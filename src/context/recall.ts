import { grouped } from "./compress/cut.ts";
import { contentText } from "./content-text.ts";
import { digestOf, type Handle, looksLikeHandle } from "./handle.ts";
import type { Page } from "./page.ts";
import { spanOf } from "./span.ts";
import { isSpan } from "./place.ts";
import type { View } from "./view.ts";

/** What is asked of a handle: all of it, some lines or bytes of it, or the lines that hold a text. */
export interface RecallRequest {
  readonly handle: string;
  /** From 1, both included. */
  readonly lines?: { readonly from: number; readonly to: number };
  /** Of the UTF-8 form; `to` is exclusive. A character that is cut is left out. */
  readonly bytes?: { readonly from: number; readonly to: number };
  /** A text, not a pattern; letters match in either case. */
  readonly grep?: string;
}

export type RecallCode =
  /** Nothing here has this handle, or no line holds the text. */
  | "no-match"
  | "denied"
  /** What keeps the bytes failed, or has lost them. */
  | "backend-error"
  /** The bytes are not those that were kept. */
  | "corrupt";

export interface RecallFault {
  readonly code: RecallCode;
  readonly handle: string;
  readonly detail: string;
}

export type Recalled =
  | { readonly ok: true; readonly text: string; readonly about: string; readonly page?: Page }
  | { readonly ok: false; readonly fault: RecallFault };

/** Where the bytes of a page are. By default the page brings them itself. */
export type Backing = (
  page: Page,
) =>
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: "denied" | "backend-error"; readonly detail: string };

/** One pointer for the pages from here to there, as another process can find them again. */
export type ShownSpan = readonly [handle: Handle, from: string, to: string];

const MOST_MATCHES = 100;

/** The handles of one lineage and what they name. Only what was put in resolves, whatever a text looks like. */
export class HandleTable {
  readonly #pages = new Map<Handle, Page>();
  readonly #spans = new Map<Handle, string>();

  /** A page stays resolvable for as long as anything may still name it. */
  addPages(pages: Iterable<Page>): void {
    for (const page of pages) this.#pages.set(page.handle, page);
  }

  /** The spans that a view shows. Answers those that were not known, by the pages at their ends. */
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

  /** A list of pages, as an earlier process or a boundary left it. One that is known stays as it is. */
  addList(handle: Handle, content: string): void {
    if (!this.#spans.has(handle)) this.#spans.set(handle, content);
  }

  get size(): number {
    return this.#pages.size + this.#spans.size;
  }

  /** Every page that has a handle, one line each. */
  list(): readonly string[] {
    return [...this.#pages.values()].map(({ handle, title }) => `${handle} ${title}`);
  }

  /** Exactly what the handle names, proven by its digest, or why not. Never an empty text for a miss. */
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
