/** A computer, a shell and a patch tool of the Responses API: a crash inside one of their calls stops the session, too. */
import { expect, test } from "vitest";
import { repairMessages } from "../../src/history/messages.ts";
import { checkWire } from "../../src/wire/check.ts";
import { type ProfileId, PROFILES } from "../../src/wire/profiles.ts";
import { readMessages, writeMessages } from "../../src/wire/project.ts";
import { codesOf, examined, repaired } from "../transcripts/in-memory.ts";

const go = { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] };
const CALLS = {
  computer: { type: "computer_call", id: "cu_1", call_id: "A", action: { type: "screenshot" }, status: "completed" },
  commands: { type: "shell_call", id: "sh_1", call_id: "A", action: { commands: ["ls"] }, status: "completed" },
  patch: { type: "apply_patch_call", id: "ap_1", call_id: "A", operation: { type: "delete_file", path: "a" } },
};
const OUTPUTS = {
  computer: {
    type: "computer_call_output",
    call_id: "A",
    output: { type: "computer_screenshot", image_url: "data:," },
  },
  commands: {
    type: "shell_call_output",
    call_id: "A",
    output: [{ stdout: "a.ts", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
  },
  patch: { type: "apply_patch_call_output", call_id: "A", status: "completed", output: "gone" },
};
const KINDS = Object.keys(CALLS) as (keyof typeof CALLS)[];

test("[WIRE-32] answered calls of three kinds under one id are three pairs, and come back as they were", () => {
  const messages = [go, ...KINDS.map((kind) => CALLS[kind]), ...KINDS.map((kind) => OUTPUTS[kind])];
  expect(repairMessages(messages, { format: "openai-responses" }).messages).toBe(messages);
  expect(checkWire(messages, "openai-responses")).toEqual([]);
});

test.each(KINDS)("[WIRE-32] an unanswered call of a %s is answered in the form of its kind", (kind) => {
  const { messages, report } = repairMessages<object>([go, CALLS[kind], go], { format: "openai-responses" });
  expect(report.faults.map((fault) => fault.kind)).toEqual(["missing-output"]);
  expect(messages[2]).toMatchObject({ type: OUTPUTS[kind].type, call_id: "A" });
  expect(checkWire(messages, "openai-responses")).toEqual([]);
  expect(JSON.stringify(messages[2])).toMatch(kind === "computer" ? /data:image\/png/ : /interrupted/);
});

test.each(KINDS)("[WIRE-32] an output of a %s answers no call of another kind", (kind) => {
  const other = KINDS.find((one) => one !== kind) as keyof typeof CALLS;
  const { report } = repairMessages<object>([go, CALLS[other], OUTPUTS[kind]], { format: "openai-responses" });
  expect(report.faults.map((fault) => fault.kind).toSorted()).toEqual(["missing-output", "orphan-output"]);
});

test("[WIRE-32] the same story is taken by every other provider", () => {
  const all = [go, ...KINDS.map((kind) => CALLS[kind]), ...KINDS.map((kind) => OUTPUTS[kind])];
  const { items } = readMessages(all, "openai-responses");
  for (const profile of Object.keys(PROFILES) as ProfileId[]) {
    expect(checkWire(writeMessages(items, profile).messages, profile)).toEqual([]);
  }
});

test("[WIRE-32] the doctor answers them in files of the API and of the Agents SDK", async () => {
  const request = JSON.stringify({ model: "m", input: [go, ...KINDS.map((kind) => CALLS[kind]), go] });
  const found = await examined(request);
  expect(codesOf(found).filter((code) => code === "missing-output")).toHaveLength(3);
  const after = await repaired(found);
  expect((await examined(after)).findings).toEqual([]);
  const { input } = JSON.parse(new TextDecoder().decode(after)) as { input: object[] };
  expect(checkWire(input, "openai-responses")).toEqual([]);

  const agents = [
    { type: "message", role: "user", content: "go" },
    { type: "function_call", callId: "f", name: "x", arguments: "{}", status: "completed" },
    { type: "function_call_result", callId: "f", name: "x", status: "completed", output: { type: "text", text: "" } },
    ...KINDS.map((kind) => ({ type: CALLS[kind].type, callId: kind, status: "completed", action: {} })),
  ];
  const session = await examined(JSON.stringify(agents));
  expect(session.format).toBe("openai-agents");
  expect((await examined(await repaired(session))).findings).toEqual([]);
});

test("[WIRE-31] an output of a call that the provider keeps is no orphan when the caller, or the request, says so", async () => {
  const messages = [{ type: "function_call_output", call_id: "A", output: "done" }, go];
  expect(repairMessages(messages, { format: "openai-responses" }).messages).toEqual([go]);
  expect(repairMessages(messages, { format: "openai-responses", continues: true }).messages).toBe(messages);
  const lone = [...messages, { type: "function_call", call_id: "B", name: "f", arguments: "{}" }, go];
  const { report } = repairMessages<object>(lone, { format: "openai-responses", continues: true });
  expect(report.faults.map((fault) => fault.kind)).toEqual(["missing-output"]);

  const request = JSON.stringify({ model: "m", previous_response_id: "resp_1", input: messages });
  expect((await examined(request)).findings).toEqual([]);
  expect(codesOf(await examined(JSON.stringify({ model: "m", input: messages })))).toEqual(["orphan-output"]);
});
