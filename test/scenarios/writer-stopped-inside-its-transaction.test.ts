import { join } from "node:path";
import { expect } from "vitest";
import { startChild } from "../support/children.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { said } from "../support/stores.ts";
import { testTogether } from "../support/together.ts";

const path = join(scratchFolder(), "store.db");
const LEASE_MS = 1_500;

testTogether(
  "[K46] a living writer that waits longer than its lease for a stopped process keeps its session afterwards",
  async () => {
    const mine = await holdfastAt(path);
    const others = await holdfastAt(path);
    const session = await mine.open("s", { leaseMs: LEASE_MS });
    await session.append(said("before"));

    const stopped = startChild(`
    import { DatabaseSync } from "node:sqlite";
    new DatabaseSync(${JSON.stringify(path)}).exec("BEGIN IMMEDIATE");
    say("inside");
    await told();
  `);
    await stopped.said("inside");
    stopped.process.kill("SIGSTOP");
    const waiting = session.append(said("had to wait"));
    await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS));
    stopped.process.kill("SIGKILL");

    await waiting;
    await expect(others.open("s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await session.append(said("still here"));
    expect(await storyOf(session)).toEqual(["session-created", "before", "had to wait", "still here"]);
    await session.close();
    await mine.close();
    await others.close();
  },
);
