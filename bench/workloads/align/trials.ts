import type { Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import {
  type Alignment,
  alignPrompt,
  type CatalogChange,
  type CatalogState,
  type CatalogTool,
  changeCatalog,
  definePrompt,
  hashTools,
  INITIAL_CATALOG,
  type Prompt,
  renderPrompt,
  type SessionToolCatalogSnapshot,
  snapshotCatalog,
  type StorySources,
  validatePromptCatalogAlignment,
} from "../../../src/index.ts";
import { makeSections, makeTool, makeTools } from "./build.ts";

const TIMES = 101;

/** A catalog, a prompt and what the last request was made of. */
interface Station {
  readonly prompt: Prompt;
  readonly seed: string;
  tools: readonly CatalogTool[];
  state: CatalogState;
  snapshot: SessionToolCatalogSnapshot;
  held: NonNullable<StorySources["held"]>;
  turns: number;
}

/** The same request again: everything is at hand, and checked all the same. */
export function unchanged(): Trial {
  return trial((station) => station);
}

/** The user goes into plan mode and back. */
export function flipped(): Trial {
  return trial((station) => change(station, { mode: station.state.mode === "act" ? "plan" : "act" }));
}

/** One tool is described anew. */
export function toolChanged(): Trial {
  return trial((station) => {
    const fresh = makeTool(1, `${station.seed} ${station.turns}`);
    station.tools = station.tools.with(1, fresh);
    return change(station, { tools: hashTools(station.tools) });
  });
}

/** Every tool is new, as after a restart. */
export function allNew(): Trial {
  return trial((station) => {
    station.tools = makeTools(station.tools.length, `${station.seed} ${station.turns}`);
    return change(station, { tools: hashTools(station.tools) });
  });
}

/** The seed's check of the same prompt as plain text: no hashes, no segments, no tools. */
export function seedCheck(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => stationOf(task),
    run: ({ held: { prompt }, snapshot }) =>
      validatePromptCatalogAlignment(`${prompt.prefixText}\n\n${prompt.tailText}`, snapshot, false, false),
    verify: ({ ok }) => {
      if (!ok) throw new Error("misaligned");
      return undefined;
    },
  });
}

function trial(next: (station: Station) => Station): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => stationOf(task),
    run: (station) => {
      station.turns += 1;
      return align(next(station));
    },
    verify: (alignment, station) => {
      if (!alignment.ok) throw new Error(alignment.report.says.join("; "));
      const { catalog, prompt } = alignment.aligned;
      if (catalog.epoch !== station.state.epoch) throw new Error("the catalog is stale");
      if (prompt.prefixText.length < 50_000) throw new Error("the prompt is too short");
      return undefined;
    },
  });
}

function align(station: Station): Alignment {
  const alignment = alignPrompt({
    held: station.held,
    takeSnapshot: () => station.snapshot,
    render: (catalog) => renderPrompt(station.prompt, { catalog }),
    live: () => station.state,
  });
  if (alignment.ok) station.held = alignment.aligned;
  return alignment;
}

function change(station: Station, to: CatalogChange): Station {
  station.state = changeCatalog(station.state, to, "changed");
  station.snapshot = snapshotCatalog(station.state, station.tools);
  return station;
}

function stationOf({ size, seed, round }: Task): Station {
  const tools = makeTools(size, `${seed}-${round}`);
  const prompt = definePrompt("bench", makeSections(tools, seed));
  const state = changeCatalog(INITIAL_CATALOG, { tools: hashTools(tools) }, "opened");
  const snapshot = snapshotCatalog(state, tools);
  const rendered = renderPrompt(prompt, { catalog: snapshot });
  if (!rendered.ok) throw new Error(JSON.stringify(rendered.error));
  return { prompt, seed, tools, state, snapshot, held: { prompt: rendered.value, catalog: snapshot }, turns: 0 };
}
