import { shownName } from "../../base/shown-name.ts";
import { effectWords, type KeptFile, type LookedRewind, type Recovered, type SessionLook } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { wrapped } from "../wrap.ts";
import { shortCall } from "./calls.ts";

const KEPT: Readonly<Record<KeptFile["why"], string>> = {
  changed: "somebody else changed it",
  removed: "somebody else removed it",
  made: "somebody else created it",
  "not-empty": "the folder holds something that is not ours",
  "no-folder": "its folder is gone",
  special: "it is no longer a file",
  "edited-before": "somebody else's edit lies further back",
};
/** Parts that are not slices have a line of their own, or none. */
const NO_SLICE: ReadonlySet<string> = new Set(["workspace", "files", "catalog", "resources"]);

/** What a rewind did or would do, for people. */
export function rewindLines(
  terminal: Terminal,
  look: SessionLook,
  report: LookedRewind,
  { recovered, mine = false }: { readonly recovered?: Recovered; readonly mine?: boolean } = {},
): readonly string[] {
  const { done, to, scope, calls, delta, files, effects, unfinished } = report;
  const lines = [
    paint(terminal, "bold", `${done ? "rewound" : "would rewind"} ${look.id} to record ${to}: ${scope.join(", ")}`),
  ];
  const cutOff = look.openCalls.map(({ callId, tool }) => ({ callId, tool, status: "canceled" }));
  const tools = new Map([...look.boundaries, ...cutOff].map((call) => [call.callId, call]));
  section(
    lines,
    "calls taken back",
    calls.map((id) => `${shortCall(id)}  ${tools.get(id)?.tool ?? ""}  ${tools.get(id)?.status ?? ""}`),
  );
  const slices = Object.keys(delta).filter((name) => !NO_SLICE.has(name));
  section(lines, "slices", slices);
  if (Object.hasOwn(delta, "files")) lines.push("  files kept beside the journal");
  section(lines, "files", [
    ...(files?.files ?? [])
      .filter(({ does }) => does !== "nothing")
      .map(({ path, does }) => `${does.padEnd(11)}  ${shownName(path)}`),
    ...(files?.kept ?? []).map(({ path, why }) => `${"keep".padEnd(11)}  ${shownName(path)}: ${KEPT[why]}`),
    ...(files?.unlike ?? []).map((path) =>
      paint(terminal, "red", `unlike       ${shownName(path)}: it does not hold what it should`),
    ),
  ]);
  section(
    lines,
    "outside",
    effects.map((effect) => paint(terminal, "yellow", effectWords(effect))),
  );
  section(
    lines,
    "sub-agents",
    (report.agents ?? []).flatMap(({ session, rewound, why }) => [
      `${session}: ${why ?? `${rewound?.calls.length ?? 0} calls taken back`}`,
      ...(rewound?.files?.files ?? []).map(({ path, does }) => `  ${does}  ${shownName(path)}`),
    ]),
  );
  const closing = done ? (recovered?.closedCalls ?? []).map(String) : look.openCalls.map(({ callId }) => callId);
  section(lines, done ? "cut off, closed first" : "open, and closed first", closing.map(shortCall));
  if (unfinished === true)
    lines.push(
      "  A commit may not be in place in the folder yet: opening the session finishes it and looks at the files again.",
    );
  if (look.writer === "held" && !done && !mine)
    lines.push(paint(terminal, "yellow", "  Another process is writing it: what is planned now may change."));
  if (!done && !mine) lines.push("nothing was changed; leave out --dry-run to do it");
  return lines.flatMap((line) => wrapped(line, terminal.columns, 4));
}

function section(lines: string[], title: string, rows: readonly string[]): void {
  if (rows.length === 0) return;
  lines.push(`  ${title} (${rows.length})`, ...rows.map((row) => `    ${row.trimEnd()}`));
}
