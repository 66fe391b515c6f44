import { canonicalHash } from "../../base/hash.ts";
import type { Json } from "../../base/json.ts";
import type { PageKind } from "../kind.ts";
import type { PageScope } from "../page.ts";

/** The kinds of pages that outlive every view. */
export type DurableKind = Extract<PageKind, "constraint" | "plan" | "preference">;

/** `append` and `merge` keep what is there; `set-with-version` replaces exactly what its writer has seen. */
export type WritebackOp = "append" | "merge" | "set-with-version";

/** One wish to change one field of a durable page. */
export interface WritebackTuple {
  readonly kind: DurableKind;
  /** The name of the page among its kind. */
  readonly page: string;
  readonly field: string;
  readonly op: WritebackOp;
  readonly value: Json;
  readonly scope: PageScope;
  /** A handle that resolves here: what the change rests on. */
  readonly evidence?: string;
  /** For `set-with-version`: the version its writer has seen; "" for a field that is not there. */
  readonly version?: string;
}

/** A staged tuple: named, dated by what it came after, and with a name under it. */
export interface Writeback extends WritebackTuple {
  /** Unique among all sessions, rising within one. */
  readonly id: string;
  /** Who wants it. */
  readonly by: string;
  /** One more than the newest change that its session knew of: order comes from here, and never from the wall clock. */
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

/** A page that outlives every view, as fields. */
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

/** What a field says, without who said it. Undefined for one that is not there. */
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

/** Names what a field says: whoever replaces it must have seen this. */
export function versionOf(field: Field | undefined): string {
  const said = plainOf(field);
  return said === undefined ? "" : canonicalHash(said).slice(0, 16);
}
