import { describe, expect, test } from "vitest";
import { PROFILES, type ProfileId, readMessages, type WireFormat, writeMessages } from "../../src/index.ts";

const ALL = Object.keys(PROFILES) as ProfileId[];
const others = (own: ProfileId) => ALL.filter((profile) => profile !== own);

/** What a provider is told in the last message of a conversation that came from another. */
function told(messages: readonly object[], from: WireFormat, to: ProfileId): string {
  return JSON.stringify(writeMessages(readMessages(messages, from).items, to).messages.at(-1));
}

describe("handed to another provider", () => {
  test.each(others("anthropic"))("[WIRE-25] two texts of one result stay two for %s", (to) => {
    const content = [
      { type: "text", text: "10" },
      { type: "text", text: "" },
      { type: "text", text: "20" },
    ];
    const messages = [
      { role: "user", content: "x" },
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content }] },
    ];
    expect(told(messages, "anthropic", to)).toContain(String.raw`10\n20`);
  });

  test.each(others("gemini"))("[WIRE-25] what Gemini was told beside an output is not left out for %s", (to) => {
    const response = { output: "", error: "command not found", exitCode: 127 };
    const messages = [
      { role: "user", parts: [{ text: "x" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response } }] },
    ];
    const { items } = readMessages(messages, "gemini");
    expect(items.at(-1)).toMatchObject({ status: "failed" });
    const said = told(messages, "gemini", to);
    expect(said).toContain("command not found");
    expect(said).toContain("127");
    if (to === "anthropic") expect(said).toContain('"is_error":true');
    if (to === "ai-sdk") expect(said).toContain('"error-json"');
  });

  test.each(others("openai-responses"))("[WIRE-25] how commands ended is told in words to %s", (to) => {
    const output = [
      { stdout: "", stderr: "", outcome: { type: "exit", exit_code: 1 } },
      { stdout: "a", stderr: "", outcome: { type: "timeout" } },
      { stdout: "b", stderr: "c", outcome: { type: "exit", exit_code: 0 } },
    ];
    const messages = [
      { role: "user", content: "x" },
      { type: "shell_call", call_id: "c", action: { commands: ["false", "ls", "pwd"] }, status: "completed" },
      { type: "shell_call_output", call_id: "c", output },
    ];
    const said = told(messages, "openai-responses", to);
    expect(said).toContain(String.raw`[The command ended with exit code 1.]\na\n[The command ran out of time.]\nb\nc`);
    if (to === "anthropic") expect(said).toContain('"is_error":true');
  });

  test.each(ALL)(
    "[WIRE-25] arguments keep every digit for %s, as text where they must be an object, and that is told",
    (to) => {
      const args = '{"id":12345678901234567890,"small":[9007199254740992,-1.5,"12345678901234567890"]}';
      const messages = [
        { role: "user", content: "x" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }],
        },
        { role: "tool", tool_call_id: "c", content: "done" },
      ];
      const { messages: written, adjustments } = writeMessages(readMessages(messages, "openai-chat").items, to);
      const inText = to.startsWith("openai");
      const kept = inText ? JSON.stringify(args).slice(1, -1) : args.replace("12345678901234567890", '"$&"');
      expect(JSON.stringify(written[1])).toContain(kept);
      const told = adjustments.map(({ kind }) => kind).filter((kind) => kind !== "signature-waived"); // another model's call
      expect(told).toEqual(inText ? [] : ["arguments-rewritten"]);
    },
  );
});

describe("a result of Gemini's", () => {
  const read = (response: unknown) => {
    const part = { functionResponse: { name: "f", id: "c", response } };
    return readMessages([{ role: "user", parts: [part] }], "gemini").items[0];
  };

  test("[WIRE-25] an output alone is what was returned; an empty error beside it is no failure", () => {
    expect(read({ output: null })).toMatchObject({ status: "success", value: null });
    expect(read({ output: { a: 1 } })).toMatchObject({ status: "success", value: { a: 1 } });
    for (const error of [null, "", false]) {
      expect(read({ output: "ok", error })).toMatchObject({ status: "success", value: { output: "ok", error } });
    }
    expect(read({ error: "boom" })).toMatchObject({ status: "failed", value: { error: "boom" } });
    expect(read("bare")).toMatchObject({ status: "success", value: "bare" });
  });

  test("[WIRE-25] a failure that lost its original is written with all its fields", () => {
    const { origin: _origin, ...item } = read({ error: "boom", exitCode: 1 }) as NonNullable<ReturnType<typeof read>>;
    expect(writeMessages([item], "gemini").messages.at(-1)).toMatchObject({
      parts: [{}, { functionResponse: { response: { error: "boom", exitCode: 1 } } }],
    });
  });
});

describe("an output of commands", () => {
  const outcomeOf = (outcomes: readonly object[]) => {
    const output = outcomes.map((outcome) => ({ stdout: "", stderr: "", outcome }));
    const { items } = readMessages([{ type: "shell_call_output", call_id: "c", output }], "openai-responses");
    const { origin: _origin, ...item } = items[0] as (typeof items)[0];
    return { item, written: writeMessages([item], "openai-responses").messages[0] };
  };

  test("[WIRE-25] one that failed is not told as one that ran out of time, also without its original", () => {
    const failed = outcomeOf([{ type: "exit", exit_code: 2 }]);
    expect(failed.item).toMatchObject({ status: "failed" });
    expect(failed.written).toMatchObject({ output: [{ outcome: { type: "exit", exit_code: 1 } }] });
    const late = outcomeOf([{ type: "exit", exit_code: 2 }, { type: "timeout" }]);
    expect(late.item).toMatchObject({ status: "timeout" });
    expect(late.written).toMatchObject({ output: [{ outcome: { type: "timeout" } }] });
    expect(outcomeOf([{ type: "exit", exit_code: 0 }, {}]).item).toMatchObject({ status: "success" });
  });
});
