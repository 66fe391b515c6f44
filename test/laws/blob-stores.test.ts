import { join } from "node:path";
import { test } from "vitest";
import { fileBlobs } from "../../src/blobs/files/entry.ts";
import { memoryBlobs } from "../../src/stores/memory/entry.ts";
import { MemoryShelf } from "../../src/stores/memory/entry.ts";
import { blobStoreLaws, register } from "../../src/testing/entry.ts";
import { scratchFolder } from "../support/places.ts";

const folder = scratchFolder();
const shelves = new Map<string, MemoryShelf>();

register(blobStoreLaws("files", { open: async (place) => fileBlobs(join(folder, place)) }), test);
register(
  blobStoreLaws("files-unsynced", { open: async (place) => fileBlobs(join(folder, place), { sync: false }) }),
  test,
);
register(
  blobStoreLaws("memory", {
    async open(place) {
      const shelf = shelves.get(place) ?? new MemoryShelf();
      shelves.set(place, shelf);
      return memoryBlobs(shelf);
    },
  }),
  test,
);
