import { describe, expect, test } from "vitest";
import { desk, program } from "../../../test/support/cli.ts";
import { quickjs, scripted, watch } from "../../../test/support/loop.ts";

const at = desk();
const H = "context.conversation_history";
const code = quickjs({ limits: { timeMs: 60_000 } });
const run = (text: string, more: object = {}) => ({ name: "run_code", input: { code: text, ...more } as never });

interface Told {
  readonly ok: boolean;
  readonly sessions: readonly { readonly session: string; readonly rates: Readonly<Record<string, number | null>> }[];
  readonly total: {
    readonly size: number;
    readonly calls: Readonly<Record<string, number>>;
    readonly requests: Readonly<Record<string, number>>;
    readonly programs: Readonly<Record<string, number>>;
    readonly patterns: Readonly<Record<string, number>>;
    readonly rates: Readonly<Record<string, number | null>>;
  };
}

async function lived(): Promise<void> {
  const holdfast = await program(at.folder, { code });
  const session = await holdfast.open("asks");
  const model = scripted([
    { calls: [run(`return ${H}.filter((r) => r.speaker === "user").length`, { name: "words" }), run("throw 1")] },
    {
      calls: [{ name: "run_code", input: { name: "words" } as never }, run(`return ${H}.map(String).length`)],
    },
    { text: "two" },
  ]);
  await watch(session.run("how many words?", { model }));
  await session.close();
  const quiet = await holdfast.open("quiet");
  await watch(quiet.run("hello", { model: scripted([{ text: "hello" }]) }));
  await quiet.close();
  await holdfast.close();
}

describe("holdfast show --history-usage", () => {
  test("[USE-5] tells append rate, guidance and coverage, of one session, of some, and of all", async () => {
    await lived();
    const all = await at.json<Told>("show", "--history-usage");
    expect(all.ok).toBe(true);
    expect(all.sessions.map(({ session }) => session).toSorted()).toEqual(["asks", "quiet"]);
    expect(all.total).toMatchObject({
      size: 6,
      calls: { ended: 4, recorded: 4, open: 0, dropped: 0 },
      requests: { offering: 4, guided: 4 },
      programs: { run: 4, failed: 1, again: 1, detected: 3, reading: 3, readingDetected: 3 },
      patterns: { count: 3, filter: 2, map: 1 },
      rates: { appended: 1, guided: 1, detected: 1 },
    });
    const one = await at.json<Told>("show", "quiet", "--history-usage");
    expect(one.sessions).toMatchObject([{ session: "quiet", rates: { appended: null, guided: 1, detected: null } }]);
    const { code: exit, out } = await at.run("show", "asks", "quiet", "--history-usage");
    expect(exit).toBe(0);
    expect(out).toMatch(/records appended +100 % {2}of 4 calls that ended/);
    expect(out).toMatch(/guidance present +100 % {2}of 4 requests/);
    expect(out).toMatch(/access detected +100 % {2}of 3 programs/);
    expect(out).toContain("2 sessions: 6 records");
    expect(await at.run("show", "nobody", "--history-usage")).toMatchObject({ code: 3 });
  });

  test("[USE-5] a call without a record, or a request without guidance, is a finding", async () => {
    const holdfast = await program(at.folder, { code });
    const session = await holdfast.open("poor");
    await session.append({ kind: "model-said", text: "?", historyGuidance: false });
    await session.close();
    await holdfast.close();
    const { code: exit, out } = await at.run("show", "poor", "--history-usage");
    expect(exit).toBe(1);
    expect(out).toMatch(/guidance present +0\.00 %/);
  });
});
