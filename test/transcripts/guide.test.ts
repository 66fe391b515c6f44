import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describe as described, reportOf } from "../../src/cli/doctor/report.ts";
import { FINDINGS } from "../../src/transcripts/findings.ts";
import { FORMATS } from "../../src/transcripts/formats.ts";
import { examined, repairedText } from "./in-memory.ts";

const guide = readFileSync(new URL("../../docs/guides/doctor.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/```json\n(.*?)\n```/gs)].map(([, text = ""]) => text);

test("[DOC-16] the guide has a row for every finding, in the words that the command prints", () => {
  for (const [code, { message, repair, lossless }] of Object.entries(FINDINGS)) {
    expect(guide).toContain(`| \`${code}\` | ${message} | ${repair} | ${lossless ? "yes" : "no"} |`);
  }
});

test("[DOC-1] the guide has a row for every format, with whose rules it is judged by", () => {
  for (const { id, profile } of Object.values(FORMATS)) {
    expect(guide).toMatch(new RegExp(`^\\| \`${id}\` \\| .* \\| \`${profile}\` \\|`, "m"));
  }
});

test("[DOC-16] the guide's example says and does what it shows", async () => {
  const [before = "", after = ""] = blocks;
  const found = await examined(before);
  for (const line of described(reportOf("session.jsonl", found), found.title, false)) expect(guide).toContain(line);
  expect(await repairedText(before)).toBe(`${after}\n`);
});
