import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import { defineTool } from "../../src/transaction/tool.ts";
import type { RunEvent } from "../../src/turn/events.ts";
import { endless, OPTIONS, opened } from "../support/durable.ts";
import { steps, writes } from "../support/calls.ts";
import { scripted, watch } from "../support/loop.ts";
import { MemoryDisk } from "../support/stores.ts";
import { freshRoot, work } from "../support/workspaces.ts";
import { runningLike } from "../support/commands.ts";

const asked = { name: "endless", input: {} };
const NOTE = {
  kind: "preference",
  page: "style",
  field: "notes",
  op: "append",
  value: "Short sentences.",
  scope: "project",
} as const;

describe("a session that is closed while something runs in it", () => {
  test("[TURN-87] closes its calls as canceled before it is let go", async () => {
    const { begun, options } = endless();
    const disk = new MemoryDisk();
    const { session } = await opened(disk, options);
    const outcome = session.runTool(asked);
    await begun;
    const pending = await session.begin({ name: "step", input: { n: "hosted" } });
    await session.close();
    expect(await outcome).toMatchObject({ status: "canceled", ok: false });
    expect(await pending.commit("late")).toBe("not pending");
    const again = await opened(disk, options);
    expect(again.session.recovered.closedCalls).toEqual([]);
    expect(again.session.state.session.get(steps)).toEqual([]);
  });

  test("[TURN-87] ends a turn that somebody follows, as one that was stopped", async () => {
    const { begun, options } = endless();
    const disk = new MemoryDisk();
    const { session } = await opened(disk, options);
    const turn = watch(session.run("go", { model: scripted([{ calls: [asked] }, { text: "never" }]) }));
    await begun;
    await session.close();
    const { end, events } = await turn;
    expect(end.status).toBe("aborted");
    expect(events.at(-1)).toEqual({ kind: "end", end });
    const again = await opened(disk, options);
    expect(again.session.recovered.closedCalls).toEqual([]);
    const kinds = (await Array.fromAsync(again.session.read())).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(["turn-interrupted", "turn-ended"]));
  });

  test("[TURN-87] does so also when whoever follows it closes it at one of its events, and misses none of them", async () => {
    const { options } = endless();
    const disk = new MemoryDisk();
    const { session } = await opened(disk, options);
    const seen: RunEvent["kind"][] = [];
    for await (const { kind } of session.run("go", { model: scripted([{ calls: [asked] }]) })) {
      seen.push(kind);
      if (kind === "call-opened") await session.close();
    }
    expect(seen.slice(seen.indexOf("call-opened"))).toEqual(["call-opened", "call-closed", "checkpoint", "end"]);
    const again = await opened(disk, options);
    expect(again.session.recovered.closedCalls).toEqual([]);
  });

  test("[TURN-87] leaves nothing of a command, and its files as they were", async () => {
    const at = freshRoot();
    const time = `81299.${process.pid}`;
    const shell = defineTool<string>({ name: "shell", access: "execute", run: (line, call) => call.exec(line) });
    const { session } = await work({ tools: [shell] }, at);
    const begun = Promise.withResolvers<void>();
    const line = `echo half > half.txt; echo begun; sleep ${time}`;
    const outcome = session.runTool({ name: "shell", input: line }, { onProgress: () => begun.resolve() });
    await begun.promise;
    await session.close();
    expect(await outcome).toMatchObject({ status: "canceled" });
    expect([runningLike(time), existsSync(join(at.root, "half.txt"))]).toEqual([[], false]);
    expect((await work({ tools: [shell] }, at)).session.recovered).toEqual({ closedCalls: [], damaged: [] });
  });

  test("[TURN-87] is refused from inside one of its own calls, and stays open", async () => {
    const own = writes("own", (): Promise<void> => session.close());
    const { session } = await opened(new MemoryDisk(), { tools: [...(OPTIONS.tools ?? []), own] });
    expect(await session.runTool({ name: "own", input: {} })).toMatchObject({ ok: false, reason: "STATE_INSIDE_CALL" });
    expect(await session.runTool({ name: "step", input: { n: "a" } })).toMatchObject({ ok: true });
  });

  test("[TURN-88] begins nothing more, for a loop that goes on after its call was canceled", async () => {
    const { begun, options } = endless();
    const disk = new MemoryDisk();
    const { session } = await opened(disk, options);
    const loop = (async () => {
      await session.runTool(asked);
      const next = await Promise.allSettled([
        session.runTool(asked),
        session.begin(asked),
        watch(session.run("go", { model: scripted([{ text: "never" }]) })),
      ]);
      return next.map((one) => one.status === "rejected" && HoldfastError.is(one.reason) && one.reason.code);
    })();
    await begun;
    await session.close();
    expect(await loop).toEqual(["JOURNAL_CLOSED", "JOURNAL_CLOSED", "JOURNAL_CLOSED"]);
    const again = await opened(disk, options);
    expect(again.session.recovered.closedCalls).toEqual([]);
    const kinds = (await Array.fromAsync(again.session.read())).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "call-opened" || kind === "user-said")).toEqual(["call-opened"]);
  });

  test("[TURN-88] is closed once by several who close it at the same time", async () => {
    const { begun, options } = endless();
    const disk = new MemoryDisk();
    const { session } = await opened(disk, options);
    const turn = watch(session.run("go", { model: scripted([{ calls: [asked] }]) }));
    await begun;
    await session.writeback.stage(NOTE);
    await Promise.all([session.close(), session.close(), session.close({ leave: "staged" })]);
    await turn;
    const kinds = (await Array.fromAsync((await opened(disk, options)).session.read())).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "boundary-crossed")).toHaveLength(1);
  });

  test("[TURN-87] waits for nobody who does not stop", async () => {
    const undoing = Promise.withResolvers<void>();
    const tool = defineTool({
      name: "send",
      access: "external",
      effects: { mail: { run: async () => "sent", undo: () => undoing.promise } },
      run: async (_input, call) => {
        await call.effect("mail", {}, { key: "k" });
        begun.resolve();
        return new Promise<never>(() => {});
      },
    });
    const begun = Promise.withResolvers<void>();
    const { session, deps } = await opened(new MemoryDisk(), { tools: [tool] });
    const outcome = session.runTool({ name: "send", input: {} }).catch((error: unknown) => error);
    await begun.promise;
    const closed = session.close();
    let over = false;
    void closed.finally(() => (over = true));
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      deps.clock.advance(1_000);
    }
    await closed;
    undoing.resolve();
    await outcome;
  });
});
