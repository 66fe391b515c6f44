import { type CallId, callIdAt, type Json, type RecordDraft, type SessionId } from "../../index.ts";

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Json;
  readonly output: string;
}

export const QUESTION = "Rename `total` to `sum` everywhere and make the tests pass.";

/** Ten calls, as a model might make them. The demo kills the process while the seventh is under way. */
export const SCRIPT: readonly ScriptedCall[] = [
  { tool: "list_files", args: { folder: "src" }, output: "cart.ts\ncart.test.ts\nreport.ts" },
  { tool: "read_file", args: { path: "src/cart.ts" }, output: "export function total(prices: number[]) { … }" },
  { tool: "search", args: { text: "total" }, output: "cart.ts: 4 places\nreport.ts: 2 places" },
  { tool: "edit_file", args: { path: "src/cart.ts", find: "total", replace: "sum" }, output: "4 places changed" },
  { tool: "edit_file", args: { path: "src/report.ts", find: "total", replace: "sum" }, output: "2 places changed" },
  { tool: "read_file", args: { path: "src/cart.test.ts" }, output: "expect(total([1, 2])).toBe(3)" },
  { tool: "run_tests", args: {}, output: "1 failed: total is not defined" },
  { tool: "edit_file", args: { path: "src/cart.test.ts", find: "total", replace: "sum" }, output: "1 place changed" },
  { tool: "run_tests", args: {}, output: "12 passed" },
  { tool: "write_file", args: { path: "CHANGES.md" }, output: "written" },
];

export const KILLED_AT = 6;

/** The model's answer and the call it opens are one commit: no answer without its call, no call without its answer. */
export function opening(
  session: SessionId,
  answer: number,
  call: ScriptedCall,
): readonly [RecordDraft, RecordDraft, CallId] {
  const callId = callIdAt(session, answer, 0);
  return [
    { kind: "model-said", text: `I will use ${call.tool}.` },
    { kind: "call-opened", callId, tool: call.tool, args: call.args },
    callId,
  ];
}

export function closing(callId: CallId, call: ScriptedCall): RecordDraft {
  return { kind: "call-closed", callId, tool: call.tool, status: "success", output: call.output };
}
