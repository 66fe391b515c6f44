/** `holdfast/testing`: laws that anybody's store must keep, for any test runner. */
export { type BlobStoreUnderLaw, blobStoreLaws } from "./blob-store-laws.ts";
export { type Law, register } from "./law.ts";
export { type StoreUnderLaw, storeLaws } from "./store-laws.ts";
