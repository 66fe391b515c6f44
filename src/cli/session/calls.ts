import { HoldfastError } from "../../base/errors.ts";
import type { RewindTarget, SessionLook } from "../../index.ts";
import type { Parsed } from "../command.ts";
import { textOf, usage } from "../options.ts";

const SHORT = 8;
const PREFIX = "call_";

/** As short as it is shown, and as it may be given. Calls inside a call keep what sets them apart. */
export function shortCall(callId: string): string {
  const [outer = "", ...inner] = callId.replace(PREFIX, "").split(".");
  return [outer.slice(0, SHORT), ...inner].join(".");
}

/** Which call `--before` or `--after` names: a whole id, the beginning of one, or `last`. */
export function targetIn(parsed: Parsed, look: SessionLook): RewindTarget {
  const [before, after] = [textOf(parsed, "before"), textOf(parsed, "after")];
  if ((before === undefined) === (after === undefined))
    throw usage("--before", "give one of --before CALL and --after CALL; `holdfast show` lists the calls");
  return before === undefined ? { after: callIn(look, after ?? "") } : { before: callIn(look, before) };
}

function callIn(look: SessionLook, given: string): string {
  const counting = look.boundaries.filter(({ rewound }) => !rewound);
  if (given === "last") {
    const last = counting.at(-1)?.callId;
    if (last === undefined) throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: given, kept: 0 });
    return last;
  }
  const all = [...new Set([...look.boundaries, ...look.openCalls].map(({ callId }) => callId))];
  if (all.some((callId) => callId === given)) return given;
  const wanted = given.replace(PREFIX, "");
  const fitting = wanted === "" ? [] : all.filter((callId) => begins(callId, wanted));
  const [only, another] = fitting;
  if (only === undefined) throw new HoldfastError("CHECKPOINT_UNKNOWN", { call: given, kept: counting.length });
  if (another !== undefined)
    throw usage(given, `several calls begin like this: ${fitting.slice(0, 5).map(shortCall).join(", ")}`);
  return only;
}

/** `ab12` is the beginning of `ab12cd34`; `ab12.1` is the first call inside it. */
function begins(callId: string, wanted: string): boolean {
  const [outer = "", ...inner] = callId.replace(PREFIX, "").split(".");
  const [start = "", ...within] = wanted.split(".");
  return outer.startsWith(start) && inner.join(".") === within.join(".");
}
