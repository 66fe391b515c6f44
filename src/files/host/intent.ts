import { sha256 } from "../../base/hash.ts";
import { parseJson } from "../../base/json.ts";
import { boolean, count, fields, list, matching, optional, string } from "../../records/shape.ts";
import { namesIn } from "../path.ts";
import { PLACES } from "./meta.ts";
import { isOwnName } from "./own.ts";
import { type Step, workspaceDelta } from "./part.ts";

/** A step with where its new content waits. */
export interface PlannedStep extends Step {
  /** The folder that holds the new content, and its name there: beside the target, or above it when that is yet to be made. */
  readonly temp?: { readonly folder: string; readonly name: string };
  /** An empty file that shows, before the decision, that the folder can be changed. */
  readonly probe?: { readonly folder: string; readonly name: string };
  /** Under which name what was there goes to rescue. */
  readonly aside: string;
  /** The name in rescue of the file that lay there before, with the content that is to come back. */
  readonly former?: string;
  /** A command has done it already, in place. */
  readonly placed?: true;
}

/**
 * What a commit is about to do to the files, written down before it is decided. Whoever opens the workspace next finds it,
 * asks the session's journal whether it was, and finishes it or takes it back.
 */
export interface Intent {
  readonly tx: string;
  /** Counts the commits of the workspace: of two that are found, the older one comes first. */
  readonly order: number;
  readonly session: string;
  /** The journal's head before the decision. */
  readonly after: number;
  readonly callId?: string;
  /** The commands whose work it is: their folder is needed until all is in place. */
  readonly exec?: string;
  /** Paths that are to be names of one file, when all is in place. */
  readonly links?: readonly Link[];
  readonly steps: readonly PlannedStep[];
}

/** A path that is another name of the file at `same` (a hard link). */
export interface Link {
  readonly path: string;
  readonly same: string;
}

/** `applied` is done as far as the process knew; a loss of power may still have taken it back. */
export type SlotState = "prepared" | "applied";

const APPLIED = "applied";
const ours = matching<string>("a name of ours", (text) => /^[0-9a-z-]{1,80}$/.test(text));
const plain = matching<string>("one name", (text) => text !== "" && !text.includes("/"));
const waiting = fields({ folder: string, name: plain });
const intentShape = fields({
  tx: ours,
  order: count,
  session: string,
  after: count,
  exec: optional(ours),
  links: optional(list(fields({ path: string, same: string }))),
  steps: list(
    fields({
      aside: ours,
      former: optional(ours),
      temp: optional(waiting),
      probe: optional(waiting),
      placed: optional(boolean),
    }),
  ),
});

interface ReadIntent {
  readonly state: SlotState;
  /** In which run of the system it was applied. */
  readonly boot: string | undefined;
  readonly intent: Intent;
  /** Where the line of the plan ends. */
  readonly end: number;
}

/** A line that proves itself. What the session remembers of a path is in its journal, and not needed here. */
export function slotText(intent: Intent): string {
  const steps = intent.steps.map((step) => ({ ...step, kept: null }));
  const body = JSON.stringify({ ...intent, steps });
  return `${sha256(body)} ${body}\n`;
}

/**
 * Comes after the line of a plan that is in place: a plan may be long, and writing it again would cost as much. `boot` is the
 * run of the system that has all of it on the disk or still in its memory.
 */
export function appliedText({ tx }: Intent, boot: string | undefined): string {
  return `${[APPLIED, tx, ...(boot === undefined ? [] : [boot])].join(" ")}\n`;
}

/**
 * Undefined for a slot that holds nothing, or was torn: what was torn was never decided, because it is synced first. A
 * slot can come with a stranger's repository, so nothing in it is believed to be a path before it has been looked at.
 */
export function readIntent(slot: Buffer): ReadIntent | undefined {
  const [line = "", after = ""] = slot.toString("utf8").split("\n", 2);
  const [sum, body] = [line.slice(0, 64), line.slice(65)];
  if (body === "" || sha256(body) !== sum) return undefined;
  const parsed = parseJson(body, { depth: 32, characters: Number.MAX_SAFE_INTEGER });
  if (!parsed.ok || intentShape.fault(parsed.value, "intent") !== undefined) return undefined;
  const intent = parsed.value as unknown as Intent;
  const places = intent.steps.flatMap(({ temp, probe }) => [temp, probe]);
  if (!places.every((place) => place === undefined || isOurs(place))) return undefined;
  const { steps } = workspaceDelta(parsed.value);
  for (const { path, same } of intent.links ?? []) for (const one of [path, same]) namesIn(one);
  const [word, tx, boot] = after.split(" ");
  const state = word === APPLIED && tx === intent.tx ? "applied" : "prepared";
  const end = Buffer.byteLength(line) + 1;
  return { state, boot, end, intent: { ...intent, steps: steps.map((step, at) => planned(step, intent.steps[at])) } };
}

/** New content waits under a name that only we give, or in a folder of commands. */
function isOurs({ folder, name }: NonNullable<PlannedStep["temp"]>): boolean {
  return isOwnName(name) || folder.startsWith(`${PLACES.exec.join("/")}/`);
}

function planned(step: Step, about: Partial<PlannedStep> = {}): PlannedStep {
  const { temp, probe, aside = "", former, placed } = about;
  const proper = (place: NonNullable<PlannedStep["temp"]>) => ({ ...place, folder: namesIn(place.folder).join("/") });
  return {
    ...step,
    aside,
    ...(former === undefined ? {} : { former }),
    ...(temp === undefined ? {} : { temp: proper(temp) }),
    ...(probe === undefined ? {} : { probe: proper(probe) }),
    ...(placed === true ? { placed } : {}),
  };
}
