import { FINDINGS, type FindingCode } from "../../transcripts/findings.ts";
import type { FileReport } from "./report.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** Findings as SARIF 2.1.0, for code scanning and editors. */
export function sarif(reports: readonly FileReport[], unread: readonly Unread[], version: string): object {
  const codes = Object.keys(FINDINGS) as FindingCode[];
  const indexOf = new Map(codes.map((code, index) => [code, index] as const));
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "holdfast doctor", version, rules: codes.map(rule) } },
        columnKind: "utf16CodeUnits",
        invocations: [
          { executionSuccessful: unread.length === 0, toolExecutionNotifications: unread.map(notification) },
        ],
        results: reports.flatMap(({ file, findings }) =>
          findings.map((finding) => ({
            ruleId: finding.code,
            ruleIndex: indexOf.get(finding.code) ?? -1,
            level: finding.severity,
            message: { text: `${sentence(finding.message)} ${sentence(finding.why)} Repair: ${finding.repair}.` },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: uriOf(file) },
                  region: { startLine: finding.line },
                },
              },
            ],
            properties: {
              lossless: finding.lossless,
              ...(finding.call === undefined ? {} : { call: finding.call }),
              ...(finding.tool === undefined ? {} : { tool: finding.tool }),
            },
          })),
        ),
      },
    ],
  };
}

export interface Unread {
  readonly file: string;
  readonly message: string;
}

function rule(code: FindingCode): object {
  const { message, repair, severity } = FINDINGS[code];
  return {
    id: code,
    shortDescription: { text: sentence(message) },
    help: { text: sentence(`Repair: ${repair}`) },
    defaultConfiguration: { level: severity },
  };
}

function notification({ file, message }: Unread): object {
  return {
    level: "error",
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(file) } } }],
  };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

/** A relative path as a URI reference: every part of it escaped. */
function uriOf(file: string): string {
  const parts = file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
  return file.startsWith("/") ? `file://${parts}` : parts;
}
