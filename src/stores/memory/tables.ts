import type { Tables } from "../tables.ts";
import { MemoryBlobRows } from "./blob-rows.ts";
import { MemoryRecordTable } from "./record-table.ts";
import { MemorySessionTable } from "./session-table.ts";

/** Plain maps of immutable values, which a snapshot shares. */
export class MemoryTables implements Tables {
  readonly blobs: MemoryBlobRows;
  readonly records: MemoryRecordTable;
  readonly sessions: MemorySessionTable;

  constructor(
    blobs: MemoryBlobRows = new MemoryBlobRows(),
    records: MemoryRecordTable = new MemoryRecordTable(blobs),
    sessions: MemorySessionTable = new MemorySessionTable(),
  ) {
    this.blobs = blobs;
    this.records = records;
    this.sessions = sessions;
  }

  snapshot(): MemoryTables {
    const blobs = this.blobs.snapshot();
    return new MemoryTables(blobs, this.records.snapshot(blobs), this.sessions.snapshot());
  }
}
