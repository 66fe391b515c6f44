import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { Disk } from "./disk.ts";
import { HostRoot } from "./folders.ts";
import { realHost } from "./port.ts";
import { HELD } from "./read-file.ts";

const scratch = scratchFolder();
const roots: HostRoot[] = [];
let places = 0;

afterEach(() => {
  for (const root of roots.splice(0)) root.close();
});

/** A folder `dir` that is held open, because something was looked for in it. */
async function held(file?: string) {
  places += 1;
  const path = join(scratch, String(places));
  mkdirSync(join(path, "dir"), { recursive: true });
  if (file !== undefined) writeFileSync(join(path, "dir/f"), file);
  const root = new HostRoot(realHost, path);
  roots.push(root);
  const disk = new Disk(root, [], { caseMatters: true });
  const text = async () => {
    const found = await disk.file(["dir", "f"], HELD);
    return found === undefined ? undefined : Buffer.from(found.bytes ?? []).toString("utf8");
  };
  expect(await text()).toBe(file);
  return { on: (name: string) => join(path, name), text };
}

test.each([["first"], [undefined]])(
  "[HOST-17] a folder that was put in the place of one that is held open is the one that is read: %s",
  async (before) => {
    const { on, text } = await held(before);
    renameSync(on("dir"), on("moved"));
    mkdirSync(on("dir"));
    writeFileSync(on("dir/f"), "second");
    expect(await text()).toBe("second");
  },
);

test("[HOST-17] nothing is read through a link in its place, nor in the folder that was moved away", async () => {
  const { on, text } = await held("first");
  renameSync(on("dir"), on("moved"));
  expect(await text()).toBe(undefined);
  symlinkSync(on("moved"), on("dir"));
  expect(await text()).toBe(undefined);
});
