import { cpus, loadavg, totalmem } from "node:os";
import type { Verdict } from "./bars.ts";
import { inUnit } from "./bars.ts";
import type { Case, Unit, Workload } from "./contract.ts";
import { peerVersions } from "./peers.ts";
import type { Results } from "./results.ts";

/** What a reader must know to compare two runs. */
export function machine() {
  return {
    node: process.versions.node,
    sqlite: process.versions["sqlite"] ?? "none",
    peers: peerVersions(),
    platform: `${process.platform} ${process.arch}`,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
    load: loadavg()[0] ?? 0,
  };
}

export function tables(workload: Workload, results: Results): string {
  return workload.cases.map((one) => caseTable(one, results)).join("\n\n");
}

export function barLine(name: string, verdict: Verdict): string {
  return `${name}: ${verdict.line}`;
}

const HEADINGS = ["cell", "size", "figure", "median", "lowest", "highest", "ratio", "grows"] as const;

function caseTable(one: Case, results: Results): string {
  const found = results.all.filter(({ task }) => task.case === one.name);
  const sizes = [...new Set(found.map(({ task }) => task.size))].sort((a, b) => a - b);
  const rows = Object.keys(one.cells).flatMap((cell) => {
    const figures = Object.keys(found.find(({ task }) => task.cell === cell)?.sample.figures ?? {});
    return figures.flatMap((figure) =>
      sizes.map((size, index): readonly string[] => {
        const place = { case: one.name, cell, size, figure };
        const values = results.values(place);
        const unit = (value: number) =>
          inUnit(figure === "total" && one.per !== undefined ? value / size : value, unitOf(figure));
        return [
          cell,
          size.toLocaleString("en"),
          figure,
          unit(results.median(place)),
          unit(Math.min(...values)),
          unit(Math.max(...values)),
          ratioTo(one, results, place),
          index === sizes.length - 1 && index > 0 ? results.growth({ case: one.name, cell, figure }).toFixed(2) : "",
        ];
      }),
    );
  });
  const title = `${one.name}${one.per === undefined ? "" : `, total per ${one.per}`}; ratio to ${one.reference}`;
  return [title, ...columns([HEADINGS, ...rows])].join("\n");
}

/** Nanoseconds, unless the figure's name says otherwise. */
function unitOf(figure: string): Unit {
  if (figure.includes(" per ")) return "count";
  return figure.includes("bytes") ? "bytes" : "ns";
}

function ratioTo(
  one: Case,
  results: Results,
  place: { readonly case: string; readonly size: number; readonly figure: string; readonly cell: string },
): string {
  const reference = { ...place, cell: one.reference };
  const known = results.all.some(
    ({ task, sample }) => task.case === one.name && task.cell === one.reference && place.figure in sample.figures,
  );
  return known ? results.ratio(place, reference).toFixed(2) : "";
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === 0 || index === 2 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
