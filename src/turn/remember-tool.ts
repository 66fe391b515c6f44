import type { SchemaResult } from "../contracts/schema.ts";
import type { PageScope } from "../context/page.ts";
import type { DurableKind, WritebackTuple } from "../context/writeback/tuple.ts";
import { isUserTurn } from "../context/units.ts";
import { checkedFields, type Fields, wrong } from "../transaction/checked-by.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import type { SessionContext } from "./session-context.ts";
import type { RememberOptions, SessionWriteback } from "./writeback.ts";
import { StagedWritebacks } from "./writeback-slices.ts";

/** What the tool knows of its session. */
export interface RememberGround {
  readonly context: Pick<SessionContext, "saidLast" | "pageOf">;
  readonly writeback: () => Pick<SessionWriteback, "check" | "version">;
}

interface Wish {
  readonly what: keyof typeof KINDS;
  readonly name: string;
  readonly text: string;
  readonly scope: PageScope;
  readonly replaces: boolean;
  readonly evidence?: string;
}

/** What the model calls it, the kind of page it is, and the field that holds the words. */
const KINDS = {
  rule: { kind: "constraint", field: "text" },
  goal: { kind: "plan", field: "objective" },
  preference: { kind: "preference", field: "notes" },
} as const satisfies Readonly<Record<string, { readonly kind: DurableKind; readonly field: string }>>;

const BY = "model";

/**
 * The model asks for something to be kept: staged with its call, checked at once, committed before the next request. It is
 * the model's own wish and held to what `model` may do; without a handle it rests on what the user said last. Nothing else
 * is ground for a rule: whoever can write a file that a tool reads would write the rules. Kept beyond the session it is a change that
 * plan mode does not allow.
 */
export function rememberTool(ground: RememberGround, options: RememberOptions = {}): Tool {
  const scopes = [...new Set<PageScope>(["session", ...(options.scopes ?? [])])];
  return defineTool<Wish>({
    name: "remember",
    description:
      "Keep something for the rest of this work: a rule the user set, the goal, or how the user likes things. It stays " +
      "visible however long the conversation gets. Do not keep what is in the files, or what only this step needs.",
    access: scopes.length === 1 ? "read" : "write",
    input: checkedFields(FIELDS, (fields) => validate(fields, scopes)),
    inputSchema: {
      type: "object",
      properties: {
        what: { type: "string", enum: Object.keys(KINDS) },
        name: { type: "string", description: "A short name for it, e.g. no-push. Preferences under one name add up." },
        text: { type: "string" },
        scope: { type: "string", enum: scopes, description: "Where it applies. Default: session." },
        replaces: { type: "boolean", description: "Replace what is kept under this name." },
        evidence: {
          type: "string",
          description: "The holdfast:// handle of what it is based on. Default: the user's last words.",
        },
      },
      required: ["what", "name", "text"],
    },
    run(wish, call) {
      const { context, writeback } = ground;
      const waiting = call.get(StagedWritebacks); // another call of this answer may want something under the same name
      const version = (of: VersionOf) => writeback().version(of, waiting);
      const tuple = tupleOf(wish, version, wish.evidence ?? context.saidLast?.handle);
      const found = writeback().check(tuple, BY, waiting);
      if (found !== undefined && found !== "said") return call.fail(found.code, found.detail);
      if (wish.what === "rule" && !isUserTurn(context.pageOf(tuple.evidence ?? "")))
        return call.fail("PROVENANCE_UNRESOLVED", "a rule must be based on what the user said");
      if (found === "said") return `${wish.name} already says so.`;
      call.dispatch(StagedWritebacks.wanted({ ...tuple, by: BY }));
      return `Kept as ${wish.what} ${wish.name} (${wish.scope}), from the next request on.`;
    },
  });
}

type VersionOf = Parameters<SessionWriteback["version"]>[0];

function tupleOf(
  { what, name, text, scope, replaces }: Wish,
  version: (of: VersionOf) => string,
  evidence: string | undefined,
): WritebackTuple {
  const { kind, field } = KINDS[what];
  const at = { kind, page: name, field, scope, ...(evidence === undefined ? {} : { evidence }) };
  if (what === "preference" && !replaces) return { ...at, op: "append", value: text };
  const value = what === "preference" ? [text] : text;
  return { ...at, op: "set-with-version", value, version: replaces ? version(at) : "" };
}

const FIELDS = ["what", "name", "text", "scope", "replaces", "evidence"] as const satisfies readonly (keyof Wish)[];
const LONGEST_NAME = 64;

function validate(fields: Fields, scopes: readonly PageScope[]): SchemaResult<Wish> {
  const { what, name, text, scope = "session", replaces = false, evidence } = fields;
  if (typeof what !== "string" || !Object.hasOwn(KINDS, what))
    return wrong("what", `must be one of ${Object.keys(KINDS).join(", ")}`);
  if (typeof name !== "string" || name.trim() === "" || name.length > LONGEST_NAME)
    return wrong("name", `must be a string of up to ${LONGEST_NAME} characters`);
  if (typeof text !== "string" || text.trim() === "") return wrong("text", "must be a string");
  if (!scopes.includes(scope as PageScope)) return wrong("scope", `must be one of ${scopes.join(", ")}`);
  if (typeof replaces !== "boolean") return wrong("replaces", "must be true or false");
  if (evidence !== undefined && typeof evidence !== "string") return wrong("evidence", "must be a handle");
  const wish = { what: what as Wish["what"], name: name.trim(), text, scope: scope as PageScope, replaces };
  return { value: evidence === undefined ? wish : { ...wish, evidence: evidence.trim() } };
}
