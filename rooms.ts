/**
 * The architecture as data: every room and the rooms it may import. A test reads this table (test/gates/rooms.test.ts).
 * A lattice, not a ladder: the low three, then three columns that do not see each other, joined by `turn`.
 */
const LOW = ["base", "records", "contracts"] as const;

export const ROOMS = {
  base: [],
  records: ["base"],
  contracts: ["base", "records", "wire"], // a model is asked in items, and answers in items

  // the conversation
  wire: ["base", "records"],
  history: [...LOW, "wire"],
  context: [...LOW, "wire", "history"],

  // the story
  catalog: [...LOW],
  prompt: [...LOW, "catalog"],
  alignment: [...LOW, "catalog", "prompt"],

  // the truth
  journal: [...LOW],
  state: [...LOW, "journal"],
  files: [...LOW, "journal", "state"],
  exec: [...LOW, "journal", "state", "files"],
  transaction: [...LOW, "journal", "state", "files", "exec"],

  turn: [
    ...LOW,
    "wire",
    "history",
    "context",
    "catalog",
    "prompt",
    "alignment",
    "journal",
    "state",
    "files",
    "exec",
    "transaction",
  ],

  // the edges
  blobs: [...LOW],
  telemetry: [...LOW], // hears of events; sees nothing that makes them
  adapters: [...LOW, "wire", "transcripts", "door"], // a host's own sessions are mended when it loads them
  stores: [...LOW, "blobs"], // an embedded store brings the folder for its large content
  transcripts: [...LOW, "wire", "history"],
  tools: [...LOW, "door"],
  testing: [...LOW, "door"],
  cli: [...LOW, "door", "stores", "blobs", "adapters", "transcripts", "tools", "testing"],

  // src/index.ts
  door: [
    ...LOW,
    "wire",
    "history",
    "context",
    "catalog",
    "prompt",
    "alignment",
    "journal",
    "state",
    "files",
    "exec",
    "transaction",
    "turn",
  ],
} as const satisfies Record<string, readonly string[]>;
