import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { doctor } from "../../commands/doctor.ts";
import type { FileReport } from "../../doctor/report.ts";
import type { Theatre } from "../stage.ts";
import { SILENT } from "../../silent.ts";

/** A session of another tool, bricked as they are every day: one of two calls never got its output. */
export async function brokenSession({ show, folder }: Theatre): Promise<void> {
  const file = join(folder, "claude-code-session.jsonl");
  writeFileSync(file, TRANSCRIPT);
  utimesSync(file, new Date(0), new Date(0)); // nobody is writing it
  show.text("A session of Claude Code. It was closed in the middle of a call, and no provider accepts it any more.");

  const looked = await examine(file);
  const [finding] = looked.report.findings;
  show.quote("doctor", `line ${finding?.line ?? 0}: ${finding?.message ?? "nothing"}`);
  await show.claim(
    "doctor finds the fault, names its line, and writes nothing",
    looked.code === 1 && finding !== undefined && readFileSync(file, "utf8") === TRANSCRIPT,
  );
  const { report } = await examine(file, "fix");
  await show.claim(
    "with --fix it is repaired, and the original is kept beside it, byte for byte",
    report.repaired && readFileSync(report.backup ?? file, "utf8") === TRANSCRIPT,
  );
  const again = await examine(file);
  await show.claim("checked again, it is clean", again.code === 0 && again.report.findings.length === 0);
}

/** The command itself, with its answer as data. */
async function examine(file: string, fix?: "fix"): Promise<{ readonly code: number; readonly report: FileReport }> {
  const said: string[] = [];
  const code = await doctor.run(
    { values: { json: true, fix: fix === "fix" }, positionals: [file] },
    { ...SILENT, out: (line) => said.push(line), err: (line) => said.push(line) },
  );
  return { code, report: JSON.parse(said[0] ?? "{}") as FileReport };
}

const TRANSCRIPT = [
  { type: "user", message: { role: "user", content: "What is in a.txt and b.txt?" } },
  {
    type: "assistant",
    message: {
      role: "assistant",
      content: [
        { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "a.txt" } },
        { type: "tool_use", id: "toolu_2", name: "Read", input: { file_path: "b.txt" } },
      ],
    },
  },
  {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_2", content: "bee" }] },
  },
  { type: "user", message: { role: "user", content: "Hello? Are you still there?" } },
]
  .map((record, at) => ({
    parentUuid: at === 0 ? null : `record-${at - 1}`,
    uuid: `record-${at}`,
    sessionId: "session",
    timestamp: "2026-03-01T10:00:00.000Z",
    cwd: "/shop",
    version: "2.0.0",
    isSidechain: false,
    userType: "external",
    ...record,
  }))
  .map((record) => `${JSON.stringify(record)}\n`)
  .join("");
