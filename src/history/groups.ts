import type { Item } from "../wire/item.ts";
import { resolve } from "./resolve.ts";
import { PairScan } from "./scan.ts";

/**
 * The smallest unit that may be removed from a history: one message, or one answer of the model with its reasoning,
 * calls, approvals and all of their outputs. Removing less breaks a bond; removing a whole group never does.
 */
export interface ProtocolGroup {
  /** Positions in ascending order. They need not be neighbours: a displaced output belongs to the group of its call. */
  readonly members: readonly number[];
  readonly kind: "message" | "answer" | "stray";
  /** False while one of its calls has no output. */
  readonly complete: boolean;
}

/** What the pairing knows about items that do not simply follow each other. */
interface Ties {
  /** Outputs that stand apart from their call, and that call. */
  readonly owner: ReadonlyMap<number, number>;
  /** Outputs that belong to no call. */
  readonly strays: ReadonlySet<number>;
  /** Calls without an output. */
  readonly open: ReadonlySet<number>;
}

/** Splits a history into groups. Every item is in exactly one, and groups are in the order of their first members. */
export function protocolGroups(items: readonly Item[]): readonly ProtocolGroup[] {
  const ties = tiesOf(items);
  const groupOf = assign(items, ties);
  const members = Map.groupBy(items.keys(), (at) => groupOf[at] as number);
  return [...members.values()].map((list) => ({
    members: list,
    kind: kindOf(list, items, ties),
    complete: !list.some((at) => ties.open.has(at)),
  }));
}

function tiesOf(items: readonly Item[]): Ties {
  const scan = new PairScan();
  scan.read(items);
  const owner = new Map<number, number>();
  const strays = new Set<number>();
  const open = new Set<number>();
  if (scan.clean) return { owner, strays, open };
  const { findings, report } = resolve(scan, items);
  for (const { at } of report.inFlight) open.add(at);
  for (const { kind, at, call, output } of findings) {
    if (kind === "missing-output" || kind === "partial-call") open.add(at);
    if (kind === "orphan-output" || (kind === "invalid-id" && items[at]?.kind === "output")) strays.add(at);
    if (kind === "displaced-output" || kind === "output-before-call") owner.set(at, call as number);
    if (kind === "duplicate-output") owner.set(output ?? at, call as number);
  }
  return { owner, strays, open };
}

function assign(items: readonly Item[], { owner, strays }: Ties): readonly number[] {
  const groupOf = Array.from(items, () => -1);
  let groups = 0;
  let answer = -1; // the group that outputs may still join
  let before: Item | undefined; // the last item of the answer itself
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as Item;
    if (owner.has(at)) continue;
    if (strays.has(at)) groupOf[at] = groups++;
    else if (isModel(item)) {
      if (answer === -1 || before === undefined || !isOneAnswer(before, item)) answer = groups++;
      groupOf[at] = answer;
      before = item;
    } else if (isReply(item) && answer !== -1) {
      groupOf[at] = answer;
      before = undefined; // the next model item begins a new answer
    } else {
      groupOf[at] = groups++;
      answer = -1;
    }
  }
  for (const [at, call] of owner) groupOf[at] = groupOf[call] as number;
  return groupOf;
}

function kindOf(members: readonly number[], items: readonly Item[], { strays }: Ties): ProtocolGroup["kind"] {
  if (members.some((at) => isModel(items[at] as Item))) return "answer";
  return strays.has(members[0] as number) ? "stray" : "message";
}

/** Two neighbours of one model answer. A thought is never parted from what follows it, whatever message it came in. */
function isOneAnswer(before: Item, item: Item): boolean {
  return before.step === item.step || before.kind === "reasoning";
}

/** What a host sends back about an answer: outputs and approvals. A named external event is a message. */
function isReply(item: Item): boolean {
  return item.kind === "approval-answer" || (item.kind === "output" && item.callId !== undefined);
}

function isModel(item: Item): boolean {
  switch (item.kind) {
    case "assistant":
    case "reasoning":
    case "call":
    case "approval-request":
      return true;
    case "output":
      return item.server === true;
    case "other":
      return item.by === "model";
    default:
      return false;
  }
}
