/** `holdfast/testing`: laws that anybody's store or adapter must keep, and a provider that refuses what real ones refuse. */
export { type Abilities, type Opened, overServer } from "./adapter-laws/bench.ts";
export { type AdapterUnderLaw, adapterLaws } from "./adapter-laws/laws.ts";
export { type BlobStoreUnderLaw, blobStoreLaws } from "./blob-store-laws.ts";
export { filesystemLaws } from "./filesystem-laws.ts";
export type { FilesystemUnderLaw } from "./filesystem-laws/context.ts";
export { type Law, register } from "./law.ts";
export {
  type Asked,
  type Dialect,
  pieces,
  type Refusal,
  type RefusalKind,
  type ServerEvent,
  type Telling,
} from "./provider-server/dialect.ts";
export type { SeenRequest } from "./provider-server/log.ts";
export { replayScript } from "./provider-server/replay.ts";
export { type ProviderServer, type ProviderServerOptions, startProviderServer } from "./provider-server/server.ts";
export { isSealed, seal } from "./provider-server/seal.ts";
export { storeLaws } from "./store-laws.ts";
export type { StoreUnderLaw } from "./store-laws/context.ts";
export type {
  CutPoint,
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedFault,
  ScriptQuestion,
  ScriptStep,
} from "../records/script.ts";
export { snapshotsEquivalent } from "./snapshots-equivalent.ts";
