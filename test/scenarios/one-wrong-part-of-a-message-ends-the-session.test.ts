import { describe, expect, test } from "vitest";
import type { Part } from "../../src/index.ts";
import { appendReserved } from "../../src/journal/journal.ts";
import { MainLoop } from "../../src/turn/main-loop.ts";
import type { Session } from "../../src/turn/session.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { collect } from "../support/stores.ts";

/** Somebody gives the parts of a provider's message, or half a part. It must not become what every later request is made of. */
const WRONG: Readonly<Record<string, unknown>> = {
  "a part of OpenAI's chat": { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
  "a part of Anthropic's": { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
  "a part of Responses": { type: "input_text", text: "hi" },
  "a text without text": { type: "text" },
  "a text that is a number": { type: "text", text: 5 },
  "a picture that brings nothing": { type: "image", media: { mediaType: "image/png", data: "aGk=" } },
  "a file under a number": { type: "file", media: { url: 5 } },
  "content without a size": { type: "audio", media: { blob: { name: "x" } } },
  "something else from nowhere": { type: "other" },
  "a kind of Object.prototype": { type: "constructor" },
  "a word": "hello",
  "a list": [],
  nothing: null,
};
const words: Part = { type: "text", text: "What is this?" };
const model = () => scripted([{ text: "ok" }]);

describe.each(Object.entries(WRONG))("%s", (_, part) => {
  test("[ID-16] [TURN-83] is refused by its place, and nothing is written down", async () => {
    const { session } = await opened();
    const before = session.journal.head.seq;
    await expect(watch(session.run([words, part] as never, { model: model() }))).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option: "input[1]", fault: expect.stringMatching(/^input\[1\](\.[\w.]+)? must /) },
    });
    const record = { kind: "user-said", text: "x", parts: [words, part] } as never;
    await expect(session.append(record)).rejects.toMatchObject({
      code: "RECORD_MALFORMED",
      details: { fault: expect.stringContaining("parts[1]") },
    });
    expect(session.journal.head.seq).toBe(before);
    expect((await watch(session.run("And now?", { model: model() }))).end.status).toBe("done");
    await session.close();
  });

  test("[TURN-83] that a journal holds already is told in words, and the session goes on, here and when reopened", async () => {
    const { disk, session } = await opened();
    await appendReserved(session.journal, { kind: "user-said", text: "x", parts: [words, part] as never });
    const goesOn = async (now: Session) => {
      const { end } = await watch(now.run("And now?", { model: model() }));
      expect(end.status).toBe("done");
      const shown = JSON.stringify(now.context.view?.items);
      expect(shown).toContain("What is this?");
      expect(shown).toContain("[A part of this message cannot be read: ");
    };
    await goesOn(session);
    await session.close();
    const again = (await opened(disk)).session;
    await goesOn(again);
    expect((await again.compact({ tail: 0, said: 0 })).crossed).toBe(true);
    await again.prune({ keep: 1 });
    expect((await watch(again.run("And then?", { model: model() }))).end.status).toBe("done");
    await again.close();
  });
});

describe("what is no message at all", () => {
  test.each([5, true, null, { role: "user", content: "hi" }])(
    "[ID-16] [TURN-83] %j is refused by name",
    async (odd) => {
      const { session } = await opened();
      const before = session.journal.head.seq;
      const refused = { code: "BAD_OPTION", details: { option: "input" } };
      await expect(watch(session.run(odd as never, { model: model() }))).rejects.toMatchObject(refused);
      await expect(new MainLoop({ model: model() }).execute(odd as never)).rejects.toMatchObject(refused);
      expect(session.journal.head.seq).toBe(before);
      await session.close();
    },
  );
});

test("[TURN-83] a large part that cannot be read takes little room in a request, and stays whole in the journal", async () => {
  const { session } = await opened();
  const piece = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(100_000)}` } };
  await appendReserved(session.journal, { kind: "user-said", text: "x", parts: [piece] });
  await watch(session.run("And now?", { model: model() }));
  expect(JSON.stringify(session.context.view?.items).length).toBeLessThan(2_000);
  const [said] = (await collect(session.read())).filter(({ kind }) => kind === "user-said");
  expect(said).toMatchObject({ parts: [piece] });
});
