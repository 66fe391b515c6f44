import { describe, expect, test } from "vitest";
import { writes } from "../../test/support/calls.ts";
import { opened, step } from "../../test/support/durable.ts";
import { scripted, shapeOf, watch } from "../../test/support/loop.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { askUser } from "./ask-user.ts";
import type { RunEvent } from "./events.ts";
import { MainLoop } from "./main-loop.ts";
import type { Session } from "./session.ts";
import type { AskSomebody, Reply } from "./waiting.ts";

const call = (n: string) => ({ name: "step", input: { n } });
const question = { name: "ask_user", input: { question: "Which one?", options: ["a", "b"] } };
const deploys: string[] = [];
const deploy = writes<{ readonly to: string }>(
  "deploy",
  async ({ to }, handle) => {
    deploys.push(to);
    await handle.files.writeText("deployed.txt", to);
    return `deployed to ${to}`;
  },
  { approval: ({ to }) => to === "production" },
);
const TOOLS = { tools: [step, askUser, deploy] };
const production = { name: "deploy", input: { to: "production" } };

const misfit = expect.objectContaining({ code: "REPLY_MISFIT" });

const closings = async (session: Session) =>
  (await collect(session.read())).filter((entry) => entry.kind === "call-closed");

describe("a call that waits", () => {
  test("[LOOP-18] holds up no other call, and the turn ends as waiting", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const model = scripted([{ text: "Hm.", calls: [question, call("a"), production] }, { text: "Good." }]);
    const { events, end } = await watch(session.run("go", { model }));
    expect(shapeOf(events)).toBe("text call-opened call-waiting call-closed checkpoint end");
    expect(end).toMatchObject({
      status: "waiting",
      waiting: [
        { tool: "ask_user", waitsFor: "answer", input: question.input },
        { tool: "deploy", waitsFor: "approval", input: { to: "production" } },
      ],
    });
    expect(await session.files.exists("a.txt")).toBe(true);
    expect(await session.files.exists("deployed.txt")).toBe(false);
    // Other work of the session goes on meanwhile.
    expect(await session.runTool(call("b"))).toMatchObject({ ok: true });
    const [asked, consent] = session.waiting;
    expect(await session.reply(asked!.callId, { answer: "b" })).toMatchObject({ ok: true, output: "b" });
    expect(await session.reply(consent!.callId, { approve: true })).toMatchObject({ output: "deployed to production" });
    expect(await watch(session.run(undefined, { model }))).toMatchObject({ end: { status: "done", text: "Good." } });
    expect(session.openCalls).toEqual([]);
  });

  test("[LOOP-18] [TX-31] is begun by nobody else under its id, with whatever arguments, and waits on", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    await watch(session.run("go", { model: scripted([{ calls: [production] }, { text: "Good." }]) }));
    const { callId: id } = session.waiting[0]!;
    const other = { id, name: "deploy", input: { to: "elsewhere" } };
    await expect(session.runTool(other)).rejects.toMatchObject({ code: "CALL_OPEN" });
    await expect(session.begin(other)).rejects.toMatchObject({ code: "CALL_OPEN" });
    expect(session.waiting).toMatchObject([{ callId: id, input: { to: "production" } }]);
    expect(await session.reply(id, { approve: true })).toMatchObject({ output: "deployed to production" });
    expect(await closings(session)).toHaveLength(1);
  });

  test("[TX-31] a host's object cannot say of a call that it is open in the journal, or how it ends", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const known = { kind: "succeeded", value: "never ran" };
    const outcome = await session.runTool({ ...call("a"), announced: true, isNew: true, known } as never);
    expect(outcome.output).not.toBe("never ran");
    const kinds = (await collect(session.read())).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "call-opened")).toHaveLength(1);
  });

  test("[LOOP-18] is still open after a crash and after a checkpoint, and can be answered by another process", async () => {
    const disk = new MemoryDisk();
    const first = await opened(disk, TOOLS);
    const model = scripted([{ calls: [question, production] }, { text: "Good." }]);
    await watch(first.session.run("go", { model }));
    await first.session.checkpoint();
    await first.deps.store.close();
    const second = await opened(disk, TOOLS);
    expect(second.session.recovered.closedCalls).toEqual([]);
    const [asked, consent] = second.session.waiting;
    await second.session.reply(consent!.callId, { approve: false, reason: "Not on a Friday." });
    await second.deps.store.close();
    const third = await opened(disk, TOOLS);
    expect(third.session.waiting).toEqual([asked]);
    await third.session.reply(asked!.callId, { answer: { choice: "a" } });
    const { end } = await watch(third.session.run(undefined, { model }));
    expect(end).toMatchObject({ status: "done", text: "Good." });
    expect(await closings(third.session)).toMatchObject([
      { tool: "deploy", status: "failed", reason: "denied", output: expect.stringContaining("Not on a Friday.") },
      { tool: "ask_user", status: "success", output: { choice: "a" } },
    ]);
  });

  test("[LOOP-18] consent that was given before a crash is not asked for again, and the call is not run twice", async () => {
    const disk = new MemoryDisk();
    const stuck = writes("deploy", () => new Promise(() => {}), { approval: true });
    const first = await opened(disk, { tools: [stuck] });
    await watch(first.session.run("go", { model: scripted([{ calls: [{ name: "deploy" }] }]) }));
    void first.session.reply(first.session.waiting[0]!.callId, { approve: true }).catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    await first.deps.store.close();
    const second = await opened(disk, { tools: [stuck] });
    expect(second.session.waiting).toEqual([]);
    expect(second.session.recovered.closedCalls).toHaveLength(1);
    expect(await closings(second.session)).toMatchObject([
      { status: "canceled", reason: "interrupted", effects: "unknown" },
    ]);
  });

  test("[LOOP-18] is answered once: a second, a stray and an unfitting reply are refused", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    await watch(session.run("go", { model: scripted([{ calls: [question, production] }]) }));
    const [asked, consent] = session.waiting;
    await expect(session.reply(asked!.callId, { approve: true })).rejects.toMatchObject({ code: "REPLY_MISFIT" });
    await expect(session.reply(consent!.callId, { answer: "yes" })).rejects.toMatchObject({ code: "REPLY_MISFIT" });
    await expect(session.reply("call_nobody", { approve: true })).rejects.toMatchObject({ code: "CALL_NOT_WAITING" });
    deploys.length = 0;
    const [one, two] = await Promise.allSettled([
      session.reply(consent!.callId, { approve: true }),
      session.reply(consent!.callId, { approve: true }),
    ]);
    expect([one.status, two.status]).toEqual(["fulfilled", "rejected"]);
    expect(two).toMatchObject({ reason: { code: "CALL_NOT_WAITING" } });
    await expect(session.reply(consent!.callId, { approve: true })).rejects.toMatchObject({ code: "CALL_NOT_WAITING" });
    expect(deploys).toEqual(["production"]);
    expect(session.waiting).toEqual([asked]);
  });

  test("[LOOP-23] what only looks like consent or an answer is neither: nothing runs, and the call waits on", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    deploys.length = 0;
    await watch(session.run("go", { model: scripted([{ calls: [question, production] }]) }));
    const [asked, consent] = session.waiting;
    for (const reply of [{ approved: true }, true, null, undefined])
      await expect(session.reply(consent!.callId, reply as never)).rejects.toMatchObject({ code: "BAD_OPTION" });
    const looksLike: readonly unknown[] = [{ approve: "no" }, { approve: 1 }, {}];
    for (const reply of [...looksLike, { approve: false, reason: 5 }])
      await expect(session.reply(consent!.callId, reply as Reply)).rejects.toMatchObject({ code: "REPLY_MISFIT" });
    for (const answer of [undefined, () => "b", 10n, new Date(0)])
      await expect(session.reply(asked!.callId, { answer } as unknown as Reply)).rejects.toMatchObject({
        code: "REPLY_MISFIT",
      });
    expect(session.waiting).toEqual([asked, consent]);
    for (const reply of looksLike) {
      const events: RunEvent[] = [];
      const loop = new MainLoop({
        model: scripted([{ calls: [production] }]),
        tools: [deploy],
        ask: async () => reply as Reply,
      });
      const { end } = await loop.execute("go", { onEvent: (event) => events.push(event) });
      expect(events).toContainEqual({ kind: "ask-failed", call: expect.anything(), error: misfit });
      expect(end).toMatchObject({ status: "waiting", waiting: [{ tool: "deploy" }] });
    }
    expect(deploys).toEqual([]);
    expect(await session.reply(asked!.callId, { answer: null })).toMatchObject({ ok: true, output: null });
  });

  test("[LOOP-18] somebody who is there is asked in the turn, while other calls run", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const order: string[] = [];
    const model = scripted([{ calls: [question, call("a"), production] }, { text: "Good." }]);
    const { end } = await watch(
      session.run("go", {
        model,
        ask: async ({ tool }) => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          return tool === "ask_user" ? { answer: "b" } : { approve: true };
        },
      }),
      (event) => {
        if (event.kind === "call-closed") order.push(event.outcome.tool);
      },
    );
    expect(end).toMatchObject({ status: "done", text: "Good." });
    expect(order[0]).toBe("step");
    expect(order.toSorted()).toEqual(["ask_user", "deploy", "step"]);
  });

  test.each<[string, AskSomebody]>([
    ["rejects", async () => Promise.reject(new Error("no terminal"))],
    [
      "throws",
      () => {
        throw new Error("no terminal");
      },
    ],
    [
      "answers with what cannot be looked at",
      async () =>
        new Proxy({} as Reply, {
          get: (_, name) => {
            if (name === "then") return undefined;
            throw new Error("no terminal");
          },
        }),
    ],
  ])("[LOOP-27] [LOOP-1] whoever is to ask and %s costs the turn nothing but the reply", async (_, ask) => {
    const disk = new MemoryDisk();
    const { session } = await opened(disk, TOOLS);
    deploys.length = 0;
    const model = scripted([{ calls: [production, call("a")] }, { text: "Good." }]);
    const { events, end } = await watch(session.run("go", { model, ask }));
    expect(events.filter(({ kind }) => kind === "ask-failed")).toMatchObject([
      {
        call: { tool: "deploy", waitsFor: "approval" },
        error: { code: "ASK_FAILED", details: { tool: "deploy" }, cause: new Error("no terminal") },
      },
    ]);
    expect(events.filter(({ kind }) => kind === "end")).toHaveLength(1);
    expect(events.at(-1)).toEqual({ kind: "end", end });
    expect(end).toMatchObject({ status: "waiting", waiting: [{ tool: "deploy" }] });
    expect(await session.files.exists("a.txt")).toBe(true);
    expect(deploys).toEqual([]);
    const entries = await collect(session.read());
    expect(entries).toContainEqual(
      expect.objectContaining({
        kind: "fault-raised",
        fault: "ask-failed",
        detail: { callId: session.waiting[0]!.callId, tool: "deploy", failure: "no terminal" },
      }),
    );
    expect(entries.at(-1)).toMatchObject({ kind: "turn-ended", status: "waiting" });
    // Asked anew, by somebody who can: nothing was spent of the wait.
    const again = await watch(session.run(undefined, { model, ask: async () => ({ approve: true }) }));
    expect(again.end).toMatchObject({ status: "done", text: "Good." });
    expect(deploys).toEqual(["production"]);
  });

  test("[LOOP-27] whoever gives up asking because the turn was stopped has not failed", async () => {
    const controller = new AbortController();
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const { events, end } = await watch(
      session.run("go", {
        model: scripted([{ calls: [question] }]),
        signal: controller.signal,
        ask: (_, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
            controller.abort();
          }),
      }),
    );
    expect(events.map(({ kind }) => kind)).not.toContain("ask-failed");
    expect(end.status).toBe("aborted");
    expect(session.waiting).toHaveLength(1);
  });

  test("[LOOP-18] a reply from elsewhere while the turn still runs lets it go on by itself", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = writes("slow", () => gate.promise.then(() => "slow"));
    const { session } = await opened(new MemoryDisk(), { tools: [slow, deploy] });
    const model = scripted([{ calls: [production, { name: "slow" }] }, { text: "Good." }]);
    const { end } = await watch(session.run("go", { model }), (event) => {
      if (event.kind !== "call-waiting") return;
      void session.reply(event.call.callId, { approve: true }).then(() => gate.resolve());
    });
    expect(end).toMatchObject({ status: "done", text: "Good." });
  });

  test("[LOOP-18] a reply from elsewhere that is still being carried out is waited for", async () => {
    const gate = Promise.withResolvers<void>();
    const slow = writes("slow", () => gate.promise.then(() => "slow"), { approval: true });
    const { session } = await opened(new MemoryDisk(), { tools: [slow, step] });
    const model = scripted([{ calls: [{ name: "slow" }, call("a")] }, { text: "Good." }]);
    const { end } = await watch(session.run("go", { model }), (event) => {
      if (event.kind === "call-waiting") void session.reply(event.call.callId, { approve: true });
      if (event.kind === "call-closed") setTimeout(gate.resolve, 20);
    });
    expect(end).toMatchObject({ status: "done", text: "Good." });
  });

  test("[LOOP-18] of two who are asked, the first one's reply counts", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const elsewhere = Promise.withResolvers<void>();
    const { end } = await watch(
      session.run("go", {
        model: scripted([{ calls: [question] }, { text: "Good." }]),
        ask: () => elsewhere.promise.then(() => ({ answer: "too late" })),
      }),
      (event) => {
        if (event.kind !== "call-waiting") return;
        void session.reply(event.call.callId, { answer: "first" }).then(() => elsewhere.resolve());
      },
    );
    expect(end).toMatchObject({ status: "done", text: "Good." });
    expect(await closings(session)).toMatchObject([{ output: "first" }]);
  });

  test("[LOOP-18] a stop leaves it open, also when whoever was asked never answers", async () => {
    const controller = new AbortController();
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const { end } = await watch(
      session.run("go", {
        model: scripted([{ calls: [question] }]),
        signal: controller.signal,
        ask: () => new Promise(() => {}),
      }),
      (event) => {
        if (event.kind === "call-waiting") controller.abort();
      },
    );
    expect(end.status).toBe("aborted");
    expect(session.waiting).toHaveLength(1);
  });

  test("[LOOP-18] arguments that do not fit are refused without asking anybody, and a broken rule asks", async () => {
    const strict = writes("strict", () => "done", {
      approval: () => {
        throw new Error("the rule is broken");
      },
    });
    const { session } = await opened(new MemoryDisk(), { tools: [askUser, strict] });
    const model = scripted([{ calls: [{ name: "ask_user", input: { question: "" } }, { name: "strict" }] }]);
    const { end } = await watch(session.run("go", { model }));
    expect(end).toMatchObject({ status: "waiting", waiting: [{ tool: "strict", waitsFor: "approval" }] });
    expect(await closings(session)).toMatchObject([{ tool: "ask_user", reason: "bad-arguments" }]);
  });

  test("[LOOP-19] a user who goes on closes it, and the model is told", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const model = scripted([{ calls: [question, production] }, { text: "As you like." }]);
    await watch(session.run("go", { model }));
    const waiting = await watch(session.run(undefined, { model }));
    expect(waiting.end.status).toBe("waiting");
    const { end } = await watch(session.run("Never mind.", { model }));
    expect(end).toMatchObject({ status: "done", text: "As you like." });
    expect(session.waiting).toEqual([]);
    expect(await closings(session)).toMatchObject([
      { status: "canceled", reason: "unanswered", effects: "none" },
      { status: "canceled", reason: "unanswered", effects: "none" },
    ]);
  });

  test("[LOOP-19] a rewind of the conversation takes it back", async () => {
    const { session } = await opened(new MemoryDisk(), TOOLS);
    const model = scripted([{ calls: [call("a")] }, { calls: [question] }, { text: "Again." }]);
    await watch(session.run("go", { model }));
    const [boundary] = session.checkpoints.list();
    expect((await session.rewind({ after: boundary!.callId, dryRun: true })).calls).toEqual([]);
    expect(session.waiting).toHaveLength(1);
    await session.rewind({ after: boundary!.callId });
    expect(session.waiting).toEqual([]);
    expect(session.openCalls).toEqual([]);
    expect((await session.conversation()).map(({ kind }) => kind)).toEqual(["user", "call", "output"]);
    expect(await watch(session.run(undefined, { model }))).toMatchObject({ end: { status: "done", text: "Again." } });
  });

  /** A turn has ended as waiting for consent to `slow`, which runs until it is let go. */
  const waitingForSlow = async () => {
    const gate = Promise.withResolvers<void>();
    const slow = writes("slow", () => gate.promise.then(() => "it ran"), { approval: true });
    const { session } = await opened(new MemoryDisk(), { tools: [slow, step] });
    const asked: unknown[] = [];
    const model = scripted(({ nth, request }) => {
      asked.push(request);
      return nth === 0 ? { calls: [call("a"), { name: "slow" }] } : { text: "Good." };
    });
    await watch(session.run("go", { model }));
    const [boundary] = session.checkpoints.list();
    return { session, model, asked, gate, callId: session.waiting[0]!.callId, before: boundary!.callId };
  };
  const ofSlow = async (session: Session) => (await closings(session)).filter(({ tool }) => tool === "slow");

  test.each(["Go on.", undefined])(
    "[LOOP-21] a turn (%s) waits for what somebody replied to just before",
    async (input) => {
      const { session, model, asked, gate, callId } = await waitingForSlow();
      const reply = session.reply(callId, { approve: true });
      const turn = watch(session.run(input, { model }));
      setTimeout(gate.resolve, 20);
      expect(await reply).toMatchObject({ ok: true, output: "it ran" });
      expect((await turn).end).toMatchObject({ status: "done", text: "Good." });
      expect(JSON.stringify(asked.at(-1))).toContain("it ran");
      expect(await ofSlow(session)).toMatchObject([{ status: "success", output: "it ran" }]);
    },
  );

  test("[LOOP-21] a stop is heard while a turn waits for that", async () => {
    const { session, model, gate, callId } = await waitingForSlow();
    const reply = session.reply(callId, { approve: true });
    const controller = new AbortController();
    const turn = watch(session.run("Go on.", { model, signal: controller.signal }));
    controller.abort();
    expect((await turn).end.status).toBe("aborted");
    gate.resolve();
    expect(await reply).toMatchObject({ ok: true });
    expect(await ofSlow(session)).toHaveLength(1);
  });

  test("[LOOP-21] nobody can reply to what a user goes on without", async () => {
    const { session, model, gate, callId } = await waitingForSlow();
    gate.resolve();
    const refused: unknown[] = [];
    const turn = session.run("Go on.", { model });
    const first = turn.next();
    while (session.waiting.length > 0) {
      await session.reply(callId, { approve: true }).catch((error: unknown) => refused.push(error));
      await Promise.resolve();
    }
    await first;
    expect(await watch(turn)).toMatchObject({ end: { status: "done" } });
    const [ended, ...more] = await ofSlow(session);
    expect(more).toEqual([]);
    expect(ended?.status).toBe(refused.length > 0 ? "canceled" : "success");
  });

  test("[LOOP-21] a rewind is refused while somebody's reply is carried out, and nobody can reply during one", async () => {
    const { session, gate, callId, before } = await waitingForSlow();
    const reply = session.reply(callId, { approve: true });
    await expect(session.rewind({ before })).rejects.toMatchObject({ code: "CALLS_OPEN" });
    gate.resolve();
    await reply;
    expect(await session.rewind({ before })).toMatchObject({ done: true });
    expect(await ofSlow(session)).toMatchObject([{ status: "success" }]);

    const other = await waitingForSlow();
    other.gate.resolve();
    const rewound = other.session.rewind({ before: other.before });
    await new Promise((resolve) => setImmediate(resolve));
    await expect(other.session.reply(other.callId, { approve: true })).rejects.toMatchObject({
      code: "CALL_NOT_WAITING",
    });
    expect(await rewound).toMatchObject({ done: true });
    expect(await ofSlow(other.session)).toMatchObject([{ status: "canceled" }]);
  });

  test("[LOOP-14] [LOOP-21] a turn that begins before a rewind has happened is not taken back under it", async () => {
    const { session, model, before } = await waitingForSlow();
    const rewound = session.rewind({ before });
    const turn = watch(session.run("Go on.", { model }));
    await expect(rewound).rejects.toMatchObject({ code: "TURN_RUNNING" });
    expect((await turn).end).toMatchObject({ status: "done" });
    expect(await ofSlow(session)).toMatchObject([{ status: "canceled" }]);
    expect((await session.conversation()).filter(({ kind }) => kind === "user")).toHaveLength(2);
  });

  test("[LOOP-18] [LOOP-15] waits in a MainLoop too, and the user may go on", async () => {
    const model = scripted([{ calls: [question, production] }, { text: "Fine." }]);
    const loop = new MainLoop({ model, tools: [askUser, writes("deploy", () => "ok", { approval: true })] });
    const { state, end } = await loop.execute("go");
    expect(end).toMatchObject({ status: "waiting", waiting: [{ tool: "ask_user" }, { tool: "deploy" }] });
    expect((await loop.execute("Never mind.", { state })).end).toMatchObject({ status: "done", text: "Fine." });
    const asking = new MainLoop({
      model: scripted([{ calls: [question, production] }, { text: "Fine." }]),
      tools: [askUser, writes("deploy", () => "ok", { approval: true })],
      ask: async ({ waitsFor }) => (waitsFor === "answer" ? { answer: "a" } : { approve: true }),
    });
    expect((await asking.execute("go")).end).toMatchObject({ status: "done", text: "Fine." });
  });
});
