import type { PlantedBug } from "./planted-bug.ts";
import { COMMAND_BUGS } from "./planted-commands.ts";
import { KERNEL_BUGS } from "./planted-kernel.ts";
import { WRITEBACK_BUGS } from "./planted-writeback.ts";

const APPLY = "src/stores/apply.ts";
const RECORDS = "src/stores/sqlite/record-table.ts";
const OPEN = "src/stores/sqlite/open.ts";

type Run = Pick<PlantedBug, "rig" | "args">;

/** A rig is given the same time for every bug, so that one run without any shows that it is green that long. */
const KILL: Run = { rig: "kill", args: ["--only", "records", "--cases", "100"] };
const SWEEPS: Run = { rig: "kill", args: ["--only", "sweeps", "--cases", "400"] };
const POWER: Run = { rig: "power", args: ["--cases", "24"] };
const DRIVER: Run = { rig: "fault", args: ["--only", "driver", "--cases", "300"] };
const FILES: Run = { rig: "fault", args: ["--only", "files"] };
const FLIP: Run = { rig: "flip", args: ["--cases", "100"] };
const FLIP_NEAR: Run = { rig: "flip", args: ["--only", "near", "--cases", "200"] };
const FLIP_ROWS: Run = { rig: "flip", args: ["--only", "rows", "--cases", "80"] };
const FLIP_LOG: Run = { rig: "flip", args: ["--only", "wal", "--cases", "100"] };
const FLIP_SWAP: Run = { rig: "flip", args: ["--only", "swap", "--cases", "200"] };
const FLIP_BLOB: Run = { rig: "flip", args: ["--only", "blob", "--cases", "30"] };
const CONTENTION: Run = { rig: "contention", args: ["--cases", "4000"] };
const KILL_FILES: Run = { rig: "kill", args: ["--only", "files", "--cases", "60"] };
const WORKSPACE: Run = { rig: "workspace", args: ["--cases", "500"] };
const ESCAPE: Run = { rig: "escape", args: ["--cases", "60000"] };
const CREATION: Run = { rig: "syscall-kill", args: ["--only", "pwrite64", "--cases", "12"] };

const STORE_BUGS: readonly PlantedBug[] = [
  {
    name: "synchronous-normal",
    edits: [
      { file: "src/stores/sqlite/tables.ts", find: "{ power: 2, process: 1 }", replace: "{ power: 1, process: 1 }" },
    ],
    ...POWER,
  },
  {
    name: "never-synced-again",
    edits: [
      {
        file: "src/stores/sqlite/tables.ts",
        find: "if (each === this.#syncs) return;",
        replace: "if (each) return;",
      },
    ],
    ...POWER,
  },
  {
    name: "blob-file-not-synced",
    edits: [{ file: "src/blobs/files/write.ts", find: "if (options.sync) await handle.sync();", replace: "" }],
    ...FILES,
  },
  {
    name: "blob-file-not-synced-on-a-real-disk",
    edits: [{ file: "src/blobs/files/write.ts", find: "if (options.sync) await handle.sync();", replace: "" }],
    ...POWER,
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
    ...FILES,
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
    ...FILES,
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
    ...CONTENTION,
  },
  {
    name: "head-unchecked",
    edits: [
      {
        file: APPLY,
        find: 'if (!isSameLink(row.head, batch.after)) return refuse({ kind: "head-moved", head: row.head });',
        replace: "",
      },
    ],
    ...CONTENTION,
  },
  {
    name: "lease-taken-from-the-living",
    edits: [
      {
        file: APPLY,
        find: "row.owner !== null && row.leaseUntil > clock.now() && row.epoch !== batch.over",
        replace: "row.owner !== null && row.leaseUntil < 0",
      },
    ],
    ...CONTENTION,
  },
  {
    name: "busy-is-final",
    edits: [
      {
        file: "src/stores/sqlite/patience.ts",
        find: 'if (!HoldfastError.is(failure, "STORE_BUSY") || clock.monotonic() - started > busyLimit) throw failure;',
        replace: "if (started >= 0 && busyLimit >= 0) throw failure;",
      },
    ],
    ...CONTENTION,
  },
  {
    name: "wait-that-lets-the-process-end",
    edits: [{ file: "src/stores/sqlite/patience.ts", find: ', undefined, "keep-alive");', replace: ");" }],
    ...CONTENTION,
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
    ...DRIVER,
  },
  {
    name: "connection-kept-after-a-failed-commit",
    edits: [
      {
        file: "src/stores/sqlite/store.ts",
        find: "this.#dropWriter();\n      return { ok: false, undone",
        replace: "return { ok: false, undone",
      },
    ],
    ...DRIVER,
  },
  {
    name: "repair-not-saved",
    edits: [{ file: "src/turn/recover.ts", find: "await appendReserved(journal, drafts);", replace: "void drafts;" }],
    ...KILL,
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
    ...KILL,
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
    ...KILL,
  },
  {
    name: "sweep-without-a-second-look",
    edits: [
      {
        file: APPLY,
        find: "if (tables.blobs.place(name) !== undefined || tables.blobs.isNamed(name)) continue;",
        replace: "",
      },
    ],
    ...KILL,
  },
  {
    name: "content-unlinked-beside-its-records",
    edits: [{ file: APPLY, find: "if (swept.records > 0) return { ok: true, ...swept, more: true };", replace: "" }],
    ...SWEEPS,
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
    ...KILL,
  },
  {
    name: "batch-in-pieces",
    edits: [
      {
        file: RECORDS,
        find: "      record.dropped ?? null,\n      operation ?? null,\n    );",
        replace:
          '      record.dropped ?? null,\n      operation ?? null,\n    );\n    this.#sql("COMMIT").run();\n    this.#sql("BEGIN IMMEDIATE").run();',
      },
    ],
    ...KILL,
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
    ...CREATION,
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
    ...FLIP,
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
    ...FLIP_ROWS,
  },
  {
    name: "damaged-rows-not-mended",
    edits: [
      {
        file: "src/stores/sqlite/read.ts",
        find: "const row = tables.sessions.rebuilt(session);",
        replace: "const row = undefined as ReturnType<typeof tables.sessions.rebuilt>;",
      },
    ],
    ...FLIP_ROWS,
  },
  {
    name: "damaged-log-accepted",
    edits: [{ file: OPEN, find: 'if (durability === "power" && lost > 1)', replace: "if (lost < 0)" }],
    ...FLIP_LOG,
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
    ...FLIP_NEAR,
  },
  {
    name: "rows-of-others-believed",
    edits: [{ file: RECORDS, find: "if (!liesIn(run, row)) continue;", replace: "" }],
    ...FLIP_SWAP,
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
    ...FLIP_NEAR,
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
    ...FLIP_BLOB,
  },
  {
    name: "new-file-replaces-what-came",
    edits: [
      {
        file: "src/files/host/apply.ts",
        find: "root.port.linkAs(waiting.at(temp.name), folder.at(name));",
        replace: "root.port.rename(waiting.at(temp.name), folder.at(name)); return true;",
      },
    ],
    ...WORKSPACE,
  },
  {
    name: "old-file-removed-instead-of-rescued",
    edits: [
      {
        file: "src/files/host/apply.ts",
        find: "      if (stat !== undefined) this.moved.push({ name: step.aside, path: step.path, was: step.from, stat });",
        replace: "      if (stat !== undefined) root.port.unlink(place);",
      },
    ],
    ...WORKSPACE,
  },
  {
    name: "base-not-checked-before-the-decision",
    edits: [
      {
        file: "src/files/host/apply.ts",
        find: "if (moved !== undefined && sameEntry(moved, step.from)) {",
        replace: "if (moved !== undefined) {\n      root.port.unlink(place);",
      },
    ],
    ...WORKSPACE,
  },
  {
    name: "decided-plan-forgotten",
    edits: [
      {
        file: "src/files/host/plans.ts",
        find: 'const decided = plan.state === "applied" || (await this.#deps.decided(plan.intent));',
        replace: 'const decided = plan.state === "applied";',
      },
    ],
    ...KILL_FILES,
  },
  {
    name: "undecided-plan-carried-out",
    edits: [
      {
        file: "src/files/host/plans.ts",
        find: 'const decided = plan.state === "applied" || (await this.#deps.decided(plan.intent));',
        replace: "const decided = true;",
      },
    ],
    ...KILL_FILES,
  },
  {
    name: "folder-reached-by-its-path",
    edits: [
      {
        file: "src/files/host/folders.ts",
        find: "return this.port.folderName(this.#handle) === undefined ? this.#checked(names) : this.#pinned(names);",
        replace: "return this.#checked(names);",
      },
    ],
    ...ESCAPE,
  },
  {
    name: "open-calls-left-open",
    edits: [
      {
        file: "src/turn/recover.ts",
        find: "const drafts = [...closingsOf(journal.folded)];",
        replace: "const drafts: RecordDraft[] = [];",
      },
    ],
    rig: "replay",
    args: ["--cases", "12"],
  },
  {
    name: "sessions-remembered",
    edits: [
      {
        file: "src/turn/conversation.ts",
        find: "  readonly index = new HistoryIndex();",
        replace:
          "  static readonly all: Conversation[] = [];\n  readonly index = new HistoryIndex();\n  readonly listed = Conversation.all.push(this);",
      },
    ],
    rig: "soak",
    args: ["--cases", "300"],
  },
];

/** Each must turn its rig red. A bug that somebody could write belongs here before it is written. */
export const PLANTED: readonly PlantedBug[] = [...STORE_BUGS, ...COMMAND_BUGS, ...KERNEL_BUGS, ...WRITEBACK_BUGS];
