import { HoldfastError } from "../../base/errors.ts";
import { explainPage, type Explanation, type LookedView, type View } from "../../index.ts";
import type { CommandBody, Terminal } from "../command.ts";
import { flagOf, LIMIT_OPTION, sessionIn, STORE_OPTION, textOf, wholeOf } from "../options.ts";
import { contextLines, explanationLines, pageLines } from "../session/context-text.ts";
import { nearest } from "../../base/nearest.ts";
import { kernelOn, lookIn, lookingAt } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { count } from "../words.ts";
import { wrapped } from "../wrap.ts";

const SHOWN = 40;

export const context: CommandBody = {
  usage: "holdfast context SESSION [--turn N] [--page ID] [--limit N] [--after PAGE] [--store FILE]",
  examples: [
    "holdfast context rename-foo                       the newest request",
    "holdfast context rename-foo --turn 0              the first one",
    "holdfast context rename-foo --page 000000012.0    why a page is shown as it is",
  ],
  options: {
    turn: { type: "string", value: "N", help: "the request with this number, counted from 0 (default: the newest)" },
    page: { type: "string", value: "ID", help: "show everything about one page" },
    limit: { ...LIMIT_OPTION, help: `at most this many pages (default ${SHOWN}, the newest); 0 for all` },
    after: { type: "string", value: "PAGE", help: "show the pages after this one" },
    store: STORE_OPTION,
  },
  pages: true,
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const turn = textOf(parsed, "turn") === undefined ? undefined : wholeOf(parsed, "turn", 0);
    const limit = wholeOf(parsed, "limit", SHOWN);
    const json = flagOf(parsed, "json");
    return lookingAt(parsed, terminal, async (place) => {
      const look = await lookIn(place, await kernelOn(place), id);
      const seen = await whileSaying(
        terminal,
        () => "putting the request together again",
        () => look.view(turn === undefined ? {} : { turn }),
      );
      const page = textOf(parsed, "page");
      const after = textOf(parsed, "after");
      if (seen === undefined) {
        const asked = Object.entries({ "--turn": turn?.toString(), "--page": page, "--after": after });
        const missed = asked.find(([, value]) => value !== undefined);
        if (missed === undefined) return nothing(terminal, id, json);
        const newest = turn === undefined ? undefined : (await look.view({}))?.turn;
        throw notThere(missed[0], missed[1], newest === undefined ? NONE_SENT : noRequest(turn, newest));
      }
      if (page !== undefined) {
        const explained = explain(seen, page);
        if (json) terminal.out(JSON.stringify({ ok: true, session: id, turn: seen.turn, page: explained }));
        else for (const line of explanationLines(explained, terminal)) terminal.out(line);
        return 0;
      }
      const { shown, earlier, later } = window(seen.view, after, limit);
      if (json) terminal.out(JSON.stringify({ ok: true, session: id, ...jsonOf(seen), pages: shown, earlier, later }));
      else {
        for (const line of contextLines(id, seen, terminal)) terminal.out(line);
        if (earlier > 0) terminal.out(`… ${count(earlier, "earlier page")}: --limit 0 shows all`);
        for (const line of pageLines(shown, terminal)) terminal.out(line);
        if (later > 0) terminal.out(`… ${count(later, "later page")}: --after ${shown.at(-1)?.page}`);
      }
      return 0;
    });
  },
};

const NONE_SENT = "no request has been sent yet";
const NO_PAGE = "there is no such page in this request";

function nothing(terminal: Terminal, id: string, json: boolean): 0 {
  if (json) terminal.out(JSON.stringify({ ok: true, session: id, pages: [], why: NONE_SENT }));
  else for (const line of wrapped(`${id}: ${NONE_SENT}`, terminal.columns)) terminal.out(line);
  return 0;
}

function noRequest(turn: number | undefined, newest: number): string {
  return `there is no request ${turn}; the newest is ${newest}`;
}

function notThere(option: string, value: string | undefined, why: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option, ...(value === undefined ? {} : { value }), why });
}

function explain({ view }: LookedView, page: string): Explanation {
  const explained = view === undefined ? undefined : explainPage(view, page);
  if (explained !== undefined) return explained;
  const meant = nearest(page, view?.pages.map(({ id }) => id) ?? []);
  throw notThere("--page", page, meant === undefined ? NO_PAGE : `${NO_PAGE}; did you mean ${meant}?`);
}

/** The newest pages, or those behind one. */
function window(view: View | undefined, after: string | undefined, limit: number) {
  const all = (view?.pages ?? []).flatMap(({ id }) => (view === undefined ? [] : (explainPage(view, id) ?? [])));
  const most = limit === 0 ? all.length : limit;
  const behind = after === undefined ? Math.max(0, all.length - most) : all.findIndex(({ page }) => page === after) + 1;
  if (after !== undefined && behind === 0) throw notThere("--after", after, NO_PAGE);
  const shown = all.slice(behind, behind + most);
  return { shown, earlier: behind, later: all.length - behind - shown.length };
}

/** What `--json` tells of a request, beside its pages. */
function jsonOf({ view, since, ...seen }: LookedView) {
  return {
    ...seen,
    ...(view === undefined ? {} : { tokens: view.tokens }),
    since: since.map(({ id, kind, title }) => ({ page: id, kind, title })),
  };
}
