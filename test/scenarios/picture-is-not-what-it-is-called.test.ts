import { describe, expect, test } from "vitest";
import {
  defineTool,
  type Item,
  type Part,
  PROFILES,
  type ProfileId,
  readMessages,
  toolResult,
  writeMessages,
} from "../../src/index.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { call, output, user } from "../histories/items.ts";
import { opened } from "../support/durable.ts";
import { WAYS, watch } from "../support/loop.ts";
import { PDF, PNG } from "../support/pictures.ts";

const JPEG = Uint8Array.from(Buffer.from("/9j/4AAQSkZJRgABAQAAAQABAAD/2wBD", "base64"));
const base64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64");
const image = (content: Uint8Array | string, mediaType?: string): Part => ({
  type: "image",
  media: { base64: base64(content), ...(mediaType === undefined ? {} : { mediaType }) },
});
const IDS = Object.keys(PROFILES) as readonly ProfileId[];
const sent = (profile: ProfileId, ...items: readonly Item[]) => JSON.stringify(writeMessages(items, profile).messages);

describe.each(IDS)("to %s", (profile) => {
  test.each([
    ["of another type", "image/png"],
    ["of no type", undefined],
  ])("[WIRE-45] a picture that is called one %s is sent under its own", (_, mediaType) => {
    for (const items of [
      [{ ...user(), parts: [image(JPEG, mediaType)] }],
      [user(), call("a"), output("a", { parts: [image(JPEG, mediaType)] })],
    ])
      expect(sent(profile, ...items)).toMatch(/^(?!.*image\/png).*image\/jpeg/);
  });

  test.each([
    ["the words of a server", "<html>502 Bad Gateway</html>"],
    ["a document", PDF],
  ])("[WIRE-45] %s that are called a picture are told as none", (_, content) => {
    const text = sent(profile, user(), call("a"), output("a", { parts: [image(content, "image/png")] }));
    expect(text).toContain("[image/png: it is no picture]");
    expect(text).not.toContain(base64(content));
  });

  test.each([
    ["the words of a server", "<html>502 Bad Gateway</html>"],
    ["a picture", PNG],
  ])("[WIRE-45] %s that are called a PDF are told as none", (_, content) => {
    const file: Part = {
      type: "file",
      media: { mediaType: "application/pdf", base64: base64(content), name: "a.pdf" },
    };
    const text = sent(profile, user(), call("a"), output("a", { parts: [file] }));
    expect(text).toContain("[a.pdf, application/pdf: it is no PDF]");
    expect(text).not.toContain(base64(content));
    const late: Part = { type: "file", media: { mediaType: "application/pdf", base64: base64("\n\n%PDF-1.7\n") } };
    expect(sent(profile, user(), call("a"), output("a", { parts: [late] }))).not.toContain("it is no PDF");
  });

  test("[WIRE-45] a drawing in XML is still told in its words", () => {
    const text = sent(profile, { ...user(), parts: [image("<svg>a circle</svg>", "image/svg+xml")] });
    expect(text).toMatch(/a circle|PHN2Zz5h/);
  });
});

test("[WIRE-45] a picture that Anthropic was sent under another type, and has refused since, is sent under its own", () => {
  const source = { type: "base64", media_type: "image/png", data: base64(JPEG) };
  const { items } = readMessages([{ role: "user", content: [{ type: "image", source }] }], "anthropic");
  expect(writeMessages(items, "anthropic").messages).toMatchObject([
    { content: [{ type: "image", source: { ...source, media_type: "image/jpeg" } }] },
  ]);
});

test.each(Object.keys(WAYS).filter((way) => way !== "scripted"))(
  "[WIRE-45] a tool that names its pictures wrongly leaves the session usable: %s",
  async (way) => {
    const parts = [JPEG, PNG, Buffer.from("no picture")].map((bytes) => ({ mediaType: "image/webp", bytes }));
    const shoot = defineTool({ name: "shoot", access: "read", run: () => toolResult(parts) });
    await using server = await startProviderServer({ script: [{ calls: [{ name: "shoot" }] }, { text: "seen" }] });
    const { session, holdfast } = await opened(undefined, { tools: [shoot] });
    const model = (WAYS[way] as (typeof WAYS)[string])(server.url, []);
    expect((await watch(session.run("look", { model }))).end.status).toBe("done");
    const body = JSON.stringify(server.requests.at(-1)?.body);
    for (const type of ["image/jpeg", "image/png"]) expect(body).toContain(type);
    expect(body).toContain("[image/webp: it is no picture]");
    await holdfast.close();
  },
);
