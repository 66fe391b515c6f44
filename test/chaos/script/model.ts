import type { Json } from "../../../src/base/json.ts";
import { keyFor, type Op, type Ops, type Said, type Script, type ToolName } from "./ops.ts";
import { keepNotes, keepSteps } from "./tools.ts";

/** What the tools of the script can change, in the plainest form. Never changed in place. */
export interface ModelState {
  readonly counter: number;
  readonly table: Readonly<Record<string, number>>;
  readonly steps: readonly string[];
  readonly diary: readonly string[];
  /** By path; a folder ends in a slash. */
  readonly files: Readonly<Record<string, string>>;
  readonly box: number;
}

export const EMPTY: ModelState = { counter: 0, table: {}, steps: [], diary: [], files: {}, box: 0 };

interface InnerEnd {
  readonly ok: boolean;
  readonly said: Said;
}

/** What a call makes of a state when it runs alone. */
export interface Performed {
  readonly state: ModelState;
  readonly said: Said;
  /** Calls inside it and inside those, in the order they were made. */
  readonly inner: readonly InnerEnd[];
  readonly ok: boolean;
  /** Effects it relies on, those of calls inside it included. */
  readonly asks: readonly string[];
}

interface Actor {
  readonly tool: string;
  state: ModelState;
  readonly said: Json[];
  readonly inner: InnerEnd[];
  readonly asks: string[];
}

/** Runs a script the way a book would: one after the other, nobody else about. */
export function perform(script: Script, state: ModelState, tool: string): Performed {
  const actor: Actor = { tool, state, said: [], inner: [], asks: [] };
  act(script.ops, actor);
  const ok = script.end === "returns" || script.end === "lingers";
  return { ...actor, ok };
}

/** The notes a script makes, in order, whatever becomes of the rest. */
export function notesIn(ops: Ops): readonly string[] {
  return ops.flatMap((op) => {
    if (op.op === "note") return [op.text];
    if (op.op === "attempt") return notesIn(op.ops);
    return op.op === "inner" && MAY_NEST[op.tool] ? notesIn(op.script.ops) : [];
  });
}

export function withNotes(state: ModelState, notes: readonly string[]): ModelState {
  return notes.length === 0 ? state : { ...state, diary: notes.reduce(keepNotes, state.diary) };
}

const MAY_NEST: Readonly<Record<ToolName, boolean>> = {
  write: true,
  steady: true,
  swift: true,
  outside: false,
  again: false,
};

function act(ops: Ops, actor: Actor): void {
  for (const op of ops) {
    const answer = (DO[op.op] as Doing<Op["op"]>)(op as never, actor);
    if (answer !== undefined) actor.said.push(answer);
  }
}

type Doing<K extends Op["op"]> = (op: Extract<Op, { readonly op: K }>, actor: Actor) => Json | undefined;

const DO: { readonly [K in Op["op"]]: Doing<K> } = {
  add: ({ by }, actor) => change(actor, { counter: actor.state.counter + by }),
  put: ({ key, to }, actor) => change(actor, { table: { ...actor.state.table, [key]: to } }),
  step: ({ name }, actor) => change(actor, { steps: keepSteps(actor.state.steps, name) }),
  note: ({ text }, actor) => change(actor, { diary: keepNotes(actor.state.diary, text) }),
  increment: (_, actor) => {
    const { counter } = actor.state;
    change(actor, { counter: counter + 1 });
    return counter;
  },
  see: ({ key }, { state }) => state.table[key] ?? null,
  sum: (_, { state }) => totalOf(state),
  write: ({ path, text, times = 1 }, actor) => {
    const folder = path.includes("/") ? { "d/": "" } : {};
    return change(actor, { files: { ...actor.state.files, ...folder, [path]: text.repeat(times) } });
  },
  read: ({ path }, { state }) => state.files[path]?.slice(0, 40) ?? "FILE_NOT_FOUND",
  list: ({ path }, { state }) => listed(state.files, path),
  remove: ({ path }, actor) => {
    const { files } = actor.state;
    const gone = Object.keys(files).filter((other) => other === path || other.startsWith(`${path}/`));
    if (gone.length === 0) return "FILE_NOT_FOUND";
    change(actor, { files: Object.fromEntries(Object.entries(files).filter(([other]) => !gone.includes(other))) });
    return "ok";
  },
  move: ({ from, to }, actor) => {
    const { [from]: text, ...rest } = actor.state.files;
    if (text === undefined) return "FILE_NOT_FOUND";
    if (actor.state.files[to] !== undefined) return "FILE_EXISTS";
    const folder = to.includes("/") ? { "d/": "" } : {};
    change(actor, { files: { ...rest, ...folder, [to]: text } });
    return "ok";
  },
  box: ({ by }, actor) => {
    change(actor, { box: actor.state.box + by });
    return actor.state.box;
  },
  wait: () => undefined,
  attempt: ({ keep, ops }, actor) => {
    const [before, calls, asks] = [actor.state, actor.inner.length, actor.asks.length];
    act(ops, actor);
    if (keep) return undefined;
    actor.state = { ...before, diary: actor.state.diary };
    actor.inner.push(...actor.inner.splice(calls).map(takenBack));
    actor.asks.splice(asks);
    return undefined;
  },
  inner: ({ tool, script }, actor) => {
    if (!MAY_NEST[tool]) {
      actor.inner.push({ ok: false, said: [] });
      return "failed";
    }
    const { state, said, ok, asks, inner } = perform(script, actor.state, tool);
    if (ok) actor.asks.push(...asks);
    actor.inner.push({ ok, said }, ...(ok ? inner : inner.map(takenBack)));
    actor.state = ok ? state : { ...actor.state, diary: state.diary };
    return ok ? { said } : "failed";
  },
  effect: ({ name, key }, actor) => {
    actor.asks.push(`${actor.tool}/${name}/${keyFor(key, actor.state.counter)}`);
    return undefined;
  },
};

function takenBack(inner: InnerEnd): InnerEnd {
  return { ...inner, ok: false };
}

function change(actor: Actor, to: Partial<ModelState>): undefined {
  actor.state = { ...actor.state, ...to };
  return undefined;
}

export function totalOf({ table }: ModelState): number {
  return Object.values(table).reduce((sum, value) => sum + value, 0);
}

function listed(files: ModelState["files"], path: string): Json {
  const above = path === "" ? "" : `${path}/`;
  if (above !== "" && files[above] === undefined) return "FILE_NOT_FOUND";
  const names = Object.keys(files)
    .filter((other) => other.startsWith(above) && other !== above)
    .map((other) => other.slice(above.length).split("/")[0] as string);
  return [...new Set(names)].sort();
}
