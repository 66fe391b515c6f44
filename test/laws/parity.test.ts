import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CompositeSnapshot,
  defineTool,
  type JournalEntry,
  toolResult,
  VisibilityExpansionRequired,
} from "../../src/index.ts";
import { workspaceTools } from "../../src/tools/entry.ts";
import { counter, diary } from "../support/calls.ts";
import { opened, step } from "../support/durable.ts";
import { CLAUDE_RUNTIME, HOSTS, type MadeCall, type Way } from "../support/hosts.ts";
import { PNG } from "../support/pictures.ts";
import { collect } from "../support/stores.ts";

const TOOLS = [
  step,
  ...workspaceTools(),
  defineTool({
    name: "throws",
    access: "write",
    run: async (_, call) => {
      call.dispatch(counter.added(100));
      call.dispatch(diary.said("about to throw"));
      await call.files.writeText("thrown.txt", "x");
      throw new Error("boom");
    },
  }),
  defineTool({
    name: "expands",
    access: "write",
    run: async (_, call) => {
      call.dispatch(counter.added(1_000));
      await call.files.writeText("expanded.txt", "x");
      throw new VisibilityExpansionRequired(["rules"]);
    },
  }),
  defineTool({ name: "shows", access: "read", run: () => toolResult(["see", { mediaType: "image/png", bytes: PNG }]) }),
];

interface Lived {
  readonly slices: unknown;
  readonly files: Readonly<Record<string, string>>;
  readonly calls: readonly unknown[];
}

/** What only requests leave, and what says when and under which id. */
const OF_REQUESTS = new Set(["PromptRendered", "PromptExecuted", "ContextLineage", "VisibilityOverrides"]);
const INCIDENTAL = new Set(["at", "elapsed", "toolCallId"]);

async function live(way: Way, calls: readonly MadeCall[], mode: "act" | "plan" = "act"): Promise<Lived> {
  const { session } = await opened(undefined, { tools: TOOLS, commitOrder: "call" });
  try {
    await session.files.writeText("seed.txt", "one\ntwo\n");
    await session.setMode(mode);
    await way(session, calls);
    const files: Record<string, string> = {};
    for (const path of await session.files.glob("**")) files[path] = await session.files.readText(path);
    const entries = await collect(session.read());
    return {
      slices: slicesOf(await session.state.snapshot({ includeAll: true })),
      files,
      calls: entries.flatMap(essence),
    };
  } finally {
    await session.close();
  }
}

function slicesOf({ session: { slices } }: CompositeSnapshot): unknown {
  return [...slices]
    .filter(([name]) => !OF_REQUESTS.has(name))
    .map(([name, value]) => [name, PLAIN[name]?.(value) ?? value]);
}

/** A host lists the tools when it likes. */
const PLAIN: Readonly<Record<string, (value: unknown) => unknown>> = {
  ToolInvoked: (lines) => withoutIncidentals(lines as readonly object[]),
  catalog: (catalog) => (catalog as { readonly mode: string }).mode,
};

function withoutIncidentals(lines: readonly object[]): unknown {
  return lines.map((line) => Object.fromEntries(Object.entries(line).filter(([field]) => !INCIDENTAL.has(field))));
}

/** A record of a call, without ids and times. */
function essence(entry: JournalEntry): readonly unknown[] {
  switch (entry.kind) {
    case "call-opened":
      return [{ kind: entry.kind, tool: entry.tool, args: entry.args }];
    case "call-closed": {
      const { seq: _seq, at: _at, callId: _callId, ...rest } = entry;
      return [rest];
    }
    case "state-changed":
      return entry.cause === "call" ? [{ kind: entry.kind, parts: Object.keys(entry.delta as object).toSorted() }] : [];
    default:
      return [];
  }
}

const anyCall: fc.Arbitrary<MadeCall> = fc.oneof(
  fc.record({ n: fc.constantFrom("a", "b"), fail: fc.boolean() }).map((input) => ({ name: "step", input })),
  fc.constantFrom<MadeCall>(
    { name: "throws", input: {} },
    { name: "shows", input: {} },
    { name: "gone", input: { x: 1 } },
    { name: "read_file", input: { path: "seed.txt" } },
    { name: "read_file", input: { file: "seed.txt" } },
    { name: "edit_file", input: { path: "seed.txt", edits: [{ find: "two", replace: "2" }] } },
    { name: "write_file", input: { path: "deep/er.txt", text: "zwei 🥊" } },
    { name: "apply_patch", input: { patch: "*** Begin Patch\n*** Delete File: seed.txt\n*** End Patch" } },
  ),
);

describe("the same calls", () => {
  test("[PARITY-1] [K60] end in the same state, files and records on every way", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { minLength: 1, maxLength: 6 }), async (calls) => {
        const [[, first], ...others] = Object.entries(HOSTS) as [[string, Way], ...[string, Way][]];
        const reference = await live(first, calls);
        expect(reference.calls.filter((call) => (call as { kind: string }).kind === "call-closed")).toHaveLength(
          calls.length,
        );
        for (const [name, way] of others) expect({ name, ...(await live(way, calls)) }).toEqual({ name, ...reference });
      }),
      { numRuns: 12 },
    );
  });

  const ALL: readonly MadeCall[] = [
    { name: "step", input: { n: "a" } },
    { name: "read_file", input: { path: "seed.txt" } },
    { name: "write_file", input: { path: "leak.txt", text: "x" } },
    { name: "throws", input: {} },
  ];

  test.each(Object.entries(HOSTS).filter(([name]) => name !== "scripted"))(
    "[PARITY-2] in plan mode are denied in the same words and change nothing: %s",
    async (_, way) => {
      const reference = await live(HOSTS["scripted"] as Way, ALL, "plan");
      expect(reference.files).toEqual({ "seed.txt": "one\ntwo\n" });
      expect(await live(way, ALL, "plan")).toEqual(reference);
    },
  );

  test.each(Object.entries(HOSTS).filter(([name]) => name !== "begin and commit"))(
    "[PARITY-3] a request for more of the prompt leaves no trace: %s",
    async (_, way) => {
      const { slices, files, calls } = await live(way, [{ name: "expands", input: {} }]);
      expect(files).toEqual({ "seed.txt": "one\ntwo\n" });
      expect(calls.at(1)).toMatchObject({ status: "canceled", reason: "expansion" });
      expect(slices).toEqual(expect.arrayContaining([["counter", 0]]));
    },
  );

  test("[PARITY-3] and none where a host runs the handler itself and gives up", async () => {
    const { session } = await opened(undefined, { tools: TOOLS });
    const pending = await session.begin({ name: "expands", input: {} });
    await expect(session.transactions.tool("expands")?.run({}, pending.call)).rejects.toBeInstanceOf(
      VisibilityExpansionRequired,
    );
    await pending.abort("more of the prompt is needed first");
    expect(session.state.session.get(counter)).toBe(0);
    expect(await session.files.list()).toEqual([]);
  });
});

describe.skipIf(CLAUDE_RUNTIME === undefined)("the runtime of the Claude Agent SDK", () => {
  test("[PARITY-4] [PARITY-1] ends in the same state, files and records", { timeout: 120_000 }, async () => {
    const calls: readonly MadeCall[] = [
      { name: "step", input: { n: "a" } },
      { name: "step", input: { n: "b", fail: true } },
      { name: "throws", input: {} },
      { name: "shows", input: {} },
      { name: "edit_file", input: { path: "seed.txt", edits: [{ find: "two", replace: "2" }] } },
    ];
    expect(await live(CLAUDE_RUNTIME as Way, calls)).toEqual(await live(HOSTS["scripted"] as Way, calls));
  });
});
