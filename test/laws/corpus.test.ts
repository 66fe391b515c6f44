import { describe, expect, test } from "vitest";
import { checkWire, repairMessages } from "../../src/index.ts";
import { conversations, hasCorpus, TRANSCRIPTS } from "../histories/corpus.ts";

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS)", () => {
  test.each(TRANSCRIPTS)(
    "[WIRE-22] %s: every conversation is clean after repair, and a second repair returns it",
    (folder) => {
      let seen = 0;
      for (const { name, format, messages } of conversations(folder)) {
        seen += 1;
        const { messages: mended } = repairMessages(messages, { format });
        expect({ name, faults: checkWire(mended, format).slice(0, 3) }).toEqual({ name, faults: [] });
        expect(repairMessages(mended, { format }).messages).toBe(mended);
      }
      expect(seen).toBeGreaterThan(0);
    },
  );
});
