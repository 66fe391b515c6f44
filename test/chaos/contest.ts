/** What a contender is told, by the rig that starts it. */
export interface ContenderOrders {
  readonly path: string;
  readonly seed: string;
  readonly name: string;
  readonly mode: "versioned" | "leased";
  readonly appends: number;
  readonly leaseMs: number;
}

/** The session they all want. */
export const SHARED = { versioned: "list", leased: "prize" } as const;
