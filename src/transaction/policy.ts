import type { Json } from "../base/json.ts";
import { shownName } from "../base/shown-name.ts";
import { reducers } from "../state/reducers.ts";
import { defineSlice, type AnySlice, type Slice, type SliceEvent } from "../state/slice.ts";
import type { Tool } from "./tool.ts";

/** What a policy is given to judge a call. */
export interface PolicyView {
  readonly tool: Tool;
  /** The arguments, as the handler gets them. */
  readonly input: unknown;
  readonly call: { readonly id: string; readonly epoch?: number };
  /** Reads a slice, as the call sees it. */
  readonly get: <T>(slice: Slice<T>) => T;
}

/** A rule about which calls may run. It remembers in slices, so its memory is rolled back with everything else. */
export interface ToolPolicy {
  readonly name: string;
  /** The slices it remembers in. The state must have them. */
  readonly slices?: readonly AnySlice[];
  /** Return why the call may not run, or undefined. Throwing denies it, too. */
  check(view: PolicyView): string | undefined;
  /**
   * Called again when the call is about to commit and no other call can: return why it may not, or undefined. `changes`
   * says whether the call changes a part of the root. Also called for calls that ran inside this one.
   */
  recheck?(view: PolicyView, changes: (part: string) => boolean): string | undefined;
  /** Events to remember after a success, committed with the call. Not called for a call that was denied or failed. */
  onResult?(view: PolicyView, result: Json): readonly SliceEvent[];
}

/** The slice with the names of the tools that have succeeded, for `sequentialDependency`. */
export const succeededTools = defineSlice("holdfast.succeeded-tools", {
  initial: [] as readonly string[],
  on: { ran: (now: readonly string[], name: string) => (now.includes(name) ? now : reducers.append(now, name)) },
});

/** A policy: a tool may run only after others have succeeded, e.g. `{ deploy: ["test", "build"] }`. */
export function sequentialDependency(needs: Readonly<Record<string, readonly string[]>>): ToolPolicy {
  return {
    name: "sequential-dependency",
    slices: [succeededTools],
    check: ({ tool, get }) => {
      const needed = Object.hasOwn(needs, tool.name) ? (needs[tool.name] ?? []) : [];
      const missing = needed.filter((name) => !get(succeededTools).includes(name));
      return missing.length === 0 ? undefined : `${tool.name} may run only after ${missing.join(", ")}.`;
    },
    onResult: ({ tool }) => [succeededTools.ran(tool.name)],
  };
}

/** The slice with the paths that have been read, for `readBeforeWrite`. */
export const readPaths = defineSlice("holdfast.read-paths", {
  initial: [] as readonly string[],
  on: { read: (now: readonly string[], path: string) => (now.includes(path) ? now : reducers.append(now, path)) },
});

/**
 * A policy: a path may be written only after it was read. `pathOf` returns the path that a call is about, or undefined
 * if it is about none.
 */
export function readBeforeWrite(pathOf: (tool: string, input: unknown) => string | undefined): ToolPolicy {
  return {
    name: "read-before-write",
    slices: [readPaths],
    check: ({ tool, input, get }) => {
      const path = tool.access === "read" ? undefined : pathOf(tool.name, input);
      if (path === undefined || get(readPaths).includes(path)) return undefined;
      return `${shownName(path)} must be read before it is written.`;
    },
    onResult: ({ tool, input }) => {
      const path = pathOf(tool.name, input);
      return path === undefined ? [] : [readPaths.read(path)];
    },
  };
}
