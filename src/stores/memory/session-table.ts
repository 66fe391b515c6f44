import type { SessionRow } from "../../contracts/store.ts";
import type { SessionId } from "../../records/ids.ts";
import type { SessionTable } from "../tables.ts";

/** A map of immutable rows. A snapshot shares it: whoever writes next copies it first. */
export class MemorySessionTable implements SessionTable {
  #rows = new Map<SessionId, SessionRow>();
  #isShared = false;
  readonly #deleted = new Map<SessionId, number>();

  snapshot(): MemorySessionTable {
    const copy = new MemorySessionTable();
    copy.#rows = this.#rows;
    this.#isShared = true;
    return copy;
  }

  find(id: SessionId): SessionRow | undefined {
    return this.#rows.get(id);
  }

  knows(id: SessionId): boolean {
    return this.#rows.has(id);
  }

  /** Memory is not damaged, or nobody could tell. */
  keepWitness(): void {}

  mend(): boolean {
    return false;
  }

  isProven(id: SessionId): boolean {
    return this.#rows.has(id);
  }

  all(): Iterable<SessionRow> {
    return this.#rows.values();
  }

  after(after: string, limit: number): readonly SessionRow[] {
    return [...this.#rows.values()]
      .filter((row) => row.id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  add(row: SessionRow): void {
    this.put(row);
  }

  put(row: SessionRow): void {
    this.#own().set(row.id, row);
  }

  lastSeen(id: SessionId): SessionRow | undefined {
    return this.#rows.get(id);
  }

  move(from: SessionRow, to: SessionRow): boolean {
    if (this.#rows.get(from.id) !== from) return false;
    this.put(to);
    return true;
  }

  remove({ id, epoch }: SessionRow): void {
    this.forget(id, epoch);
  }

  forget(id: SessionId, epoch: number): void {
    this.#own().delete(id);
    this.#deleted.set(id, epoch);
  }

  epochBefore(id: SessionId): number {
    return this.#deleted.get(id) ?? 0;
  }

  #own(): Map<SessionId, SessionRow> {
    if (this.#isShared) this.#rows = new Map(this.#rows);
    this.#isShared = false;
    return this.#rows;
  }
}
