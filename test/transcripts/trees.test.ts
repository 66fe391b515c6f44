import fc from "fast-check";
import { expect, test } from "vitest";
import { codesOf, examined, repairedText } from "./in-memory.ts";
import { SAMPLES, type Step } from "./samples.ts";

type RecordFields = Record<string, unknown>;

const TREES = [
  ["claude-code", "uuid", "parentUuid"],
  ["copilot-cli-events", "id", "parentId"],
  ["pi-session", "id", "parentId"],
] as const;

const SCRIPT: readonly Step[] = [
  { say: "user", text: "begin" },
  { call: [{ id: "c1", name: "bash" }], text: "so" },
  { output: "c1", name: "bash", text: "done" },
  { say: "assistant", text: "so" },
  { say: "user", text: "more" },
  { say: "assistant", text: "end" },
];

function records(text: string): RecordFields[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RecordFields);
}

function jsonl(all: readonly RecordFields[]): string {
  return all.map((one) => `${JSON.stringify(one)}\n`).join("");
}

/** Every record leads to a root, and no id is used twice. */
function expectTree(text: string, id: string, parent: string): void {
  const all = records(text).filter((one) => one["type"] !== "session" && typeof one[id] === "string");
  const byId = new Map(all.map((one) => [one[id], one]));
  expect(byId.size).toBe(all.length);
  for (const start of all) {
    let steps = 0;
    let at: RecordFields | undefined = start;
    while (at !== undefined && at[parent] !== null && at[parent] !== undefined) {
      expect(byId.has(at[parent])).toBe(true);
      at = byId.get(at[parent]);
      steps += 1;
      expect(steps).toBeLessThanOrEqual(all.length);
    }
  }
}

test.each(TREES)(
  "[DOC-10] %s: whatever ids and parents a log holds, the repaired one is a tree",
  (format, id, parent) =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(9), fc.nat(9), fc.boolean()), { maxLength: 6 }), async (harms) => {
        const all = records(SAMPLES[format].write(SCRIPT));
        for (const [at, to, name] of harms) {
          const record = all[1 + (at % (all.length - 1))] as RecordFields;
          record[name ? id : parent] = to === 9 ? "nowhere" : `record-${to}`;
        }
        const after = await repairedText(jsonl(all));
        expect(codesOf(await examined(after))).toEqual([]);
        expectTree(after, id, parent);
      }),
      { numRuns: 150 },
    ),
);

test.each(TREES)(
  "[DOC-10] %s: a broken parent, a repeated id and a circle are told with their lines",
  async (format, id, parent) => {
    const all = records(SAMPLES[format].write(SCRIPT));
    const broken = structuredClone(all);
    broken[3]![parent] = "gone";
    expect(await examined(jsonl(broken))).toMatchObject({ findings: [{ code: "broken-parent", line: 4 }] });
    const twice = structuredClone(all);
    twice[4]![id] = twice[3]![id];
    expect(codesOf(await examined(jsonl(twice)))).toContain("duplicate-record-id");
    const circle = structuredClone(all);
    circle[2]![parent] = circle[4]![id];
    expect(await examined(jsonl(circle))).toMatchObject({ findings: [{ code: "parent-cycle", line: 3 }] });
  },
);

test.each(TREES)(
  "[DOC-10] %s: what is added hangs where readers that follow the links will meet it",
  async (format, id, parent) => {
    const all = records(SAMPLES[format].write(SCRIPT)).filter((one) => !JSON.stringify(one).includes("done"));
    const next = all.findIndex(
      (one) => String(one[parent]).startsWith("record-") && !all.some((other) => other[id] === one[parent]),
    );
    all[next]![parent] = all[next - 1]![id];
    const after = await repairedText(jsonl(all));
    expectTree(after, id, parent);
    const repaired = records(after);
    const leaf = repaired.at(-1)!;
    const path: unknown[] = [];
    for (
      let at: RecordFields | undefined = leaf;
      at !== undefined;
      at = repaired.find((one) => one[id] === at![parent])
    ) {
      path.push(JSON.stringify(at).includes("interrupted"));
    }
    expect(path).toContain(true);
  },
);

test("[DOC-10] a record that its writer wrote again, whole, behind a damaged line is kept once", async () => {
  const lines = SAMPLES["claude-code"].write(SCRIPT).trimEnd().split("\n");
  const glued = [...lines.slice(0, 4), `${lines[4]!}${lines[5]!}`, lines[5]!, ...lines.slice(6)];
  const found = await examined(`${glued.join("\n")}\n`);
  expect(codesOf(found)).toEqual(["glued-records"]);
  expect(await repairedText(`${glued.join("\n")}\n`)).toBe(`${lines.join("\n")}\n`);
});
