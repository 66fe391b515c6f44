import { join } from "node:path";
import { expect } from "vitest";
import { startChild } from "../support/children.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { said } from "../support/stores.ts";
import { testTogether } from "../support/together.ts";

/** Longer than a busy machine takes to open a store. */
const LEASE_MS = 3_000;
const path = join(scratchFolder(), "store.db");

testTogether(
  "[K46] a writer that is stopped past its lease finds itself fenced off when it wakes, and nothing of it is written",
  async () => {
    const child = startChild(`
    import { createHoldfast } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
    const session = await holdfast.open("s", { leaseMs: ${LEASE_MS} });
    await session.append({ kind: "user-said", text: "before sleeping" });
    say("asleep soon");
    await told();
    const failure = await session.append({ kind: "user-said", text: "too late" }).catch((error) => error);
    say("woke " + failure.code + " " + session.journal.signal.aborted);
    await session.close();
    await holdfast.close();
  `);
    await child.said("asleep soon");
    child.process.kill("SIGSTOP");
    const holdfast = await holdfastAt(path);
    // Alive but silent: its lease must run out, and not before.
    await expect(holdfast.open("s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 50));
    const session = await holdfast.open("s");
    expect(session.journal.opened.previousWriter).toBe("expired");
    await session.append(said("the successor"));
    child.process.kill("SIGCONT");
    child.tell("wake up");
    expect(await child.said("woke")).toBe("woke LEASE_LOST true");
    expect(await child.ended()).toBe(0);
    await session.append(said("undisturbed"));
    expect(await storyOf(session)).toEqual(["session-created", "before sleeping", "the successor", "undisturbed"]);
    await session.close();
    await holdfast.close();
  },
);
