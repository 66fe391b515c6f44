import { canonicalHash } from "../../base/hash.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import { boolean, fields, list, oneOf, optional, string } from "../../records/shape.ts";
import type { Content, Part } from "../../state/part.ts";
import { liesBelow, namesIn } from "../path.ts";
import { differences, entriesOf, lookUp, type SortedMap, withKey, withoutKey } from "../sorted-map.ts";
import { entryOf, entryShape, type HostEntry, sameEntry } from "./entry.ts";

export const WORKSPACE_PART = "workspace";

/**
 * How a session's files lie: changed on the disk, kept above it and never written there, or only looked at. Which folder
 * it is, is told by its own id and not by its path: a project may be moved.
 */
export interface Binding {
  readonly mode: "host" | "memory" | "read-only";
  readonly workspace: string;
}

/**
 * What waits for the commit: bytes that are held, a file of ours, a file at another path of the workspace; or what a
 * command left, ready to be moved out of where it ran (`lies`), or in place already (`placed`, which is also said of what
 * is no file). A command is named by the folder it ran in.
 */
export type StagedContent =
  | { readonly bytes: Uint8Array }
  | { readonly file: string }
  | { readonly at: string }
  | { readonly lies: string; readonly exec: string }
  | { readonly placed: string };

/** One path that this session changed. */
export interface Touched {
  /** As we left it. */
  readonly now: HostEntry;
  /** As it was before us: before the first of our changes that nobody else's edit came between. */
  readonly was: HostEntry;
  /** Names that run of changes. Another run began when somebody else had edited the file in between. */
  readonly since: string;
  /** An earlier run of ours came before their edit. */
  readonly interrupted?: true;
  /** Only inside a call: what the path held when the call first touched it. Gone at the commit. */
  readonly staged?: { readonly from: HostEntry; readonly content?: StagedContent };
}

export interface WorkspaceValue {
  readonly binding?: Binding;
  readonly paths: SortedMap<Touched>;
}

export const EMPTY_WORKSPACE: WorkspaceValue = { paths: undefined };

/** What one commit does to one path. `kept` is what the session remembers of it; null when it forgets the path. */
export interface Step {
  readonly path: string;
  readonly from: HostEntry;
  readonly to: HostEntry;
  readonly kept: Pick<Touched, "was" | "since" | "interrupted"> | null;
}

export interface WorkspaceDelta {
  readonly steps: readonly Step[];
  readonly binding?: Binding;
  /** Names the commit, so that whoever finds it prepared can ask whether it was decided. */
  readonly tx?: string;
}

const keptShape = fields({ was: entryShape, since: string, interrupted: optional(boolean) });
const bindingShape = fields({ mode: oneOf("host", "memory", "read-only"), workspace: string });
const stepShape = fields({ path: string, from: entryShape, to: entryShape });
const deltaShape = fields({ steps: list(stepShape), binding: optional(bindingShape), tx: optional(string) });
const valueShape = fields({
  binding: optional(bindingShape),
  paths: list(
    fields({ path: string, now: entryShape, was: entryShape, since: string, interrupted: optional(boolean) }),
  ),
});

/** A value with what the disk was found to hold: where that is not what the session last left, the change begins there. */
export function withFound(value: WorkspaceValue, found: ReadonlyMap<string, HostEntry>): WorkspaceValue {
  waiting.set(value, new Map([...found].map(([path, from]) => [path, { from }])));
  return value;
}

/** A change of one path by a call, on whatever the session has made of the workspace by then. */
export function stage(
  value: WorkspaceValue,
  path: string,
  to: HostEntry,
  seen: { readonly before: Touched | undefined; readonly from: HostEntry },
  content?: StagedContent,
): WorkspaceValue {
  const before = lookUp(value.paths, path);
  const waiting = content === undefined ? {} : { content };
  if (before?.staged !== undefined) {
    const was = withMode(before.was, to);
    const again = { ...before, was, now: to, staged: { from: withMode(before.staged.from, to), ...waiting } };
    return { ...value, paths: withKey(value.paths, path, again) };
  }
  // Another call has changed it since this one looked: writing is not reading, so it goes on from there.
  const from = withMode(before === seen.before || before === undefined ? seen.from : before.now, to);
  const run =
    before !== undefined && sameEntry(before.now, from)
      ? runIn({ ...before, was: withMode(before.was, to) })
      : { was: from, since: runOf(path, from, before?.since), ...(before === undefined ? {} : INTERRUPTED) };
  return { ...value, paths: withKey(value.paths, path, { ...run, now: to, staged: { from, ...waiting } }) };
}

/** Where the mode of a folder is part of the change, so is the one that it had: without it, that would not come back. */
function withMode(entry: HostEntry, to: HostEntry): HostEntry {
  return entry.kind === "folder" && to.kind === "folder" && to.exact === true ? { ...entry, exact: true } : entry;
}

const INTERRUPTED = { interrupted: true } as const;

/** Whether the session remembers the same of a path: a value that was read again is another one, and says the same. */
export function sameTouched(a: Touched | undefined, b: Touched | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.since === b.since && a.interrupted === b.interrupted && sameEntry(a.now, b.now) && sameEntry(a.was, b.was);
}

function runIn({ was, since, interrupted }: Pick<Touched, "was" | "since" | "interrupted">) {
  return { was, since, ...(interrupted === true ? INTERRUPTED : {}) };
}

function runOf(path: string, from: HostEntry, after = ""): string {
  return canonicalHash([path, from as unknown as Json, after]).slice(0, 16);
}

/** What a call had staged, by the value it became. */
const waiting = new WeakMap<WorkspaceValue, ReadonlyMap<string, NonNullable<Touched["staged"]>>>();

/** Where the content of a change waits, by path. Needed once, when the change is written down, and kept no longer. */
export function takeStaged(value: WorkspaceValue): ReadonlyMap<string, StagedContent> {
  const staged = waiting.get(value);
  waiting.delete(value);
  return new Map(
    [...(staged ?? [])].flatMap(([path, { content }]) => (content === undefined ? [] : [[path, content]])),
  );
}

/** The workspace as a part of the root: not the files, which lie on the disk, but what this session did to which. */
export const workspacePart: Part<WorkspaceValue> = {
  name: WORKSPACE_PART,
  reserved: true,
  exact: true,
  policy: "state",
  initial: EMPTY_WORKSPACE,
  encode: ({ binding, paths }) =>
    ({
      ...(binding === undefined ? {} : { binding }),
      paths: [...entriesOf(paths)].map(([path, touched]) => ({ path, now: touched.now, ...runIn(touched) })),
    }) as unknown as Json,
  decode: (data) => {
    mustFit(valueShape.fault(data, WORKSPACE_PART));
    const { binding, paths } = data as unknown as {
      readonly binding?: Binding;
      readonly paths: readonly (Touched & { readonly path: string })[];
    };
    const map = paths.reduce<SortedMap<Touched>>((now, { path, ...touched }) => {
      const kept = { now: entryOf(touched.now), ...runIn({ ...touched, was: entryOf(touched.was) }) };
      return withKey(now, properPath(path), kept);
    }, undefined);
    return { paths: map, ...(binding === undefined ? {} : { binding }) };
  },
  /** Without what only the call needed: that waits aside until the change is written down. */
  accept: (before, after) => {
    const staged = new Map<string, NonNullable<Touched["staged"]>>();
    let paths = before.paths;
    for (const { key, after: is } of differences(before.paths, after.paths)) {
      if (is?.staged === undefined) paths = is === undefined ? withoutKey(paths, key) : withKey(paths, key, is);
      else if (!sameEntry(is.staged.from, is.now)) {
        staged.set(key, is.staged);
        paths = withKey(paths, key, { now: is.now, ...runIn(is) });
      } // else: written as it was, so nothing happened
    }
    const value: WorkspaceValue =
      paths === before.paths && after.binding === before.binding ? before : { ...after, paths };
    if (staged.size > 0) waiting.set(value, staged);
    return value;
  },
  change: (before, after) => {
    const staged = waiting.get(after);
    const steps: Step[] = [];
    const contents: Content[] = [];
    for (const { key: path, before: was, after: is } of differences(before.paths, after.paths)) {
      const step = stepBetween(path, was, is, staged?.get(path)?.from);
      if (step === undefined) continue;
      steps.push(step);
      const content = staged?.get(path)?.content;
      if (content !== undefined && "bytes" in content && step.to.kind === "file")
        contents.push({ name: step.to.digest, bytes: content.bytes });
    }
    const bound = after.binding === undefined || after.binding === before.binding ? {} : { binding: after.binding };
    if (steps.length === 0 && bound.binding === undefined) return undefined;
    const delta: WorkspaceDelta = { steps, ...bound };
    return { delta: delta as unknown as Json, contents };
  },
  apply: (value, data) => {
    const { steps, binding = value.binding } = workspaceDelta(data);
    const paths = steps.reduce(withStep, value.paths);
    return { paths, ...(binding === undefined ? {} : { binding }) };
  },
  pick: (now, then, wanted) => {
    for (const path of wanted) namesIn(path);
    const chosen = (path: string) => wanted.some((folder) => liesBelow(path, folder));
    const cleared = [...entriesOf(now.paths)].reduce(
      (paths, [path]) => (chosen(path) ? withoutKey(paths, path) : paths),
      now.paths,
    );
    const paths = [...entriesOf(then.paths)].reduce(
      (all, [path, touched]) => (chosen(path) ? withKey(all, path, touched) : all),
      cleared,
    );
    return { ...now, paths };
  },
};

/** Data that claims to be a change of the workspace. A path in it is as little trusted as one from a tool. */
export function workspaceDelta(data: Json): WorkspaceDelta {
  mustFit(deltaShape.fault(data, WORKSPACE_PART));
  const delta = data as unknown as WorkspaceDelta & { readonly steps: readonly (Step & { readonly kept: Json })[] };
  return {
    ...delta,
    steps: delta.steps.map(({ path, from, to, kept }): Step => {
      if (kept !== null) mustFit(keptShape.fault(kept, "kept"));
      const run = kept as Step["kept"];
      return {
        path: properPath(path),
        from: entryOf(from),
        to: entryOf(to),
        kept: run === null ? null : runIn({ ...run, was: entryOf(run.was) }),
      };
    }),
  };
}

function stepBetween(
  path: string,
  was: Touched | undefined,
  is: Touched | undefined,
  found: HostEntry | undefined,
): Step | undefined {
  // Back to before this session: what was there comes back.
  if (is === undefined)
    return was === undefined ? undefined : { path, from: found ?? was.now, to: was.was, kept: null };
  return { path, from: found ?? was?.now ?? is.was, to: is.now, kept: runIn(is) };
}

function withStep(paths: SortedMap<Touched>, { path, to, kept }: Step): SortedMap<Touched> {
  return kept === null ? withoutKey(paths, path) : withKey(paths, path, { now: to, ...kept });
}

function properPath(path: string): string {
  const proper = namesIn(path).join("/");
  if (proper !== path || path === "")
    throw new HoldfastError("FILE_BAD_PATH", { path, fault: "not in its plain form" });
  return path;
}

function mustFit(fault: string | undefined): void {
  if (fault !== undefined) throw new HoldfastError("SNAPSHOT_CORRUPT", { entry: WORKSPACE_PART, detail: fault });
}
