import type { Json } from "../../base/json.ts";
import { inWords } from "../../base/words.ts";
import { fields, json, oneOf, optional, string } from "../../records/shape.ts";
import { degradationPath, isBelow, minFidelity, type ResidencyLevel } from "../kind.ts";
import { PAGE_SCOPES, type PageScope } from "../page.ts";
import { FIELDS, isRecord, misfit } from "./fields.ts";
import { type DurablePages, keyOf, plainOf, versionOf, type Writeback } from "./tuple.ts";

/** Why a writeback was refused. */
export type WritebackReason =
  /** The kind, page, field, scope, type, operation or size is not valid. */
  | "SCHEMA_INVALID"
  /** Its evidence does not resolve here, or is missing where its principal must give some. */
  | "PROVENANCE_UNRESOLVED"
  | "SCOPE_DENIED"
  /** It would replace something that its writer has not seen. */
  | "DESTRUCTIVE_OP"
  /** It would unpin a rule, empty it, or let a page fall below its floor. */
  | "POLICY_DENIED"
  /** One of the host's own checks refused it. */
  | "PREDICATE_REFUSED";

export interface WritebackRejection {
  readonly code: WritebackReason;
  readonly field: string;
  readonly detail: string;
}

/** Which scopes a principal may write to. */
export interface Principal {
  readonly scopes: readonly PageScope[];
  /** Whether each change must name evidence. */
  readonly needsEvidence: boolean;
}

/** A check of the host's own: returns the words of a refusal, or nothing to allow the change. */
export type WritebackPredicate = (writeback: Writeback, pages: DurablePages) => string | undefined;

export interface WritebackWorld {
  /** The committed pages of the change's scope. */
  readonly pages: DurablePages;
  readonly principals: Readonly<Record<string, Principal>>;
  readonly resolves: (evidence: string) => boolean;
  readonly predicates?: readonly WritebackPredicate[];
}

/** The default principals: the host may write to any scope; a model only to its session, and only with evidence. */
export const PRINCIPALS: Readonly<Record<string, Principal>> = {
  host: { scopes: ["session", "project", "user"], needsEvidence: false },
  model: { scopes: ["session"], needsEvidence: true },
};

type Check = (writeback: Writeback, world: WritebackWorld) => Omit<WritebackRejection, "field"> | undefined;

/**
 * Checks schema, provenance, scope, destruction and policy, then the host's own checks. The first check that fails
 * gives the reason.
 */
export function validateWriteback(writeback: Writeback, world: WritebackWorld): WritebackRejection | undefined {
  for (const check of CHECKS) {
    const rejected = check(writeback, world);
    if (rejected !== undefined) return { field: writeback.field, ...rejected };
  }
  return undefined;
}

const schema: Check = (writeback) => {
  const { kind, page, field, op, value } = writeback;
  const no = (detail: string) => ({ code: "SCHEMA_INVALID", detail }) as const;
  const fault = TUPLE.fault(writeback as unknown as Json, "");
  if (fault !== undefined) return no(fault);
  if (!Object.hasOwn(FIELDS, kind)) return no(`${kind} is no kind of durable page`);
  if (!/^[^\s:][^\n:]{0,199}$/.test(page)) return no("a page is named by 1 to 200 characters without a colon");
  const shape = Object.hasOwn(FIELDS[kind], field) ? FIELDS[kind][field] : undefined;
  if (shape === undefined) return no(`a ${kind} page has no field ${field}`);
  const wrong = misfit(shape, op, value);
  return wrong === undefined ? undefined : no(`${field} ${wrong}`);
};

/** Earlier versions let tools stage anything: without a page it would be committed under the name "undefined". */
const TUPLE = fields({
  kind: string,
  page: string,
  field: string,
  op: string,
  value: json,
  scope: oneOf(...PAGE_SCOPES),
  by: string,
  evidence: optional(string),
  version: optional(string),
});

const provenance: Check = ({ evidence, by }, { principals, resolves }) => {
  const no = (detail: string) => ({ code: "PROVENANCE_UNRESOLVED", detail }) as const;
  if (evidence === undefined)
    return principals[by]?.needsEvidence === false ? undefined : no(`what ${by} writes back must name its evidence`);
  return resolves(evidence) ? undefined : no(`${evidence} names nothing here`);
};

const scope: Check = ({ by, scope: wanted }, { principals }) => {
  const scopes = Object.hasOwn(principals, by) ? (principals[by]?.scopes ?? []) : [];
  if (scopes.includes(wanted)) return undefined;
  return { code: "SCOPE_DENIED", detail: `${by} may write ${scopes.join(" and ") || "nowhere"}, not ${wanted}` };
};

const destruction: Check = (writeback, { pages }) => {
  if (writeback.op !== "set-with-version") return undefined;
  const now = versionOf(pages[keyOf(writeback)]?.fields[writeback.field]);
  if (writeback.version === now) return undefined;
  const seen = writeback.version ?? "none";
  return { code: "DESTRUCTIVE_OP", detail: `it replaces version ${seen || "none"}, and ${now || "none"} is there` };
};

const policy: Check = ({ kind, field, op, value }) => {
  const no = (detail: string) => ({ code: "POLICY_DENIED", detail }) as const;
  if (field === "pin" && kind === "constraint" && value !== "hard") return no("a rule stays pinned");
  if (field === "least") {
    const level = value as ResidencyLevel;
    if (isBelow(level, minFidelity(kind)) || !degradationPath(kind).includes(level))
      return no(`a ${kind} page is never shown at ${level}`);
  }
  const says = typeof value === "string" ? value.trim() : value;
  if (op === "set-with-version" && (field === "text" || field === "objective") && says === "")
    return no(`a ${kind} page must say something`);
  return undefined;
};

const predicates: Check = (writeback, { pages, predicates: all = [] }) => {
  for (const predicate of all) {
    const detail = objectionOf(() => predicate(writeback, pages));
    if (detail !== undefined) return { code: "PREDICATE_REFUSED", detail };
  }
  return undefined;
};

/** One that cannot tell has not agreed. It is no store out of reach either: tried again, it would say the same for ever. */
function objectionOf(check: () => unknown): string | undefined {
  try {
    const said = check();
    return said === undefined || typeof said === "string" ? said : "a check answered neither words nor nothing";
  } catch (error) {
    return `a check could not tell: ${inWords(error)}`;
  }
}

const CHECKS: readonly Check[] = [schema, provenance, scope, destruction, policy, predicates];

/** Whether the pages say already what the tuple wants: saving it again would write nothing. */
export function isSaid(
  tuple: Pick<Writeback, "kind" | "page" | "field" | "op" | "value">,
  pages: DurablePages,
): boolean {
  const said = plainOf(pages[keyOf(tuple)]?.fields[tuple.field]);
  if (said === undefined) return false;
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  if (tuple.op === "append") return Array.isArray(said) && said.some((one) => same(one, tuple.value));
  if (tuple.op === "merge")
    return (
      isRecord(tuple.value) &&
      Object.entries(tuple.value).every(([key, value]) => same((said as Record<string, unknown>)[key], value))
    );
  return same(said, tuple.value);
}
