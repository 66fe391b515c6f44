/** `holdfast/blobs/files`: content as files named by what they hold. */
export { type FileBlobsOptions, fileBlobs } from "./store.ts";
export { type FilePort, type PortHandle, realFiles } from "./port.ts";
