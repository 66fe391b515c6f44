import { sha256 } from "../base/hash.ts";
import { defineSlice } from "../state/slice.ts";
import type { Call } from "../transaction/call.ts";
import type { SessionHistory } from "./session-history.ts";

/** A program that was given a name: state like any other, so it is rolled back, rewound and forked with the rest. */
export interface KeptProgram {
  readonly name: string;
  readonly digest: string;
  readonly code: string;
}

/** The oldest makes room: a state that grows with everything that was ever named would never shrink. */
const MOST = 64;

export const Programs = defineSlice("Programs", {
  initial: [] as readonly KeptProgram[],
  on: {
    kept: (now: readonly KeptProgram[], program: KeptProgram) =>
      [...now.filter(({ name }) => name !== program.name), program].slice(-MOST),
  },
});

const DIGEST = /^sha256:([0-9a-f]{64})$/;
const NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** Whether something can be kept under this name. */
export function isProgramName(name: string): boolean {
  return NAME.test(name);
}

/** What a record tells of a program: where it came from. */
export function sourceOf(code: string): string {
  return `sha256:${sha256(code)}`;
}

/** What is to be run, and whether it was there already. */
export type FoundProgram =
  | { readonly ok: true; readonly code: string; readonly hit: boolean }
  | { readonly ok: false; readonly fault: "program-unknown" | "program-altered"; readonly message: string };

/** The program under a name, or with a digest. One in which a secret was hidden is not what it was, and is not run. */
export async function findProgram(called: string, call: Call, history: SessionHistory): Promise<FoundProgram> {
  const digest = DIGEST.exec(called)?.[1];
  const kept = call.get(Programs).find((one) => (digest === undefined ? one.name === called : one.digest === digest));
  if (kept !== undefined && sha256(kept.code) !== kept.digest)
    return {
      ok: false,
      fault: "program-altered",
      message: `${called} is no longer what was kept: give its code again.`,
    };
  const code = kept?.code ?? (digest === undefined ? undefined : await history.program(digest));
  if (code !== undefined) return { ok: true, code, hit: true };
  const names = call.get(Programs).map(({ name }) => name);
  const known = names.length === 0 ? "none is kept" : `kept are ${names.join(", ")}`;
  return { ok: false, fault: "program-unknown", message: `There is no program ${called.slice(0, 80)}: ${known}.` };
}
