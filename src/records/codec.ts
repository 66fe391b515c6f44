import { HoldfastError } from "../base/errors.ts";
import {
  checkJson,
  JSON_LIMITS,
  type Json,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonRepair,
  parseJson,
} from "../base/json.ts";
import { err, ok, type Result } from "../base/result.ts";
import { flawOf, type RecordFlaw, type SealedRecord } from "./chain.ts";
import {
  type BlobRef,
  isRecordKind,
  type JournalRecord,
  RECORD_SHAPES,
  type RecordDraft,
  type RecordKind,
} from "./kinds.ts";
import { LADDER, type Ladder, lift } from "./lift.ts";
import { KNOWN_SHAPES, type Redactor } from "./redact.ts";
import { redactDraft } from "./redact-record.ts";

/** Header fields: in a body they would be overwritten on the way out. */
const RESERVED = ["seq", "at"] as const;

/** The most levels a writer may choose to accept. Every reader reads them, whatever its own choice. */
export const DEEPEST = 1_000;

export interface EncodedDraft {
  /** As it will be read back: plain, and without what must not be kept. */
  readonly draft: RecordDraft;
  readonly kind: RecordKind;
  readonly body: string;
  /** Content that the body names. */
  readonly blobs: readonly BlobRef[];
  readonly repairs: readonly JsonRepair[];
}

/**
 * The one way in: a draft becomes text without secrets, or is refused before anything is written. `known`: values under the
 * names of fields that have passed this check already, such as what a change of the state is made of.
 */
export function encodeDraft(
  given: RecordDraft,
  limits: JsonLimits = JSON_LIMITS,
  redactor: Redactor = KNOWN_SHAPES,
  known?: JsonObject,
): EncodedDraft {
  const checked = checkJson(given, limits, known);
  if (!checked.ok) throw jsonError(checked.error);
  // Judged by what will be read back: a getter may answer differently every time.
  const draft = redactDraft(fieldsOf(checked.value.value) as unknown as RecordDraft, redactor);
  const { kind, ...body } = draft as unknown as JsonObject;
  if (typeof kind !== "string" || !isRecordKind(kind))
    throw new HoldfastError("RECORD_MALFORMED", {
      kind: (typeof kind === "string" ? kind : JSON.stringify(kind ?? null)).slice(0, 80),
      fault: "unknown kind",
    });
  const reserved = RESERVED.find((name) => name in body);
  const fault = reserved === undefined ? RECORD_SHAPES[kind].fault(body, "") : `${reserved} is given by the journal`;
  if (fault !== undefined) throw new HoldfastError("RECORD_MALFORMED", { kind, fault });
  const blobs = (body["blobs"] ?? []) as unknown as readonly BlobRef[];
  const text = JSON.stringify(body);
  // What was known was not counted.
  if (text.length > limits.characters)
    throw jsonError({ kind: "too-large", path: "$", detail: `more than ${limits.characters} characters` });
  return { draft, kind, body: text, blobs, repairs: checked.value.repairs };
}

function fieldsOf(draft: Json): JsonObject {
  if (typeof draft === "object" && draft !== null && !Array.isArray(draft)) return draft as JsonObject;
  throw new HoldfastError("RECORD_MALFORMED", { fault: "a record is an object with a kind" });
}

/** Why a stored record cannot be read. */
export type DecodeFault =
  | { readonly kind: RecordFlaw }
  | { readonly kind: "too-new"; readonly version: number }
  | { readonly kind: "malformed"; readonly detail: string };

/** A record whose body was dropped on purpose: its header still proves that it was there. */
export interface DroppedRecord {
  readonly kind: "dropped";
  readonly seq: number;
  readonly at: string;
  readonly was: string;
  readonly reason: string;
}

/** Reads a stored record: proven and lifted to today's shape, or a typed fault. Nothing unproven is ever returned. */
export function decodeRecord(
  sealed: SealedRecord,
  ladder: Ladder = LADDER,
): Result<JournalRecord | DroppedRecord, DecodeFault> {
  const flaw = flawOf(sealed);
  if (flaw !== undefined) return err({ kind: flaw });
  const { seq, at, version } = sealed;
  if (version > ladder.version) return err({ kind: "too-new", version });
  if (sealed.body === null) return ok({ kind: "dropped", seq, at, was: sealed.kind, reason: sealed.dropped ?? "" });
  const parsed = parseJson(sealed.body, { depth: DEEPEST, characters: Number.POSITIVE_INFINITY });
  if (!parsed.ok) return err({ kind: "malformed", detail: parsed.error.detail });
  const lifted = tryLift(sealed.kind, parsed.value as JsonObject, version, ladder);
  if (lifted === undefined) return err({ kind: "malformed", detail: `no lift from version ${version}` });
  if (!isRecordKind(lifted.kind)) return err({ kind: "malformed", detail: `unknown kind ${lifted.kind}` });
  const fault = RECORD_SHAPES[lifted.kind].fault(lifted.body, "");
  if (fault !== undefined) return err({ kind: "malformed", detail: fault });
  return ok({ ...(lifted.body as JsonObject), kind: lifted.kind, seq, at } as JournalRecord);
}

/** A record that this process has sealed itself: it need not be proven, and is of today's shape. */
export function decodeOwn({ kind, seq, at, body }: SealedRecord): JournalRecord {
  return Object.assign(JSON.parse(body ?? "{}") as object, { kind, seq, at }) as JournalRecord;
}

/** Undefined when a step cannot make sense of the body: one odd record must not keep all others from being read. */
function tryLift(kind: string, body: JsonObject, from: number, ladder: Ladder) {
  try {
    return lift(kind, body, from, ladder);
  } catch {
    return undefined;
  }
}

function jsonError(fault: JsonFault): HoldfastError {
  const details = { path: fault.path, detail: fault.detail };
  if (fault.kind === "too-deep") return new HoldfastError("VALUE_TOO_DEEP", details);
  if (fault.kind === "too-large") return new HoldfastError("VALUE_TOO_LARGE", details);
  return new HoldfastError("VALUE_NOT_JSON", details);
}
