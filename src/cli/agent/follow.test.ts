import { expect, test } from "vitest";
import type { RunEnd, RunEvent } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { endLine, Follower } from "./follow.ts";
import { SILENT } from "../silent.ts";

function watched(columns?: number) {
  const shown: string[] = [];
  const terminal: Terminal = {
    ...SILENT,
    out: (line) => shown.push(`${line}\n`),
    write: (text) => shown.push(text),
    ...(columns === undefined ? {} : { columns }),
  };
  const follower = new Follower(terminal);
  return { show: (...events: readonly object[]) => events.forEach((event) => follower.show(event as RunEvent)), shown };
}

test("[CLI-15] a model that is asked again, a rule that cannot be read and a repair each get a line of their own", () => {
  const { show, shown } = watched();
  show(
    { kind: "text", text: "one\ntwo" },
    { kind: "retry", failure: { kind: "overloaded" }, waitMs: 1_500 },
    {
      kind: "rules-unread",
      faults: [
        { path: "AGENTS.md", line: 3, why: "too long" },
        { path: "b.md", why: "no text" },
      ],
    },
    { kind: "repaired", fault: "missing-output" },
    { kind: "turn-began" },
  );
  expect(shown.join("")).toBe(
    "one\ntwo\n  … overloaded; asked again in 1.5 s\n  … no rule: AGENTS.md:3: too long\n  … no rule: b.md: no text\n  … repaired for the model: missing-output\n",
  );
});

test("[CLI-15] of what a command puts out the first lines are shown, and of a failed call why, in a pipe as on a screen", () => {
  for (const columns of [undefined, 60]) {
    const { show, shown } = watched(columns);
    const lines = Array.from({ length: 20 }, (_, nth) => `line ${nth}`).join("\n");
    show(
      { kind: "call-progress", callId: "call_1", text: lines },
      { kind: "call-progress", callId: "call_1", text: "more" },
      { kind: "call-closed", callId: "call_1", outcome: { ok: false, tool: "shell", output: { code: 1 } } },
      { kind: "call-closed", callId: "call_2", outcome: { ok: false, tool: "shell" } },
      { kind: "call-closed", callId: "call_3", outcome: { ok: false, tool: "shell", output: "no" } },
    );
    const text = shown.join("");
    expect(text).toContain("│ line 11");
    expect(text).toContain("│ …");
    expect(text).not.toContain("line 12");
    expect(text).not.toContain("more");
    expect(text).toContain('{"code":1}');
  }
});

test("[CLI-15] a call is told with its arguments, as far as a line goes", () => {
  const { show, shown } = watched(60);
  const outcome = { ok: true, tool: "write_file", output: "done" };
  for (const [callId, text] of [
    ["call_12345678", "one"],
    ["call_23456789", "long ".repeat(30)],
  ] as const)
    show(
      { kind: "call-opened", callId, tool: "write_file", input: { path: "a.txt", text }, alias: "x" },
      { kind: "call-closed", callId, outcome },
    );
  show({ kind: "call-closed", callId: "call_34567890", outcome }); // opened by an earlier process
  const [first = "", second = "", third = ""] = shown;
  expect(first).toMatch(/^ {2}✓ write_file \{"path":"a.txt","text":"one"\} {2}12345678 {2}\d+ ms$/m);
  expect(second).toMatch(/^ {2}✓ write_file \{"path":"a.txt","te.*… {2}23456789 {2}\d+ ms$/m);
  expect(second.trimEnd().length).toBeLessThanOrEqual(60);
  expect(third).toMatch(/^ {2}✓ write_file {2}34567890 {2}\d+ ms$/m);
});

test("[CLI-15] every way a turn can end is told, but for the one that is its last word", () => {
  const ends: readonly [object, string | undefined][] = [
    [{ status: "done" }, undefined],
    [{ status: "stopped", stop: "length" }, "the model stopped: length"],
    [{ status: "limit", limit: "steps" }, "a limit was reached: steps; ask again to continue"],
    [{ status: "limit", limit: "timeMs" }, "a limit was reached: time; ask again to continue"],
    [{ status: "waiting", waiting: [{ tool: "shell" }, { tool: "ask_user" }] }, "shell, ask_user wait for you"],
    [{ status: "waiting", waiting: [{ tool: "shell" }] }, "shell waits for you"],
    [{ status: "aborted" }, "cancelled; what was running has changed nothing"],
    [{ status: "refused" }, "the request was not sent: prompt, tools and mode did not agree"],
    [{ status: "failed", failure: { kind: "auth", message: "no key" } }, "a:b cannot be asked: auth: no key"],
    [
      { status: "failed", failure: { kind: "rate-limited", message: "Slow down.", retryAfterMs: 300_000 } },
      "a:b cannot be asked: rate-limited: Slow down. (it asks to wait 5 min)",
    ],
  ];
  for (const [end, line] of ends) expect(endLine(end as RunEnd, "a:b")).toBe(line);
});
