import { canonicalHash } from "../../base/hash.ts";
import type { Json } from "../../base/json.ts";
import type { PageKind } from "../kind.ts";
import type { PageScope } from "../page.ts";

/** The kinds of pages that are kept beyond any view. */
export type DurableKind = Extract<PageKind, "constraint" | "plan" | "preference">;

/**
 * `append` and `merge` keep what is there; `set-with-version` replaces exactly the version that its writer has seen.
 */
export type WritebackOp = "append" | "merge" | "set-with-version";

/** A proposed change of one field of a durable page. */
export interface WritebackTuple {
  readonly kind: DurableKind;
  /** The name of the page within its kind. */
  readonly page: string;
  readonly field: string;
  readonly op: WritebackOp;
  readonly value: Json;
  readonly scope: PageScope;
  /** A handle of what the change is based on; it must resolve in this session. */
  readonly evidence?: string;
  /** For `set-with-version`: the version that its writer has seen; "" for a field that does not exist yet. */
  readonly version?: string;
}

/** A staged change: with an id, its place in the order of changes, and who wants it. */
export interface Writeback extends WritebackTuple {
  /** Unique among all sessions, and ascending within one. */
  readonly id: string;
  /** Who wants it. */
  readonly by: string;
  /**
   * One more than the newest change that its session knew of. Changes are ordered by this, never by wall-clock time.
   */
  readonly clock: number;
}

/** A value and which change put it there. */
export interface Entry {
  readonly value: Json;
  readonly stamp: string;
}

/** A field as it is kept. Its own stamp is of the change that last replaced it. */
export type Field =
  | { readonly type: "text"; readonly text: string; readonly stamp: string; readonly clock: number }
  | { readonly type: "list"; readonly list: readonly Entry[]; readonly clock: number; readonly stamp?: string }
  | {
      readonly type: "map";
      readonly map: Readonly<Record<string, Entry>>;
      readonly clock: number;
      readonly stamp?: string;
    };

/** A page that is kept beyond any view, as a set of fields. */
export interface DurablePage {
  readonly kind: DurableKind;
  readonly page: string;
  readonly scope: PageScope;
  /** Who wrote to it first. */
  readonly source: string;
  readonly fields: Readonly<Record<string, Field>>;
}

/** The durable pages of one scope, by `keyOf`. */
export type DurablePages = Readonly<Record<string, DurablePage>>;

export function keyOf({ kind, page }: Pick<WritebackTuple, "kind" | "page">): string {
  return `${kind}:${page}`;
}

/** Sorts like the changes came: first by what each had seen, then by name. */
export function stampOf({ clock, id }: Pick<Writeback, "clock" | "id">): string {
  return `${String(clock).padStart(9, "0")} ${id}`;
}

/** The value of a field, without who wrote it. Undefined for a field that does not exist. */
export function plainOf(field: Field | undefined): Json | undefined {
  switch (field?.type) {
    case "text":
      return field.text;
    case "list":
      return field.list.map(({ value }) => value);
    case "map":
      return Object.fromEntries(Object.entries(field.map).map(([key, { value }]) => [key, value]));
    default:
      return undefined;
  }
}

/** The version of a field. Whoever replaces the field must have seen this version. */
export function versionOf(field: Field | undefined): string {
  const said = plainOf(field);
  return said === undefined ? "" : canonicalHash(said).slice(0, 16);
}
