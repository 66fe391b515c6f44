/** Files that nobody writes by accident: one shape, a hundred thousand times. Each has cost a square, or the stack, once. */

const RECORDS = 100_000;

type Value = Readonly<Record<string, unknown>>;

function times(make: (nth: number) => Value, count = RECORDS): readonly Value[] {
  return Array.from({ length: count }, (_, nth) => make(nth));
}

function log(records: readonly Value[], end = "\n"): string {
  return `${records.map((record) => JSON.stringify(record)).join(end)}\n`;
}

const claude = (type: string, nth: number, content: unknown): Value => ({
  type,
  uuid: `u${nth}`,
  sessionId: "s",
  message: { id: `m${nth}`, content },
});
const use = (id: string): Value => ({ type: "tool_use", id, name: "b", input: {} });
const result = (id: string): Value => ({ type: "tool_result", tool_use_id: id });
const codex = (payload: Value): Value => ({ type: "response_item", timestamp: "t", payload });
const chatCall = (id: string): Value => ({
  role: "assistant",
  tool_calls: [{ id, function: { name: "b", arguments: "{}" } }],
});

/** By name: the file, and how many records or faults it is made of. */
export const SHAPES: Readonly<Record<string, () => string>> = {
  "tiny records of one id": () => log(times(() => ({ uuid: "a", sessionId: "s", type: "x" }))),
  "calls of one id": () => log(times((nth) => claude("assistant", nth, [use("c")]))),
  "outputs that nobody asked for": () => log(times((nth) => claude("user", nth, [result(`c${nth}`)]))),
  "calls of one message": () =>
    log([
      claude(
        "assistant",
        0,
        times((nth) => use(`c${nth}`)),
      ),
      claude("user", 1, "Still there?"),
    ]),
  "results of one message, for calls of many": () =>
    log([
      ...times((nth) => claude("assistant", nth, [use(`c${nth}`)])),
      claude(
        "user",
        -1,
        times((nth) => result(`c${nth}`)),
      ),
    ]),
  "parents that are nowhere": () =>
    log(times((nth) => ({ type: "x", uuid: `u${nth}`, parentUuid: `no${nth}`, sessionId: "s" }))),
  "circles of two": () =>
    log(times((nth) => ({ type: "x", uuid: `u${nth}`, parentUuid: `u${nth ^ 1}`, sessionId: "s" }))),
  "one line of glued records": () =>
    log(
      times((nth) => ({ type: "x", uuid: `u${nth}`, sessionId: "s" })),
      "",
    ),
  "lines of rubbish": () =>
    log(times((nth) => ({ type: "x", uuid: `u${nth}`, sessionId: "s" }), 1000)) + '{"a\n'.repeat(RECORDS),
  "a long run of NUL": () =>
    `${log(times((nth) => ({ type: "x", uuid: `u${nth}`, sessionId: "s" }), 1000))}${"\0".repeat(8_000_000)}\n`,
  "a torn line of open braces": () =>
    `${log(times((nth) => ({ type: "x", uuid: `u${nth}`, sessionId: "s" }), 1000))}${'{"a":'.repeat(1_000_000)}`,
  "lone surrogates": () => log(times((nth) => claude("user", nth, "\ud83d".repeat(40)), 20_000)),
  "conversations of sub-agents": () =>
    log(times((nth) => ({ ...claude("user", nth, "x"), isSidechain: true, agentId: `a${nth}` }))),
  "outputs of one call": () =>
    log([
      codex({ type: "function_call", call_id: "c", name: "b", arguments: "{}" }),
      ...times(() => codex({ type: "function_call_output", call_id: "c", output: "" })),
    ]),
  "positions that move": () =>
    log([
      { type: "session", id: "s", cwd: "/w" },
      ...times((nth) =>
        nth % 2 === 1
          ? { type: "compaction", timestamp: "t", firstKeptEntryIndex: nth }
          : {
              type: "message",
              message: { role: "assistant", content: [{ type: "toolCall", id: `c${nth}`, name: "b" }] },
            },
      ),
    ]),
  "a document of calls of one id": () => JSON.stringify({ messages: times(() => chatCall("c")) }),
  "a document of orphans": () =>
    JSON.stringify({
      messages: [
        { role: "user", content: "x" },
        ...times((nth) => ({ role: "tool", tool_call_id: `c${nth}`, content: "" })),
      ],
    }),
  "documents on lines": () => log(times(() => ({ messages: [{ role: "user", content: "x" }, chatCall("c")] }))),
  "parts of one id": () =>
    JSON.stringify(
      times(() => ({
        id: "u",
        role: "assistant",
        parts: [{ type: "tool-b", toolCallId: "c", state: "input-available", input: {} }],
      })),
    ),
};

export const SHAPE_RECORDS = RECORDS;
