import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { copyWorkspace } from "./copy.ts";
import { Disk } from "./disk.ts";
import type { HostEntry } from "./entry.ts";
import { HostRoot } from "./folders.ts";
import { type HostPort, realHost } from "./port.ts";

const scratch = scratchFolder();
const INNER = 0o711;

const diskOf = (root: HostRoot) => new Disk(root, [], { caseMatters: true });

test("[HOST-13] a copy that cannot be made durable leaves nothing behind", async () => {
  const [from, to] = [join(scratch, "whole"), join(scratch, "unsynced")];
  mkdirSync(join(from, "d"), { recursive: true });
  writeFileSync(join(from, "d/f"), "f");
  const root = new HostRoot(realHost, from);
  const seen: string[] = [];
  const copied = copyWorkspace(
    diskOf(root),
    to,
    new Map(),
    async function* () {},
    async (path) => {
      seen.push(readFileSync(join(path, "d/f"), "utf8"));
      throw new Error("the disk does not answer");
    },
  );
  await expect(copied).rejects.toThrow("the disk does not answer");
  root.close();
  expect([seen, existsSync(to)]).toEqual([["f"], false]);
});

test("[HOST-13] a folder that was closed to everybody is closed after all that lies in it", async () => {
  const [from, to] = [join(scratch, "from"), join(scratch, "to")];
  mkdirSync(join(from, "d/in"), { recursive: true });
  writeFileSync(join(from, "d/in/f"), "f");
  chmodSync(join(from, "d/in"), INNER);
  const isClosed = () => (statSync(join(to, "d")).mode & 0o777) === 0;
  const port: HostPort = {
    ...realHost,
    // A common user could not open it any more by then.
    mode: (handle, mode) => {
      if (mode === INNER) expect(isClosed()).toBe(false);
      realHost.mode(handle, mode);
    },
  };
  const root = new HostRoot(port, from);
  const at = new Map<string, HostEntry>([["d", { kind: "folder", mode: 0, exact: true }]]);
  const { left } = await copyWorkspace(
    diskOf(root),
    to,
    at,
    async function* () {},
    async () => {},
  );
  root.close();
  expect([left, isClosed()]).toEqual([[], true]);
  chmodSync(join(to, "d"), 0o700);
  expect(readFileSync(join(to, "d/in/f"), "utf8")).toBe("f");
});

test("[HOST-13] a link whose target is no text is told as left out, and not copied with another", async () => {
  const [from, to] = [join(scratch, "odd"), join(scratch, "odd-copy")];
  mkdirSync(from);
  symlinkSync(Buffer.from("a\xffb", "latin1"), join(from, "odd"));
  symlinkSync("\uFFFD", join(from, "plain"));
  const root = new HostRoot(realHost, from);
  const nothing = async function* () {};
  const { left } = await copyWorkspace(diskOf(root), to, new Map(), nothing, async () => {});
  root.close();
  expect([left, readdirSync(to)]).toEqual([["odd"], ["plain"]]);
});
