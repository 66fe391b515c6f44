import { SystemClock } from "../../src/base/clock.ts";
import { SystemRandom } from "../../src/base/random.ts";
import type { Store } from "../../src/contracts/store.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import type { Session } from "../../src/turn/session.ts";
import { openSqlite, type SqliteOptions } from "../../src/stores/sqlite/entry.ts";
import { collect } from "./stores.ts";

/** Sessions over a real store in a file, with real time. */
export async function holdfastAt(path: string, options: SqliteOptions = {}): Promise<Holdfast> {
  return holdfastOver(await openSqlite(path, options));
}

function holdfastOver(store: Store): Holdfast {
  return new Holdfast({ store, clock: new SystemClock(), random: new SystemRandom() });
}

/** What a user would see of a session: texts, and the kinds of everything else. */
export async function storyOf(session: Session): Promise<string[]> {
  return (await collect(session.read())).map((entry) =>
    entry.kind === "user-said" ? entry.text : entry.kind === "damaged" ? `damaged ${entry.detail}` : entry.kind,
  );
}
