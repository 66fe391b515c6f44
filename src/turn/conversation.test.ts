import { expect, test } from "vitest";
import type { JournalEntry } from "../journal/prove.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { type Item, toolCallId } from "../wire/item.ts";
import { keepItems } from "../wire/keep.ts";
import { Conversation } from "./conversation.ts";

const asked = (id: string): Item => ({
  kind: "call",
  callKind: "function",
  callId: toolCallId(id),
  name: "t",
  step: 1,
});
const opened = (id: string): RecordDraft => ({
  kind: "call-opened",
  callId: `our-${id}` as never,
  tool: "t",
  args: {},
  alias: id,
});
const closed = (id: string): RecordDraft => ({
  kind: "call-closed",
  callId: `our-${id}` as never,
  tool: "t",
  status: "success",
  output: id,
});
const answer: RecordDraft = { kind: "model-said", items: keepItems([asked("a"), asked("b")]) as never };

function told(drafts: readonly RecordDraft[]): readonly string[] {
  const conversation = new Conversation();
  for (const [at, draft] of drafts.entries()) conversation.take({ ...draft, seq: at + 1, at: "" } as JournalEntry);
  return conversation.items.map((item) => ("callId" in item ? `${item.kind} ${item.callId ?? ""}` : item.kind));
}

test("[LOOP-3] outputs stand in the order of the calls, under the provider's ids", () => {
  expect(told([answer, opened("a"), opened("b"), closed("b"), closed("a")])).toEqual([
    "call a",
    "call b",
    "output a",
    "output b",
  ]);
});

test("[LOOP-3] an output whose neighbour never ends is told before whatever is said next", () => {
  const said: RecordDraft = { kind: "user-said", text: "well?" };
  expect(told([answer, opened("a"), opened("b"), closed("b"), said, closed("a")])).toEqual([
    "call a",
    "call b",
    "output b",
    "user",
    "output a",
  ]);
});

test("[LOOP-3] the tools that were called are those of the log as it stands, also after a rewind", () => {
  const conversation = new Conversation();
  const take = (seq: number, draft: RecordDraft) => conversation.take({ ...draft, seq, at: "" } as JournalEntry);
  const calling = (name: string): RecordDraft => ({
    kind: "model-said",
    items: keepItems([{ ...asked(name), name } as Item]) as never,
  });
  take(1, calling("read"));
  expect([...conversation.calledTools]).toEqual(["read"]);
  take(2, calling("write"));
  expect([...conversation.calledTools]).toEqual(["read", "write"]);
  take(3, { kind: "rewound", scope: ["conversation"], to: 1 } as never);
  expect([...conversation.calledTools]).toEqual(["read"]);
});
