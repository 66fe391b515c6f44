/** One change of the source that breaks a promise, and the rig that must notice. */
export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
  readonly rig: string;
  readonly args: readonly string[];
}

const APPLY = "src/stores/apply.ts";
const TABLES = "src/stores/sqlite/tables.ts";
const OPEN = "src/stores/sqlite/open.ts";

const kill = (cases: number) => ({ rig: "kill", args: ["--cases", String(cases)] });
const ports = (cases: number) => ({ rig: "fault", args: ["--only", "ports", "--cases", String(cases)] });
const flip = (cases: number) => ({ rig: "flip", args: ["--cases", String(cases)] });
const contention = (cases: number) => ({ rig: "contention", args: ["--cases", String(cases)] });

/** Each must turn its rig red. A bug that somebody could write belongs here before it is written. */
export const PLANTED: readonly PlantedBug[] = [
  {
    name: "synchronous-normal",
    edits: [
      { file: "src/stores/sqlite/connect.ts", find: "{ power: 2, process: 1 }", replace: "{ power: 1, process: 1 }" },
    ],
    rig: "power",
    args: ["--cases", "16"],
  },
  {
    name: "blob-file-not-synced",
    edits: [{ file: "src/blobs/files/write.ts", find: "if (options.sync) await handle.sync();", replace: "" }],
    ...ports(1),
  },
  {
    name: "blob-file-not-synced-on-a-real-disk",
    edits: [{ file: "src/blobs/files/write.ts", find: "if (options.sync) await handle.sync();", replace: "" }],
    rig: "power",
    args: ["--cases", "24"],
  },
  {
    name: "blob-folder-not-synced",
    edits: [
      {
        file: "src/blobs/files/store.ts",
        find: "if (sync) await syncFolder(files, shelfOf(ref.name));",
        replace: "",
      },
    ],
    ...ports(1),
  },
  {
    name: "folder-trusted-because-it-is-there",
    edits: [
      {
        file: "src/blobs/files/folders.ts",
        find: "if (found && sync) await syncFolder(files, dirname(folder));",
        replace: "",
      },
    ],
    ...ports(600),
  },
  {
    name: "epoch-unchecked",
    edits: [
      {
        file: APPLY,
        find: "found.row.epoch === fence.epoch && found.row.owner !== null",
        replace: "found.row.owner !== null",
      },
    ],
    ...contention(4_000),
  },
  {
    name: "head-unchecked",
    edits: [
      {
        file: APPLY,
        find: "if (row.head.seq !== batch.after.seq || row.head.hash !== batch.after.hash) {",
        replace: "if (row.head.seq < 0) {",
      },
    ],
    ...contention(400),
  },
  {
    name: "lease-taken-from-the-living",
    edits: [
      {
        file: APPLY,
        find: "row.owner !== null && row.leaseUntil > batch.now && row.epoch !== batch.over",
        replace: "row.owner !== null && row.leaseUntil < 0",
      },
    ],
    ...contention(800),
  },
  {
    name: "busy-is-final",
    edits: [
      {
        file: "src/stores/sqlite/patience.ts",
        find: 'if (!HoldfastError.is(error, "STORE_BUSY") || clock.monotonic() - started > busyLimit) throw error;',
        replace: "if (started >= 0) throw error;",
      },
    ],
    ...contention(400),
  },
  {
    name: "wait-that-lets-the-process-end",
    edits: [{ file: "src/stores/sqlite/patience.ts", find: ', undefined, "keep-alive");', replace: ");" }],
    ...contention(400),
  },
  {
    name: "ack-before-commit",
    edits: [
      {
        file: "src/journal/journal.ts",
        find: "receipt = await this.#deps.store.commit(batch);",
        replace:
          "this.#deps.store.commit(batch).catch(() => undefined); receipt = { ok: true, first: batch.after.seq + 1, last: batch.after.seq + batch.records.length, repeated: false };",
      },
    ],
    ...ports(300),
  },
  {
    name: "connection-kept-after-a-failed-commit",
    edits: [
      {
        file: "src/stores/sqlite/store.ts",
        find: "closeQuietly(this.#writer?.connection);\n      this.#writer = undefined;\n      return { ok: false, undone",
        replace: "return { ok: false, undone",
      },
    ],
    ...ports(300),
  },
  {
    name: "repair-not-saved",
    edits: [{ file: "src/turn/recover.ts", find: "await journal.append(drafts);", replace: "void drafts;" }],
    ...kill(20),
  },
  {
    name: "dead-owner-never-noticed",
    edits: [
      {
        file: "src/stores/sqlite/store.ts",
        find: "if (owner === this.owner || !locks.isFree(owner)) return false;",
        replace: "if (locks !== undefined) return false;",
      },
    ],
    ...kill(10),
  },
  {
    name: "operation-id-ignored",
    edits: [
      {
        file: APPLY,
        find: "if (before !== undefined) return { ok: true, ...before, repeated: true };",
        replace: "void before;",
      },
    ],
    ...kill(15),
  },
  {
    name: "sweep-without-a-second-look",
    edits: [{ file: APPLY, find: "if (tables.blobPlace(name) !== undefined) continue;", replace: "" }],
    ...kill(30),
  },
  {
    name: "content-unlinked-beside-its-records",
    edits: [{ file: APPLY, find: "if (swept.records > 0) return { ok: true, ...swept, more: true };", replace: "" }],
    ...kill(100),
  },
  {
    name: "content-not-looked-for-at-commit",
    edits: [
      {
        file: APPLY,
        find: 'if (missing.length > 0) return refuse({ kind: "blobs-missing", names: missing });',
        replace: "void missing;",
      },
    ],
    ...kill(30),
  },
  {
    name: "batch-in-pieces",
    edits: [
      {
        file: TABLES,
        find: "      record.body,\n      operation ?? null,\n    );",
        replace:
          '      record.body,\n      operation ?? null,\n    );\n    this.#connection.exec("COMMIT; BEGIN IMMEDIATE");',
      },
    ],
    ...kill(40),
  },
  {
    name: "store-made-in-place",
    edits: [
      {
        file: OPEN,
        find: "const temporary = `${connect.path}.new-${random.hex(8)}`;",
        replace: "const temporary = connect.path; void random;",
      },
      { file: OPEN, find: "await publish(temporary, connect.path);", replace: "" },
      { file: OPEN, find: "removeLeftovers(temporary);\n", replace: "void removeLeftovers;\n" },
    ],
    rig: "syscall-kill",
    args: ["--only", "pwrite64", "--cases", "12"],
  },
  {
    name: "body-checksum-unchecked",
    edits: [
      {
        file: "src/records/chain.ts",
        find: '=== record.bodyDigest ? undefined : "body-altered";',
        replace: '=== "" ? "body-altered" : undefined;',
      },
    ],
    ...flip(300),
  },
  {
    name: "session-row-checksum-unchecked",
    edits: [
      {
        file: "src/stores/sqlite/session-rows.ts",
        find: "!== checksum)",
        replace: '=== "")',
      },
    ],
    ...flip(500),
  },
  {
    name: "damaged-log-accepted",
    edits: [{ file: OPEN, find: 'if (durability === "power" && lost > 1)', replace: "if (lost < 0)" }],
    ...flip(200),
  },
  {
    name: "damaged-checkpoint-trusted",
    edits: [
      {
        file: "src/journal/open.ts",
        find: 'return from > oldest && tail[0]?.kind !== "checkpoint-kept" ? proveFrom(store, row, oldest) : tail;',
        replace: "return tail;",
      },
    ],
    ...flip(500),
  },
  {
    name: "rows-of-others-believed",
    edits: [{ file: TABLES, find: "if (!liesIn(run, row)) continue;", replace: "" }],
    ...flip(500),
  },
  {
    name: "small-content-unproven",
    edits: [
      {
        file: "src/journal/blobs.ts",
        find: 'if (nameOfBytes(small) !== name) throw new HoldfastError("BLOB_CORRUPT", { name });',
        replace: "",
      },
    ],
    ...flip(500),
  },
  {
    name: "large-content-unproven",
    edits: [
      {
        file: "src/blobs/files/read.ts",
        find: 'if (sha256(chunk) !== hashes[index]) throw new HoldfastError("BLOB_CORRUPT", { name, chunk: index });',
        replace: "",
      },
    ],
    ...flip(200),
  },
];
