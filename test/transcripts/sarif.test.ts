import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { faultsOf, type Schema } from "./json-schema.ts";
import { SAMPLES } from "./samples.ts";
import { SILENT } from "../../src/cli/silent.ts";

const text: Schema = { type: "string" };
const closed = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const listOf = (items: Schema): Schema => ({ type: "array", items });

/**
 * What SARIF 2.1.0 says of the properties that we write; all others are refused, as its own schema refuses unknown ones.
 * With HOLDFAST_SARIF_SCHEMA set to a copy of the official schema, that one judges.
 */
const OURS: Schema = {
  ...closed({ $schema: { type: "string", format: "uri" }, version: { enum: ["2.1.0"] }, runs: listOf(ref("run")) }, [
    "version",
    "runs",
  ]),
  definitions: {
    run: closed(
      {
        tool: ref("tool"),
        columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
        invocations: { type: "array", items: ref("invocation") },
        results: listOf(ref("result")),
      },
      ["tool"],
    ),
    tool: closed({ driver: ref("toolComponent") }, ["driver"]),
    toolComponent: closed({ name: text, version: text, rules: { ...listOf(ref("rule")), uniqueItems: true } }, [
      "name",
    ]),
    rule: closed(
      {
        id: text,
        shortDescription: ref("message"),
        help: ref("message"),
        defaultConfiguration: closed({ level: ref("level") }),
      },
      ["id"],
    ),
    message: closed({ text }, ["text"]),
    level: { enum: ["none", "note", "warning", "error"] },
    invocation: closed(
      { executionSuccessful: { type: "boolean" }, toolExecutionNotifications: listOf(ref("notification")) },
      ["executionSuccessful"],
    ),
    notification: closed({ level: ref("level"), message: ref("message"), locations: listOf(ref("location")) }, [
      "message",
    ]),
    result: closed(
      {
        ruleId: text,
        ruleIndex: { type: "integer", minimum: -1 },
        level: ref("level"),
        message: ref("message"),
        locations: listOf(ref("location")),
        properties: { type: "object", additionalProperties: true },
      },
      ["message"],
    ),
    location: closed({ physicalLocation: ref("physicalLocation") }),
    physicalLocation: closed({
      artifactLocation: closed({ uri: { type: "string", format: "uri-reference" } }),
      region: closed({ startLine: { type: "integer", minimum: 1 } }),
    }),
  },
};

const OFFICIAL = process.env["HOLDFAST_SARIF_SCHEMA"];
const SCHEMA = OFFICIAL === undefined ? OURS : (JSON.parse(readFileSync(OFFICIAL, "utf8")) as Schema);

interface Log {
  runs: { tool: { driver: { name?: string } }; results: { level: string; locations: object[] }[] }[];
}

/** The log over a broken session of every format, a sound one, a torn one and two that cannot be read. */
async function logOf(): Promise<Log> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-sarif-"));
  const out: string[] = [];
  try {
    const steps = [
      { say: "user", text: "begin" },
      { call: [{ id: "c1", name: "bash" }], text: "so" },
    ] as const;
    for (const format of FORMAT_IDS) writeFileSync(join(folder, `${format}.json`), SAMPLES[format].write(steps));
    writeFileSync(join(folder, "odd name [é] %41#.jsonl"), SAMPLES["claude-code"].write(steps).slice(0, -40));
    writeFileSync(join(folder, "no session.json"), "42");
    const argv = ["doctor", "--sarif", folder, "nowhere.json", join(folder, "no session.json")];
    const code = await main(argv, { ...SILENT, out: (line) => out.push(line), cwd: folder });
    expect(code).toBe(3);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return JSON.parse(out.join("\n")) as Log;
}

test("[DOC-23] what --sarif prints is valid by the schema of SARIF 2.1.0", async () => {
  const log = await logOf();
  expect(faultsOf(log, SCHEMA)).toEqual([]);
  expect(log.runs[0]?.results.length).toBeGreaterThan(FORMAT_IDS.length);
});

test("[DOC-23] the schema sees a log that is wrong", async () => {
  const wrong: readonly ((log: Log) => void)[] = [
    (log) => delete log.runs[0]!.tool.driver.name,
    (log) => (log.runs[0]!.results[0]!.level = "fatal"),
    (log) => (log.runs[0]!.results[0]!.locations = [{ physicalLocation: { region: { startLine: 0 } } }]),
    (log) => Object.assign(log, { extra: true }),
    (log) => Object.assign(log.runs[0]!.results[0]!, { message: "words" }),
  ];
  const log = await logOf();
  for (const spoil of wrong) {
    const copy = structuredClone(log);
    spoil(copy);
    expect(faultsOf(copy, SCHEMA)).not.toEqual([]);
  }
});
