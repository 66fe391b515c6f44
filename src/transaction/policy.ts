import type { Json } from "../base/json.ts";
import { shownName } from "../base/shown-name.ts";
import { reducers } from "../state/reducers.ts";
import { defineSlice, type AnySlice, type Slice, type SliceEvent } from "../state/slice.ts";
import type { Tool } from "./tool.ts";

export interface PolicyView {
  readonly tool: Tool;
  /** The arguments as the handler gets them. */
  readonly input: unknown;
  readonly call: { readonly id: string; readonly epoch?: number };
  readonly get: <T>(slice: Slice<T>) => T;
}

/** A rule about which calls may run. Its memory lies in slices, so it is rolled back and restored with everything else. */
export interface ToolPolicy {
  readonly name: string;
  /** Slices it remembers in; the state must have them. */
  readonly slices?: readonly AnySlice[];
  /** Why the call may not run, or nothing. Throwing denies too: a rule that cannot be checked is not kept. */
  check(view: PolicyView): string | undefined;
  /**
   * Asked again when the call is about to commit and nobody else can: why it may not, or nothing. `changes` tells
   * whether a part of the root would be another. Calls that ran inside are asked about, too.
   */
  recheck?(view: PolicyView, changes: (part: string) => boolean): string | undefined;
  /** What to remember after a success; committed with the call. Not called for a call that was denied or failed. */
  onResult?(view: PolicyView, result: Json): readonly SliceEvent[];
}

/** Tools that have succeeded, for policies that demand one before another. */
export const succeededTools = defineSlice("holdfast.succeeded-tools", {
  initial: [] as readonly string[],
  on: { ran: (now: readonly string[], name: string) => (now.includes(name) ? now : reducers.append(now, name)) },
});

/** A tool may run only after others have succeeded: `{ deploy: ["test", "build"] }`. */
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

/** Paths that have been read, for `readBeforeWrite`. */
export const readPaths = defineSlice("holdfast.read-paths", {
  initial: [] as readonly string[],
  on: { read: (now: readonly string[], path: string) => (now.includes(path) ? now : reducers.append(now, path)) },
});

/** A path may be written only after it was read: `pathOf` tells which path a call means. */
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
