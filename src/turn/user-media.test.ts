import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { scripted, WAYS, watch } from "../../test/support/loop.ts";
import { largePicture, PNG } from "../../test/support/pictures.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import type { Model } from "../contracts/model.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { startProviderServer } from "../testing/provider-server/server.ts";
import type { Part } from "../wire/item.ts";
import { MainLoop } from "./main-loop.ts";
import type { Session } from "./session.ts";

const picture = (bytes: Uint8Array): Part => ({
  type: "image",
  media: { mediaType: "image/png", base64: Buffer.from(bytes).toString("base64") },
});
const file = (text: string): Part => ({
  type: "file",
  media: { mediaType: "text/plain", name: "notes.txt", base64: Buffer.from(text).toString("base64") },
});
const words: Part = { type: "text", text: "What is this?" };
const base64 = Buffer.from(PNG).toString("base64");
const model = scripted(() => ({ text: "seen" }));

/** A model, and the items it was asked with. */
function listening(asking: Model = model): { readonly model: Model; readonly asked: string[] } {
  const asked: string[] = [];
  const ask: Model["ask"] = (request, options) => {
    asked.push(JSON.stringify(request.items));
    return asking.ask(request, options);
  };
  return { model: { ...asking, ask }, asked };
}

async function said(session: Session) {
  const [record] = (await collect(session.read())).filter((entry) => entry.kind === "user-said");
  return record;
}

describe("what a user brings", () => {
  test.each(["anthropic", "gemini", "openai-chat", "openai-responses"] as const)(
    "[WIRE-37] a blank text beside a picture keeps no request to %s from leaving, now or later",
    async (profile) => {
      const { session } = await opened();
      for (const input of [
        [{ type: "text", text: " " }, picture(PNG)],
        [words, { type: "text", text: "" }],
      ] as const) {
        const { end } = await watch(session.run(input, { model: scripted([{ text: "seen" }], { profile }) }));
        expect(end.status).toBe("done");
      }
      await session.close();
    },
  );

  test("[TOOL-18] lies beside the journal, once, under its name", async () => {
    const { session } = await opened();
    await watch(session.run([words, picture(PNG), picture(PNG)], { model }));
    const blob = { name: nameOfBytes(PNG), size: PNG.length };
    const kept = { type: "image", media: { mediaType: "image/png", blob } };
    expect(await said(session)).toMatchObject({
      text: "What is this?",
      parts: [words, kept, kept],
      blobs: [blob, blob],
    });
    expect(JSON.stringify(await collect(session.read()))).not.toContain(base64);
  });

  test.each(Object.entries(WAYS))(
    "[TOOL-18] is shown byte for byte, in this process and the next: %s",
    async (_, way) => {
      const disk = new MemoryDisk();
      for (const input of [[words, picture(PNG)], "And now?"]) {
        const server = await startProviderServer({ script: [{ text: "seen" }] });
        const { model: watching, asked } = listening(way(server.url, [{ text: "seen" }]));
        const { session } = await opened(disk);
        const { end } = await watch(session.run(input, { model: watching }));
        expect([end.status, server.refused]).toEqual(["done", []]);
        expect(asked.at(-1)).toContain(base64);
        await session.close();
        await server.close();
      }
    },
  );

  test("[TOOL-18] [REDACT-9] holds no secret where it is text, and the model reads what is kept", async () => {
    const { session, holdfast } = await opened();
    holdfast.registerSecret("correct-horse-battery");
    const { model: watching, asked } = listening();
    await watch(session.run([words, file("the key is correct-horse-battery, keep it")], { model: watching }));
    const [blob] = (await said(session))?.blobs ?? [];
    const pieces = await collect(session.journal.readBlob(blob!.name));
    const kept = Buffer.concat(pieces).toString("utf8");
    expect(kept).toMatch(/^the key is .+, keep it$/);
    expect(kept).not.toContain("correct-horse");
    expect(asked[0]).toContain(Buffer.from(kept).toString("base64"));
  });

  test("[TOOL-18] is shown again by recall", async () => {
    const bytes = largePicture();
    const { session } = await opened();
    await watch(session.run([words, picture(bytes)], { model }));
    const page = session.context.view!.pages.find(({ representations }) => representations.full?.item.kind === "user");
    const outcome = await session.runTool({ name: "recall", input: { handle: page!.handle } });
    expect(outcome.parts?.find(({ type }) => type === "image")).toMatchObject({ blob: { name: nameOfBytes(bytes) } });
  });

  test("[TOOL-18] stays as it was given where it brings no bytes of its own", async () => {
    const { session } = await opened();
    const link: Part = { type: "image", media: { url: "https://example.com/a.png" } };
    const odd: Part = { type: "image", media: { mediaType: "image/png", base64: "not base 64!" } };
    await watch(session.run([words, link, odd], { model }));
    const record = await said(session);
    expect([record?.parts, record?.blobs]).toEqual([[words, link, odd], undefined]);
  });

  test("[TOOL-18] is shown in a loop without a journal, too", async () => {
    const { model: watching, asked } = listening();
    await new MainLoop({ model: watching }).execute([words, picture(PNG)]);
    expect(asked[0]).toContain(base64);
  });
});
