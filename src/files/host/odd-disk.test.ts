import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { HostRoot } from "./folders.ts";
import { guardedRoot, placesIn, refuseHuge } from "./guard.ts";
import { linkAt } from "./manifest.ts";
import { type HostPort, openingFiles, realHost } from "./port.ts";
import { hashFile, readingFile, wholeOf } from "./read-file.ts";
import { syncNames } from "./syncing.ts";
import { walkTree } from "./walk.ts";

const scratch = scratchFolder();
let places = 0;
/** A folder with a file, a folder in it with another, a link and a pipe. */
const folder = () => {
  places += 1;
  const root = join(scratch, `odd-${places}`);
  mkdirSync(join(root, "d"), { recursive: true });
  writeFileSync(join(root, "f"), "file");
  writeFileSync(join(root, "d", "g"), "deep");
  symlinkSync("f", join(root, "l"));
  execFileSync("mkfifo", [join(root, "p")]);
  return root;
};
const system = (code: string) => Object.assign(new Error(code), { code });
/** A system on which one question about paths that end so fails. */
const failing = (operation: keyof HostPort, end: string, code: string): HostPort =>
  new Proxy(realHost, {
    get: (target, name) => {
      const work = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (name !== operation) return work;
      return (...args: unknown[]) => {
        if (String(args[0]).endsWith(end)) throw system(code);
        return work(...args);
      };
    },
  });

describe("a walk through a tree that changes, or may not be seen", () => {
  const walked = (port: HostPort, base = folder()) => walkTree({ port, base, isOwn: (path) => path === "own" });

  test("[EXEC-9] names what is no file, and goes into no folder that may not be read", () => {
    const { entries, uncovered } = walked(realHost);
    expect([...entries.keys()].toSorted()).toEqual(["d", "d/g", "f", "l", "p"]);
    expect(uncovered).toEqual([{ path: "p", why: "special" }]);
    expect(walked(failing("textNames", "/d", "EACCES")).uncovered).toContainEqual({ path: "d", why: "unreadable" });
    expect(walked(failing("textNames", "/d", "EPERM")).entries.has("d/g")).toBe(false);
  });

  test("[EXEC-16] passes over what is gone when its turn comes, and tells a disk that fails as that", () => {
    const gone = walked({ ...realHost, stat: (path) => (path.endsWith("/f") ? undefined : realHost.stat(path)) });
    expect([...gone.entries.keys()].toSorted()).toEqual(["d", "d/g", "l", "p"]);
    expect([...walked(failing("textNames", "/d", "ENOENT")).entries.keys()]).not.toContain("d/g");
    expect(() => walked(failing("textNames", "/d", "EIO"))).toThrow("EIO");
  });

  test("[EXEC-9] another file system below the folder is named, and not entered", () => {
    const base = folder();
    const port: HostPort = {
      ...realHost,
      stat: (path) => {
        const stat = realHost.stat(path);
        return stat !== undefined && path === `${base}/d` ? { ...stat, dev: stat.dev + 1n } : stat;
      },
    };
    const { entries, uncovered } = walked(port, base);
    expect([entries.has("d/g"), uncovered]).toEqual([
      false,
      expect.arrayContaining([{ path: "d", why: "other-device" }]),
    ]);
  });
});

describe("a file that is opened by its path", () => {
  test("[HOST-15] is none when it is gone, a link, a folder or a pipe, and a disk that fails is told", () => {
    const root = folder();
    expect(hashFile(realHost, join(root, "f"))).toEqual({ digest: nameOfBytes(Buffer.from("file")), size: 4 });
    for (const name of ["none", "l", "d", "p", "f/below"])
      expect([name, hashFile(realHost, join(root, name))]).toEqual([name, undefined]);
    expect(() => hashFile(failing("openFile", "/f", "EMFILE"), join(root, "f"))).toThrow("EMFILE");
  });

  test("[EXEC-16] is read to where it ends, also when it grew or shrank since it was looked at", () => {
    const root = folder();
    const read = (size: number) =>
      readingFile(realHost, join(root, "f"), (handle) => Buffer.from(wholeOf(realHost, handle, size)).toString());
    expect([read(2), read(4), read(9)]).toEqual(["fi", "file", "file"]);
    writeFileSync(join(root, "big"), "x".repeat(70_000));
    const small: HostPort = { ...realHost, statOpen: (handle) => ({ ...realHost.statOpen(handle), size: 5 }) };
    expect(hashFile(small, join(root, "big"))).toEqual({
      digest: nameOfBytes(Buffer.from("x".repeat(70_000))),
      size: 70_000,
    });
  });

  test("[EXEC-16] a link that is gone, or none by now, leads nowhere, and any other failure is told", () => {
    const root = folder();
    expect([
      linkAt(realHost, join(root, "l")),
      linkAt(realHost, join(root, "none")),
      linkAt(realHost, join(root, "f")),
    ]).toEqual(["f", "", ""]);
    expect(() => linkAt(failing("readLink", "/l", "EIO"), join(root, "l"))).toThrow("EIO");
  });
});

describe("a folder that is to be a workspace", () => {
  test("[HOST-14] is counted as far as it may be seen, and a disk that fails is told", () => {
    const root = folder();
    expect(() => refuseHuge(realHost, root, 4)).toThrow(expect.objectContaining({ code: "WORKSPACE_ROOT_REFUSED" }));
    for (const code of ["ENOENT", "ENOTDIR", "EACCES"])
      expect(() => refuseHuge(failing("names", "/d", code), root, 4)).not.toThrow();
    expect(() => refuseHuge(failing("names", "/d", "EIO"), root, 99)).toThrow("EIO");
  });

  test("[HOST-14] is refused when it is none, and paths are known as lying in it or not", () => {
    const root = folder();
    expect(() => guardedRoot(realHost, join(root, "none"), {})).toThrow(
      expect.objectContaining({ code: "WORKSPACE_UNUSABLE" }),
    );
    expect(() => guardedRoot(realHost, "", {})).toThrow(expect.objectContaining({ code: "BAD_OPTION" }));
    const places = (store?: string, blobs?: string) =>
      placesIn(root, {
        ...(store === undefined ? {} : { place: store, beside: ["-wal"] }),
        blobs: blobs === undefined ? {} : { place: blobs },
      });
    expect([undefined, join(root, "d/g"), join(root, "..d/g"), scratch, root].map((path) => places(path))).toEqual([
      [],
      [{ path: "d/g", beside: true, coming: ["-wal"] }],
      [{ path: "..d/g", beside: true, coming: ["-wal"] }],
      [],
      [],
    ]);
    // Each once, the outer for the inner, and nothing that lies in the folder of ours.
    expect(places(join(root, "s.db"), join(root, "s.db.blobs"))).toEqual([
      { path: "s.db", beside: true, coming: ["-wal"] },
    ]);
    expect(places(join(root, "d/s.db"), join(root, "d"))).toEqual([{ path: "d", beside: false, coming: [""] }]);
    expect(places(join(root, ".holdfast/s.db"), join(root, "new/deep"))).toEqual([
      { path: "new/deep", beside: false, coming: [""] },
    ]);
  });
});

describe("names that are made durable", () => {
  const synced = async (
    port: HostPort,
    files: readonly (readonly string[])[],
    folders: readonly (readonly string[])[],
    withWhole = true,
  ) => {
    const path = folder();
    const root = new HostRoot(port, path);
    const wholes: string[] = [];
    const whole = async (at: string) => void wholes.push(at);
    try {
      await syncNames(root, { files, folders }, withWhole ? whole : undefined);
    } finally {
      root.close();
    }
    return wholes.length;
  };
  const many = Array.from({ length: 70 }, (_, nth) => [`n${nth}`]);

  test("[HOST-1] few are synced one by one, of many the whole disk, and what is gone need not be", async () => {
    const open: number[] = [];
    const port: HostPort = { ...realHost, sync: async (handle) => void open.push(handle) };
    expect(await synced(port, [["f"], ["d", "g"], ["none"], ["l"]], [[], ["d"], ["d"], ["gone"]])).toBe(0);
    expect(open).toHaveLength(4);
    expect(await synced(port, many, [])).toBe(1);
    expect(await synced(port, many.slice(0, 40), many.slice(0, 40))).toBe(1);
    expect(await synced(port, many, [], false)).toBe(0);
  });

  test("[HOST-1] what its owner may not open is synced with the whole disk, where that can be done", async () => {
    expect(await synced(failing("openFile", "/f", "EACCES"), [["f"]], [])).toBe(1);
    await expect(synced(failing("openFile", "/f", "EACCES"), [["f"]], [], false)).rejects.toThrow("EACCES");
    await expect(synced(failing("openFile", "/f", "EIO"), [["f"]], [])).rejects.toThrow("EIO");
  });
});

test("[HOST-17] where the system would follow a link, it is looked for before a file is opened", () => {
  const [root, open] = [folder(), openingFiles(true)];
  expect(() => open(join(root, "l"), "read")).toThrow("a link is not followed"); // before the system is asked
  realHost.close(open(join(root, "f"), "read"));
});
