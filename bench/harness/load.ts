import { readdirSync } from "node:fs";
import type { Workload } from "./contract.ts";

const FOLDER = new URL("../workloads/", import.meta.url);

export function workloadNames(): readonly string[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export async function loadWorkload(name: string): Promise<Workload> {
  const module = (await import(new URL(`${name}/workload.ts`, FOLDER).href)) as { readonly default: Workload };
  return module.default;
}
