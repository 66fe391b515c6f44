import type { FaultKind } from "../history/faults.ts";
import { checkWire, type WireFault } from "../wire/check.ts";
import type { ProfileId } from "../wire/profiles.ts";
import { writeMessages } from "../wire/project.ts";
import { type Finding, type FindingCode, findingOf } from "./findings.ts";
import { type LinkTree, linkTree } from "./links.ts";
import { type Entry, type Judged, judgeStrands, type Marked, strandsOf } from "./strand.ts";
import type { Conversation, Element, Transcript } from "./transcript.ts";

/** A conversation after judgement: what is wrong, and how it should be. */
export interface Judgement {
  readonly conversation: Conversation;
  readonly strands: readonly Judged[];
  readonly tree?: LinkTree;
  readonly findings: readonly Finding[];
}

export interface JudgeOptions {
  readonly profile: ProfileId;
  /** Where a person finds an element. */
  readonly lineOf: (element: Element) => number;
}

export function judgeConversation(transcript: Transcript, nth: number, { profile, lineOf }: JudgeOptions): Judgement {
  const conversation = transcript.conversations[nth] as Conversation;
  const { format } = transcript;
  const place = (element: Element) => ({ line: lineOf(element), conversation: nth + 1 });
  const strands = judgeStrands(strandsOf(conversation), profile);
  const findings = strands.flatMap((judged) => strandFindings(judged, profile, place));
  if (format.partsMixed === true) {
    const mixed = conversation.elements.filter(isMixed);
    findings.push(...mixed.map((element) => findingOf("mixed-outputs", profile, place(element))));
  }
  const tree = format.links === undefined ? undefined : linkTree(conversation, format.links);
  for (const { code, element } of tree?.faults ?? []) findings.push(findingOf(code, profile, place(element)));
  return {
    conversation,
    strands,
    ...(tree === undefined ? {} : { tree }),
    findings,
  };
}

/** Kinds that are not reported one for each repair: a removed call takes its thought along. */
function strandFindings(
  { strand, repairs, shared }: Judged,
  profile: ProfileId,
  place: (element: Element) => Pick<Finding, "line" | "conversation">,
): Finding[] {
  const found = repairs.map(({ fault }) => {
    const { element } = strand.entries[fault.at] as Entry;
    const names = {
      ...(fault.callId === undefined || fault.callId === "" ? {} : { call: fault.callId }),
      ...(fault.toolName === undefined || fault.toolName === "" ? {} : { tool: fault.toolName }),
    };
    return findingOf(codeOf(fault.kind), profile, { ...place(element), ...names }, fault.severity);
  });
  for (const entry of [...strand.twins, ...shared]) {
    const { element, piece } = strand.entries[entry] as Entry;
    const call = piece.item.kind === "call" ? piece.item : undefined;
    const names = {
      ...(call?.callId === undefined ? {} : { call: call.callId }),
      ...(call === undefined || call.name === "" ? {} : { tool: call.name }),
    };
    found.push(findingOf("duplicate-call-id", profile, { ...place(element), ...names }));
  }
  return found;
}

function codeOf(kind: FaultKind): FindingCode {
  return kind === "unknown-tool" ? "wrong-name" : kind; // no catalog is given, so no tool is unknown
}

/** An element that carries outputs and something else that was said. */
function isMixed({ reading }: Element): boolean {
  if (reading.speaks !== "user") return false;
  return reading.pieces.some(({ item }) => item.kind === "output");
}

/** What the provider would still refuse after the repair. Empty, or the repair is wrong. */
export function refusals({ strands }: Judgement, profile: ProfileId): readonly WireFault[] {
  return strands.flatMap((judged) => refusedBy(judged, profile));
}

/** The strict judge over what the provider would be sent. What a provider answered last was not sent to it yet. */
function refusedBy({ strand, items }: Judged, profile: ProfileId): readonly WireFault[] {
  const sent = items.filter((item) => !isOpen(item, strand.entries));
  if (sent.length === 0) return [];
  return checkWire(writeMessages(sent, profile).messages, profile);
}

function isOpen(item: Marked, entries: readonly Entry[]): boolean {
  if (item.entry === undefined) return false;
  const { element } = entries[item.entry] as Entry;
  return element.open || (element.reading.waits === true && element === entries.at(-1)?.element);
}
