/** `holdfast/stores/memory`: for tests and for sessions that need not outlive the process. */
export { MemoryShelf, memoryBlobs } from "./blobs.ts";
export { MemoryDisk, memoryStore, type MemoryStoreOptions } from "./store.ts";
