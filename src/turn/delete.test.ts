import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { kernel, look, OPTIONS, opened, run } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { between, collect, ioError, MemoryDisk, memoryDeps, memoryStore, said } from "../../test/support/stores.ts";
import { SystemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { SystemRandom } from "../base/random.ts";
import type { Store } from "../contracts/store.ts";
import { Holdfast } from "./holdfast.ts";
import type { Session } from "./session.ts";

const idsOf = async (holdfast: Holdfast) => (await collect(holdfast.sessions())).map(({ id }) => id);

/** A kernel whose store fails at its n-th write from now on: that one only, or every one, as if the process had died. */
function failing(disk: MemoryDisk, nth: number, forever: boolean) {
  let writes = 0;
  const fail = () => {
    writes += 1;
    if (writes === nth || (forever && writes > nth)) throw ioError();
    return undefined;
  };
  const deps = memoryDeps(disk);
  const store = between(deps.store, { before: fail });
  return { holdfast: new Holdfast({ ...deps, store }, OPTIONS), writes: () => writes, deps };
}

async function madeDisk(): Promise<MemoryDisk> {
  const { disk, session, deps } = await opened();
  await run(session, "a");
  await session.begin({ name: "theirs", input: {} }); // open in the fork, too: making it has to close it
  await session.setMode("plan");
  await deps.store.close();
  return disk;
}

describe("[TURN-81] a fork that does not come about", () => {
  test("leaves nothing, whichever of its writes fails", async () => {
    for (let nth = 1, more = true; more; nth += 1) {
      const disk = await madeDisk();
      const { holdfast, writes, deps } = failing(disk, nth, false);
      const fork = await holdfast.fork("s", { as: "other" }).catch((error: unknown) => error);
      more = writes() >= nth;
      if (fork instanceof Error) {
        expect(fork).toMatchObject({ code: "STORE_IO" });
        expect(await idsOf(holdfast)).toEqual(["s"]);
      } else expect((fork as { mode: string }).mode).toBe("plan");
      await deps.store.close();
    }
  });

  test("can be made again by the same process, whichever of its readings fails", async () => {
    for (let nth = 1, more = true; more; nth += 1) {
      const { deps } = kernel(await madeDisk());
      let readings = 0;
      const store: Store = {
        ...between(deps.store, {}),
        reading: (use) => ((readings += 1) === nth ? Promise.reject(ioError()) : deps.store.reading(use)),
      };
      const holdfast = new Holdfast({ ...deps, store }, OPTIONS);
      const first = await holdfast.fork("s", { as: "other" }).catch((error: unknown) => error);
      more = first instanceof Error;
      const fork = more ? await holdfast.fork("s", { as: "other" }) : (first as Session);
      expect([fork.mode, (await look(fork)).steps]).toEqual(["plan", ["a"]]);
      await holdfast.close();
    }
  });

  test("is whole, gone or refused when its maker dies, at any point, and can be made anew or deleted", async () => {
    const outcomes = new Set<string>();
    for (let nth = 1, more = true; more; nth += 1) {
      const disk = await madeDisk();
      const dying = failing(disk, nth, true);
      const failure = await dying.holdfast.fork("s", { as: "other" }).catch((error: unknown) => error);
      more = dying.writes() >= nth;
      if (HoldfastError.is(failure, "FORK_LEFT_BEHIND")) expect(failure.cause).toBeInstanceOf(AggregateError);
      await dying.deps.store.close();
      const { holdfast, deps } = kernel(disk);
      const found = await holdfast.open("other", { create: false }).catch((error: unknown) => error);
      if (HoldfastError.is(found)) {
        outcomes.add(found.code);
        if (nth % 2 === 0 && found.code === "FORK_UNFINISHED") await holdfast.delete("other");
        const again = await holdfast.fork("s", { as: "other" });
        expect([again.mode, (await look(again)).steps]).toEqual(["plan", ["a"]]);
      } else {
        outcomes.add("whole");
        expect((found as { mode: string }).mode).toBe("plan");
      }
      await deps.store.close();
    }
    expect([...outcomes].sort()).toEqual(["FORK_UNFINISHED", "SESSION_UNKNOWN", "whole"]);
  });

  test("[TURN-84] two of one name at once are one fork, and the other is refused", async () => {
    const { holdfast, session } = await opened();
    await run(session, "a");
    const other = await holdfast.open("other");
    const both = await Promise.allSettled([holdfast.fork("s", { as: "fork" }), holdfast.fork("other", { as: "fork" })]);
    expect(both).toMatchObject([{ status: "fulfilled" }, { reason: { code: "SESSION_EXISTS" } }]);
    const [made] = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(made?.checkpoints.list()).toHaveLength(1);
    await made?.close();
    await other.close();
    await (await holdfast.open("fork")).close();
  });

  /** Two processes that make a fork under one name, each with what it meets before its nth write of a kind. */
  async function rivals(meets: { readonly [who in "a" | "b"]: (write: string) => Promise<void> | undefined }) {
    const { disk, holdfast, session } = await opened();
    await run(session, "a");
    await (await holdfast.open("other")).close();
    const clock = new SystemClock();
    const process = (who: "a" | "b") => {
      const written = new Map<string, number>();
      const before = async ({ kind }: { readonly kind: string }) => {
        written.set(kind, (written.get(kind) ?? 0) + 1);
        await meets[who](`${kind} ${written.get(kind)}`);
        return undefined;
      };
      return new Holdfast({
        store: between(memoryStore({ disk, clock }), { before }),
        clock,
        random: new SystemRandom(),
      });
    };
    const codeOf = async (making: Promise<Session>) =>
      making.then(
        async (made) => {
          await made.close();
          return "made";
        },
        (error: unknown) => (HoldfastError.is(error) ? error.code : String(error)),
      );
    const [a, b] = [process("a"), process("b")];
    return { a: () => codeOf(a.fork("s", { as: "fork" })), b: () => codeOf(b.fork("other", { as: "fork" })), holdfast };
  }

  test("[TURN-84] that two processes make at once is one's, whoever takes the other's for its own for a moment", async () => {
    const [started, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let theirs: Promise<string> | undefined;
    const both = await rivals({
      a: (write) => {
        if (write === "release 1") taken.resolve();
        if (write === "release 1") return pause(40); // it has seen that this is not what it made
        if (write !== "lease 1") return undefined;
        theirs = both.b(); // takes away what is there, and makes its own
        return started.promise;
      },
      b: (write) => {
        if (write !== "lease 2") return undefined;
        started.resolve();
        return taken.promise;
      },
    });
    expect([await both.a(), await theirs]).toEqual(["SESSION_EXISTS", "made"]);
    await (await both.holdfast.open("fork", { create: false })).close();
  });

  test("[TURN-84] that somebody is taking away, to make one, is not told as left behind", async () => {
    const started = Promise.withResolvers<void>();
    let theirs: Promise<string> | undefined;
    const both = await rivals({
      a: (write) => {
        if (write !== "lease 1") return undefined;
        theirs = both.b();
        return started.promise;
      },
      b: (write) => {
        if (write !== "delete 1") return undefined;
        started.resolve();
        return pause(20);
      },
    });
    expect([await both.a(), await theirs]).toEqual(["SESSION_EXISTS", "made"]);
    await (await both.holdfast.open("fork", { create: false })).close();
  });

  test("[TURN-84] that somebody else was quicker to take away is made all the same", async () => {
    const made = Promise.withResolvers<void>();
    let theirs: Promise<string> | undefined;
    const both = await rivals({
      a: (write) => {
        if (write !== "lease 1") return undefined;
        theirs = both.b().finally(made.resolve);
        return made.promise;
      },
      b: async (write) => {
        if (write === "lease 1") await both.holdfast.delete("fork");
      },
    });
    expect([await both.a(), await theirs]).toEqual(["SESSION_EXISTS", "made"]);
    await (await both.holdfast.open("fork", { create: false })).close();
  });

  test("[TURN-84] that is finished before somebody comes to take it away for a new one stays", async () => {
    const started = Promise.withResolvers<void>();
    const finished = Promise.withResolvers<void>();
    let theirs: Promise<string> | undefined;
    const both = await rivals({
      a: (write) => {
        if (write !== "lease 1") return undefined;
        theirs = both.b();
        return started.promise;
      },
      b: (write) => {
        if (write !== "lease 1") return undefined;
        started.resolve();
        return finished.promise;
      },
    });
    expect(await both.a()).toBe("made");
    finished.resolve();
    expect(await theirs).toBe("SESSION_EXISTS");
    const fork = await both.holdfast.open("fork", { create: false });
    expect((await look(fork)).steps).toEqual(["a"]);
    await fork.close();
  });

  test.each(["open", "closed"])(
    "[TURN-84] is nobody else's: one that another process has made meanwhile stays, %s",
    async (then) => {
      const { disk, holdfast, session } = await opened();
      await run(session, "a");
      await (await holdfast.open("other")).close();
      const slow = memoryDeps(disk);
      let theirs: Session | undefined;
      const store = between(slow.store, {
        async before({ kind }) {
          if (kind !== "lease" || theirs !== undefined) return undefined;
          theirs = await holdfast.fork("s", { as: "fork" }); // takes what is there for the fork of a dead maker
          if (then === "closed") await theirs.close();
          return undefined;
        },
      });
      const making = new Holdfast({ ...slow, store }).fork("other", { as: "fork" });
      await expect(making).rejects.toMatchObject({ code: "SESSION_EXISTS", details: { session: "fork" } });
      if (then === "open") await theirs?.close();
      const fork = await holdfast.open("fork");
      expect(fork.checkpoints.list()).toHaveLength(1);
      await fork.close();
    },
  );

  test("a damaged mark costs no fork", async () => {
    const { holdfast, session, deps } = await opened();
    const fork = await holdfast.fork("s", { as: "other" });
    await fork.append(said("mine"));
    await fork.close();
    await session.close();
    const altering = between(deps.store, {
      records: (records) => records.map((one) => (one.kind === "forked" ? { ...one, body: `${one.body} ` } : one)),
    });
    const again = await new Holdfast({ ...deps, store: altering }, OPTIONS).open("other", { create: false });
    expect(again.recovered.damaged.length).toBeGreaterThan(0);
  });
});

describe("[TURN-82] deleting a session", () => {
  test("takes it away for good, frees its name and its content, and leaves its forks whole", async () => {
    const { holdfast, session } = await opened();
    await run(session, "a");
    const fork = await holdfast.fork("s", { as: "fork" });
    await run(session, "only here");
    const blob = await session.journal.stageBlob(Buffer.alloc(70_000, 1));
    await session.append({ kind: "user-said", text: "", blobs: [blob.ref] }, { staged: [blob] });
    await session.close();
    const plan = await holdfast.delete("s", { dryRun: true });
    expect(plan).toMatchObject({ session: "s", shared: fork.journal.head.seq > 0 ? expect.any(Number) : 0 });
    expect(plan.records).toBeGreaterThan(0);
    expect(await idsOf(holdfast)).toEqual(["fork", "s"]);
    expect(await holdfast.delete("s")).toEqual(plan);
    expect(await idsOf(holdfast)).toEqual(["fork"]);
    await expect(holdfast.look("s")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
    await expect(holdfast.delete("s")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
    const swept = await holdfast.sweep({ graceMs: 0 });
    expect(swept).toMatchObject({ records: plan.records });
    expect(holdfast.store.blobs.holds(blob.ref.name)).toBe(false);
    expect((await look(fork)).steps).toEqual(["a"]);
    await fork.rewind({ before: fork.checkpoints.list()[0]?.callId ?? "" });
    expect((await holdfast.verify()).ok).toBe(true);
    expect((await look(await holdfast.open("s"))).steps).toEqual([]);
  });

  test("is refused while somebody writes it, here or elsewhere", async () => {
    const { disk, holdfast, session } = await opened();
    await run(session, "a");
    for (const dryRun of [true, false])
      await expect(holdfast.delete("s", { dryRun })).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await expect(kernel(disk).holdfast.delete("s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await session.append(said("goes on"));
  });

  test("is done at once when its writer is dead", async () => {
    const { disk, session, deps } = await opened();
    await run(session, "a");
    await deps.store.close();
    const { holdfast } = kernel(disk);
    await holdfast.delete("s");
    expect(await idsOf(holdfast)).toEqual([]);
  });

  test("is refused while a sub-agent's session works for it", async () => {
    const agent = { name: "helper", description: "helps", model: scripted(() => ({ text: "done" })) };
    const { holdfast, session } = await opened(new MemoryDisk(), { ...OPTIONS, agents: [agent] });
    let asked = 0;
    const model = scripted(() => {
      asked += 1;
      return asked === 1 ? { calls: [{ name: "helper", input: { task: "help" } }] } : { text: "ok" };
    });
    await watch(session.run("go", { model }));
    await session.close();
    const [child = ""] = (await idsOf(holdfast)).filter((id) => id !== "s");
    await expect(holdfast.delete("s")).rejects.toMatchObject({ code: "SESSION_NEEDED", details: { by: [child] } });
    await holdfast.delete(child);
    await holdfast.delete("s");
    expect(await idsOf(holdfast)).toEqual([]);
  });

  test("whichever of its writes fails, it is there whole or gone", async () => {
    for (let nth = 1, more = true; more; nth += 1) {
      const { disk, session, deps } = await opened();
      await run(session, "a");
      await session.close();
      await deps.store.close();
      const dying = failing(disk, nth, true);
      await dying.holdfast.delete("s").catch(() => {});
      more = dying.writes() >= nth;
      await dying.deps.store.close();
      const { holdfast } = kernel(disk);
      expect((await holdfast.verify()).ok).toBe(true);
      if ((await idsOf(holdfast)).length > 0) expect((await look(await holdfast.open("s"))).steps).toEqual(["a"]);
      else expect(more).toBe(false);
    }
  });

  test.each([{ dryRun: 1 }, { dry: true }])("wrong options are refused: %j", async (options) => {
    const { holdfast, session } = await opened();
    await session.close();
    await expect(holdfast.delete("s", options as never)).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect(await idsOf(holdfast)).toEqual(["s"]);
  });
});
