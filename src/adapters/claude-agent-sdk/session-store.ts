import { bytesSource, joined } from "../../base/text/source.ts";
import { examine } from "../../transcripts/doctor.ts";
import type { SessionKey, SessionStore, StoreEntry } from "./vendor.ts";

/** What was wrong with a session when it was loaded, and was repaired in what the host received. */
export interface LoadRepair {
  readonly key: SessionKey;
  /** The codes of what was wrong, as `holdfast doctor` reports them. */
  readonly findings: readonly string[];
}

/**
 * Wraps a session store so that its sessions can always be resumed: calls that a crash left unanswered are answered in
 * what is loaded. What is stored stays as it is, and a sound session is returned unchanged.
 */
export function repairOnLoad<S extends SessionStore>(store: S, repaired: (repair: LoadRepair) => void = () => {}): S {
  const load = async (key: SessionKey): Promise<StoreEntry[] | null> => {
    const entries = await store.load(key);
    if (entries === null || entries.length === 0) return entries;
    const bytes = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const found = await examine(bytesSource(key.sessionId, bytes), { format: "claude-code" });
    if ("unrecognised" in found || found.findings.length === 0) return entries;
    const chunks: Uint8Array[] = [];
    for await (const chunk of found.repaired()) chunks.push(chunk.slice());
    repaired({ key, findings: found.findings.map(({ code }) => code) });
    const lines = Buffer.from(joined(chunks)).toString("utf8").split("\n");
    return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as StoreEntry);
  };
  // Everything else is the store's own, with its own `this`.
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "load") return load;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
