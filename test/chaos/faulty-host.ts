import { type HostPort, realHost } from "../../src/index.ts";
import type { FaultPlan } from "./fault-plan.ts";

export const HOST_FAULTS = ["EIO", "ENOSPC", "EACCES", "EROFS", "EMFILE", "short"] as const;

/** What changes names: done, and reported as failed. */
export const DONE_AND_DENIED: ReadonlySet<string> = new Set([
  "rename",
  "linkAs",
  "unlink",
  "makeFolder",
  "removeFolder",
]);

/** Never asked of the system, or harmless to it. */
const SPARED: ReadonlySet<string> = new Set(["folderName", "close", "platform", "home", "user"]);

/** Stands between the workspace and the system, and fails what the plan names. */
export function faultyHost(plan: FaultPlan): HostPort {
  return new Proxy(realHost, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || SPARED.has(String(name))) return value;
      return (...args: unknown[]) => strike(plan, String(name), value as (...all: unknown[]) => unknown, args);
    },
  });
}

function strike(plan: FaultPlan, name: string, work: (...args: unknown[]) => unknown, args: unknown[]): unknown {
  const fault = plan.next("host", name);
  if (fault === undefined || (fault.error === "short" && name !== "write")) return work(...args);
  if (fault.error === "short") {
    const [handle, bytes, offset, length, position] = args as [number, Uint8Array, number, number, number];
    return work(handle, bytes, offset, Math.ceil(length / 2), position);
  }
  if (fault.when === "after") work(...args);
  const error = Object.assign(new Error(`${fault.error}: injected into ${name}`), { code: fault.error });
  if (name === "sync") return Promise.reject(error);
  throw error;
}
