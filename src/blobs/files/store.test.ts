import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { collect } from "../../../test/support/stores.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { SeededRandom } from "../../base/random.ts";
import { CHUNK_BYTES } from "../../records/blob-name.ts";
import type { BlobName } from "../../records/ids.ts";
import { type FilePort, realFiles } from "./port.ts";
import { fileBlobs } from "./store.ts";

const folder = scratchFolder();
let places = 0;
const place = () => {
  places += 1;
  return join(folder, `${places}`);
};
const pathIn = (where: string, name: BlobName) => join(where, name.split("-")[1]?.slice(0, 2) ?? "", name);
const system = (code: string) => Object.assign(new Error(code), { code, syscall: "planted" });

describe("[BLOB-9] altered content is never given out", () => {
  const sizes = [1, 5_000, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES + 5];
  test.each(sizes)("one flipped bit in %i bytes, anywhere", async (size) => {
    const where = place();
    const blobs = fileBlobs(where);
    const bytes = Buffer.alloc(size, "content");
    const { name } = await blobs.put(bytes);
    const path = pathIn(where, name);
    const whole = readFileSync(path);
    const random = new SeededRandom(`flip-${size}`);
    for (let round = 0; round < 12; round += 1) {
      const at =
        round < 4 ? [0, whole.length - 1, size - 1, Math.floor(whole.length / 2)][round]! : random.below(whole.length);
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      writeFileSync(path, flipped);
      const got: Buffer[] = [];
      const reading = (async () => {
        for await (const piece of blobs.get(name)) got.push(Buffer.from(piece));
      })();
      await expect(reading).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
      const given = Buffer.concat(got);
      expect(given.equals(bytes.subarray(0, given.length))).toBe(true);
    }
  });

  test.each(sizes)("%i bytes cut short, or grown", async (size) => {
    const where = place();
    const blobs = fileBlobs(where);
    const { name } = await blobs.put(Buffer.alloc(size, "content"));
    const path = pathIn(where, name);
    const full = statSync(path).size;
    for (const length of [0, 1, size - 1, full - 1, full + 1, full + 4_096, 2 * CHUNK_BYTES + 1]) {
      if (length === full || length < 0) continue;
      await blobs.put(Buffer.alloc(size, "content"));
      truncateSync(path, length);
      await expect(collect(blobs.get(name))).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
    }
  });

  test("whole content under another content's name", async () => {
    const where = place();
    const blobs = fileBlobs(where);
    const sizes = [2 * CHUNK_BYTES, 2 * CHUNK_BYTES, 5, 5];
    const [a, b, c, d] = await Promise.all(sizes.map((size, n) => blobs.put(Buffer.alloc(size, n + 1))));
    for (const [mine, theirs] of [
      [a!, b!],
      [c!, d!],
    ] as const) {
      writeFileSync(pathIn(where, mine.name), readFileSync(pathIn(where, theirs.name)));
      await expect(collect(blobs.get(mine.name))).rejects.toMatchObject({ code: "BLOB_CORRUPT" });
    }
  });

  test("putting the content again heals it", async () => {
    const where = place();
    const blobs = fileBlobs(where);
    const bytes = Buffer.alloc(2 * CHUNK_BYTES, "content");
    const { name } = await blobs.put(bytes);
    for (const source of [bytes, [bytes]]) {
      truncateSync(pathIn(where, name), 100);
      await blobs.put(source);
      expect(Buffer.concat(await collect(blobs.get(name))).equals(bytes)).toBe(true);
    }
  });
});

/** Every folder from the one above down to the shelf, once per opened store; the content before its name. */
const FIRST = ["sync above", "sync .", "sync ./tmp/*.part", "sync .", "rename ./shelf/sha256-*", "sync ./shelf"];

test("[BLOB-10] content is synced, named, and its folder synced, before it is acknowledged", async () => {
  const log: string[] = [];
  const where = place();
  const short = (path: string) =>
    !path.startsWith(where)
      ? "above"
      : `.${path.slice(where.length)}`
          .replace(/[0-9a-f]{8,}/, "*")
          .replace(/^\.\/[0-9a-f]{2}$/, "./shelf")
          .replace(/^\.\/[0-9a-f]{2}\//, "./shelf/");
  const files: FilePort = {
    ...realFiles,
    async open(path, flags, mode) {
      const handle = await realFiles.open(path, flags, mode);
      return {
        write: (bytes, offset, length) => handle.write(bytes, offset, length),
        read: (bytes, offset, length, position) => handle.read(bytes, offset, length, position),
        stat: () => handle.stat(),
        close: () => handle.close(),
        async sync() {
          await handle.sync();
          log.push(`sync ${short(path)}`);
        },
      };
    },
    async rename(from, to) {
      await realFiles.rename(from, to);
      log.push(`rename ${short(to)}`);
    },
  };
  mkdirSync(where);
  const blobs = fileBlobs(where, { files });
  await blobs.put(Buffer.from("abc"));
  expect(log).toEqual(FIRST);
  log.length = 0;
  await blobs.put(Buffer.from("abc"));
  expect(log).toEqual(["sync ./shelf"]);
  log.length = 0;
  await fileBlobs(where, { files }).put([Buffer.from("abc")]);
  expect(log).toEqual(FIRST);
  log.length = 0;
  await fileBlobs(place(), { files, sync: false }).put(Buffer.from("abc"));
  expect(log.filter((line) => line.startsWith("sync"))).toEqual([]);
});

describe("[BLOB-11] every failure of the system is told by its code, nothing is acknowledged, and the next put works", () => {
  type Operation = "open" | "write" | "sync" | "close" | "rename" | "mkdir";
  const failing = (operation: Operation, code: string, state: { on: boolean }): FilePort => {
    const fail = (name: Operation) => {
      if (state.on && name === operation) throw system(code);
    };
    return {
      ...realFiles,
      async open(path, flags, mode) {
        if (flags === "wx") fail("open");
        const handle = await realFiles.open(path, flags, mode);
        if (flags === "r") return handle;
        return {
          read: (bytes, offset, length, position) => handle.read(bytes, offset, length, position),
          stat: () => handle.stat(),
          async write(bytes, offset, length) {
            fail("write");
            return handle.write(bytes, offset, length);
          },
          async sync() {
            fail("sync");
            await handle.sync();
          },
          async close() {
            await handle.close();
            fail("close");
          },
        };
      },
      async rename(from, to) {
        fail("rename");
        await realFiles.rename(from, to);
      },
      async mkdir(path, options) {
        fail("mkdir");
        return realFiles.mkdir(path, options);
      },
    };
  };
  const codes = [
    ["EIO", "STORE_IO"],
    ["ENOSPC", "STORE_FULL"],
    ["EDQUOT", "STORE_FULL"],
    ["EACCES", "STORE_READONLY"],
    ["EROFS", "STORE_READONLY"],
    ["EMFILE", "STORE_IO"],
    ["ESTALE", "STORE_IO"],
  ] as const;
  const cases = (["open", "write", "sync", "close", "rename", "mkdir"] as const).flatMap((operation) =>
    codes.map(([system, ours]) => [operation, system, ours] as const),
  );
  test.each(cases)("%s fails with %s: %s", async (operation, code, ours) => {
    const where = place();
    const state = { on: true };
    const blobs = fileBlobs(where, { files: failing(operation, code, state) });
    const bytes = Buffer.alloc(CHUNK_BYTES + 3, 5);
    await expect(blobs.put(bytes)).rejects.toMatchObject({ code: ours, details: { system: code } });
    expect(await collect(blobs.list())).toEqual([]);
    state.on = false;
    expect(await blobs.sweepTemps(Date.now() + 1e6)).toBe(0);
    const { name } = await blobs.put(bytes);
    expect(Buffer.concat(await collect(blobs.get(name))).equals(bytes)).toBe(true);
  });

  test("when cleaning up fails, too, both are told", async () => {
    const state = { on: true };
    const files: FilePort = {
      ...failing("sync", "EIO", state),
      async unlink() {
        throw system("EROFS");
      },
    };
    const failure: unknown = await fileBlobs(place(), { files })
      .put(Buffer.alloc(9))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "STORE_IO" });
    const { cause } = failure as HoldfastError;
    expect((cause as AggregateError).errors).toMatchObject([{ code: "EIO" }, { code: "EROFS" }]);
  });

  test.each(["read", "stat"] as const)("a %s that fails while content is got", async (operation) => {
    const where = place();
    const { name } = await fileBlobs(where).put(Buffer.alloc(10));
    const files: FilePort = {
      ...realFiles,
      async open(path, flags, mode) {
        const handle = await realFiles.open(path, flags, mode);
        const broken = async () => {
          throw system("EIO");
        };
        return {
          write: (bytes, offset, length) => handle.write(bytes, offset, length),
          sync: () => handle.sync(),
          close: () => handle.close(),
          read:
            operation === "read"
              ? broken
              : (bytes, offset, length, position) => handle.read(bytes, offset, length, position),
          stat: operation === "stat" ? broken : () => handle.stat(),
        };
      },
    };
    await expect(collect(fileBlobs(where, { files }).get(name))).rejects.toMatchObject({ code: "STORE_IO" });
  });

  test("listing and sweeping do not take a failure for an absence", async () => {
    const where = place();
    await fileBlobs(where).put(Buffer.alloc(10));
    const files: FilePort = {
      ...realFiles,
      async stat() {
        throw system("EIO");
      },
    };
    await expect(collect(fileBlobs(where, { files }).list())).rejects.toMatchObject({ code: "STORE_IO" });
    const gone: FilePort = {
      ...realFiles,
      async stat() {
        throw system("ENOENT");
      },
    };
    expect(await collect(fileBlobs(where, { files: gone }).list())).toEqual([]);
    const unremovable: FilePort = {
      ...realFiles,
      unlinkSync() {
        throw system("EACCES");
      },
    };
    const { name } = await fileBlobs(where).put(Buffer.alloc(10));
    expect(() => fileBlobs(where, { files: unremovable }).remove(name)).toThrow(
      expect.objectContaining({ code: "STORE_READONLY" }),
    );
  });

  test("short writes and short reads are continued", async () => {
    const files: FilePort = {
      ...realFiles,
      async open(path, flags, mode) {
        const handle = await realFiles.open(path, flags, mode);
        return {
          sync: () => handle.sync(),
          stat: () => handle.stat(),
          close: () => handle.close(),
          write: (bytes, offset, length) => handle.write(bytes, offset, Math.min(length, 300_000)),
          read: (bytes, offset, length, position) => handle.read(bytes, offset, Math.min(length, 70_001), position),
        };
      },
    };
    const blobs = fileBlobs(place(), { files });
    const bytes = Buffer.alloc(2 * CHUNK_BYTES + 7, "short");
    const { name } = await blobs.put(bytes);
    expect(Buffer.concat(await collect(blobs.get(name))).equals(bytes)).toBe(true);
  });

  test("a system that writes nothing is an error, not an endless loop", async () => {
    const files: FilePort = {
      ...realFiles,
      async open(path, flags, mode) {
        const handle = await realFiles.open(path, flags, mode);
        return Object.assign(Object.create(handle) as typeof handle, {
          write: async () => ({ bytesWritten: 0 }),
          sync: () => handle.sync(),
          close: () => handle.close(),
        });
      },
    };
    await expect(fileBlobs(place(), { files }).put(Buffer.alloc(3))).rejects.toMatchObject({ code: "STORE_IO" });
  });
});

test("[BLOB-12] leftovers of puts that never ended go when they are old, and fresh ones stay", async () => {
  const where = place();
  const blobs = fileBlobs(where);
  await blobs.put(Buffer.from("kept"));
  writeFileSync(join(where, "tmp", "old.part"), "12345");
  writeFileSync(join(where, "tmp", "young.part"), "123");
  utimesSync(join(where, "tmp", "old.part"), 1_000, 1_000);
  expect(await blobs.sweepTemps(2_000_000)).toBe(5);
  expect(readdirSync(join(where, "tmp"))).toEqual(["young.part"]);
  expect((await collect(blobs.list())).length).toBe(1);
});

test("[BLOB-12] putting content that is there makes it young again", async () => {
  const where = place();
  const blobs = fileBlobs(where);
  for (const source of [Buffer.from("abc"), [Buffer.from("abc")]]) {
    const { name } = await blobs.put(Buffer.from("abc"));
    utimesSync(pathIn(where, name), 1_000, 1_000);
    expect((await collect(blobs.list(2_000_000))).length).toBe(1);
    await blobs.put(source);
    expect(await collect(blobs.list(2_000_000))).toEqual([]);
  }
});

test("[BLOB-12] content that a sweep takes while it is being put again is written anew", async () => {
  const where = place();
  const { name } = await fileBlobs(where).put(Buffer.from("abc"));
  const files: FilePort = {
    ...realFiles,
    async utimes(path, atime, mtime) {
      realFiles.unlinkSync(path);
      await realFiles.utimes(path, atime, mtime);
    },
  };
  const blobs = fileBlobs(where, { files });
  await blobs.put(Buffer.from("abc"));
  expect(blobs.holds(name)).toBe(true);
});

test("[BLOB-6] what is not ours in the folder is left alone", async () => {
  const where = place();
  const blobs = fileBlobs(where);
  expect(await collect(blobs.list())).toEqual([]);
  const { name } = await blobs.put(Buffer.from("abc"));
  writeFileSync(join(where, "notes.txt"), "theirs");
  writeFileSync(join(where, name.slice(7, 9), "theirs"), "theirs");
  mkdirSync(join(where, "zz"));
  expect((await collect(blobs.list())).map((ref) => ref.name)).toEqual([name]);
  expect(existsSync(join(where, "notes.txt"))).toBe(true);
});

test("[BLOB-1] a large blob needs no memory of its size", async () => {
  const size = 192 * CHUNK_BYTES;
  const blobs = fileBlobs(place(), { sync: false });
  const piece = Buffer.alloc(CHUNK_BYTES, 3);
  const source = function* () {
    for (let at = 0; at < size; at += piece.length) yield piece;
  };
  const before = process.memoryUsage().arrayBuffers;
  const { name } = await blobs.put(source());
  let got = 0;
  let most = 0;
  for await (const bytes of blobs.get(name)) {
    got += bytes.length;
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  expect(got).toBe(size);
  expect(most).toBeLessThan(size / 2);
});

describe("a disk that refuses in the middle", () => {
  /** Fails one operation of the system, on whatever path, while it is armed. */
  const failing = (operation: keyof FilePort, code: string) => {
    const armed = { now: false };
    const files = new Proxy(realFiles, {
      get: (target, name) => {
        const work = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        if (name !== operation) return work;
        return (...args: unknown[]) => {
          if (!armed.now) return work(...args);
          if (operation.endsWith("Sync")) throw system(code);
          return Promise.reject(system(code));
        };
      },
    });
    return { armed, files };
  };

  test.each<readonly [keyof FilePort, string, string, string]>([
    ["utimes", "EACCES", "STORE_READONLY", "put"],
    ["open", "EMFILE", "STORE_IO", "get"],
    ["readdir", "EACCES", "STORE_READONLY", "list"],
    ["unlinkSync", "EPERM", "STORE_READONLY", "remove"],
    ["unlink", "EROFS", "STORE_READONLY", "sweepTemps"],
  ])("[BLOB-11] %s fails with %s: that is told as %s, and the content stays", async (operation, code, told, which) => {
    const where = place();
    const { armed, files } = failing(operation, code);
    const blobs = fileBlobs(where, { files });
    const bytes = Buffer.from("content");
    const { name } = await blobs.put(bytes);
    writeFileSync(join(where, "tmp", "left.part"), "x", { flag: "w" });
    armed.now = true;
    const work: Readonly<Record<string, () => Promise<unknown>>> = {
      put: () => blobs.put(bytes),
      get: () => collect(blobs.get(name)),
      list: () => collect(blobs.list()),
      remove: async () => blobs.remove(name),
      sweepTemps: () => blobs.sweepTemps?.(Number.POSITIVE_INFINITY) ?? Promise.resolve(),
    };
    await expect(work[which]?.()).rejects.toMatchObject({ code: told, details: { system: code } });
    armed.now = false;
    expect(Buffer.concat(await collect(blobs.get(name)))).toEqual(bytes);
  });

  test.each<readonly [keyof FilePort, (blobs: BlobStore, name: BlobName, bytes: Buffer) => unknown, unknown]>([
    ["utimes", async (blobs, name, bytes) => (await blobs.put(bytes)).name === name, true],
    ["readdir", async (blobs) => (await collect(blobs.list())).length, 0],
    ["unlinkSync", (blobs, name) => blobs.remove(name), 0],
    ["unlink", async (blobs) => blobs.sweepTemps?.(Number.POSITIVE_INFINITY), 1],
  ])("[BLOB-11] %s: what is gone when its turn comes is no failure", async (operation, work, answer) => {
    const where = place();
    const { armed, files } = failing(operation, "ENOENT");
    const blobs = fileBlobs(where, { files });
    const bytes = Buffer.from("content");
    const { name } = await blobs.put(bytes);
    writeFileSync(join(where, "tmp", "left.part"), "x");
    armed.now = true;
    expect(await work(blobs, name, bytes)).toBe(answer);
  });
});
