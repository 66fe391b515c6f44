import type { CodeHost } from "../../src/contracts/code-runner.ts";

/** What programs see of a session: a thousand records, one tool, one slice. */
export const codeHost: CodeHost = {
  now: 1_700_000_000_000,
  seed: "seed",
  records: 1_000,
  tools: ["double"],
  slices: ["steps"],
  input: { n: 4 },
  async answer(question) {
    if (question.kind === "records")
      return {
        ok: true,
        value: Array.from({ length: question.to - question.from }, (_, nth) => ({
          call_id: `call-${question.from + nth}`,
        })),
      };
    if (question.kind === "slice") return { ok: true, value: ["a"] };
    if (question.kind === "tool") return { ok: true, value: Number((question.input as { n: number }).n) * 2 };
    return { ok: false, message: "no content here" };
  },
};
