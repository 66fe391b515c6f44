import type { Alignment } from "./align.ts";
import { ALIGNMENT_FAULT_KINDS, type AlignmentFault, type AlignmentFaultKind } from "./faults.ts";

/** Counts faults by kind, and what became of requests, since this object was made. */
export class AlignmentCounters {
  readonly #faults = Object.fromEntries(ALIGNMENT_FAULT_KINDS.map((kind) => [kind, 0])) as Record<
    AlignmentFaultKind,
    number
  >;
  #aligned = 0;
  #healed = 0;
  #refused = 0;
  #overridden = 0;

  count(alignment: Alignment): void {
    if (!alignment.ok) {
      this.#refused += 1;
      this.countFaults([...alignment.report.first, ...alignment.report.afterRebuild]);
      return;
    }
    const { healed, overridden } = alignment.aligned;
    this.countFaults([...healed, ...(overridden?.faults ?? [])]);
    if (overridden !== undefined) this.#overridden += 1;
    else if (healed.length > 0) this.#healed += 1;
    else this.#aligned += 1;
  }

  /** Counts faults that were found later, in the request itself. */
  countFaults(faults: readonly AlignmentFault[]): void {
    for (const { kind } of faults) this.#faults[kind] += 1;
  }

  get faults(): Readonly<Record<AlignmentFaultKind, number>> {
    return { ...this.#faults };
  }

  get requests(): { readonly [K in "aligned" | "healed" | "refused" | "overridden"]: number } {
    return { aligned: this.#aligned, healed: this.#healed, refused: this.#refused, overridden: this.#overridden };
  }
}
