import { describe, expect, test } from "vitest";
import { verifyBundle } from "../../src/index.ts";
import { inspectSqlite } from "../../src/stores/sqlite/entry.ts";
import type { Holdfast } from "../../src/turn/holdfast.ts";
import type { Session } from "../../src/turn/session.ts";
import { opened, run } from "../support/durable.ts";
import { collect, said } from "../support/stores.ts";

type Use = (session: Session, holdfast: Holdfast) => Promise<unknown>;
/** Options as somebody without types gives them. */
const odd = (given: unknown) => given as never;

const MISSPELT: readonly (readonly [string, string, Use])[] = [
  ["compact", "tails", (session) => session.compact(odd({ tails: 0 }))],
  ["compact", "tail", (session) => session.compact(odd({ tail: "all" }))],
  ["prune", "keeps", (session) => session.prune(odd({ keeps: 1 }))],
  ["close", "leaves", (session) => session.close(odd({ leaves: "staged" }))],
  ["close", "leave", (session) => session.close(odd({ leave: "stagd" }))],
  ["checkpoint", "name", (session) => session.checkpoint(odd({ name: "here" }))],
  ["checkpoint", "state", (session) => session.checkpoint(odd({ state: { mine: 1 } }))],
  ["checkpoint", "a-new", (session) => session.checkpoint({}, odd({ "a-new": true }))],
  ["snapshot", "all", (session) => session.state.snapshot(odd({ all: true }))],
  ["snapshot", "policies[0]", (session) => session.state.snapshot(odd({ policies: ["logs"] }))],
  ["session.snapshot", "all", async (session) => session.state.session.snapshot(odd({ all: true }))],
  ["align", "instruction", (session) => session.align(odd({ instruction: "Be brief." }))],
  ["reply", "approved", (session) => session.reply("a call", odd({ approved: true }))],
  ["open", "recents", (_, holdfast) => holdfast.open("new", odd({ recents: 3 }))],
  ["open", "recent", (_, holdfast) => holdfast.open("new", { recent: -1 })],
  ["exportBundle", "env", (_, holdfast) => collect(holdfast.exportBundle("s", odd({ env: {} })))],
  ["importBundle", "name", (_, holdfast) => holdfast.importBundle(() => [], odd({ name: "theirs" }))],
  ["importBundle", "source", (_, holdfast) => holdfast.importBundle(odd(new Uint8Array()))],
  ["verifyBundle", "source", () => verifyBundle(odd([new Uint8Array()]))],
  ["look.view", "turns", async (_, holdfast) => (await holdfast.look("s")).view(odd({ turns: 1 }))],
  ["inspectSqlite", "drivers", () => inspectSqlite("nowhere.db", odd({ drivers: {} }))],
];

describe("[ID-17] a misspelt option, or one that cannot work,", () => {
  test.each(MISSPELT)("of %s is refused by its name (%s), and nothing happens", async (_, option, use) => {
    const { session, holdfast } = await opened();
    await session.append(said("before"));
    await run(session, "a");
    const { head } = session.journal;
    await expect((async () => use(session, holdfast))()).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option },
    });
    expect(session.journal.head).toEqual(head);
    expect((await collect(holdfast.sessions())).map(({ id }) => id)).toEqual(["s"]);
    await session.append(said("it is still open"));
    await session.close({ leave: "staged" });
  });
});
