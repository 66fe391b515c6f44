import { canonicalHash, type Sha256 } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import type { Link } from "./chain.ts";
import type { SessionId } from "./ids.ts";
import { branded, count, fields, json, list, oneOf, string } from "./shape.ts";

/** What lies in an archive, and what each file must hash to. The last file of it: everything else is known by then. */
export interface BundleManifest {
  readonly format: "holdfast-bundle";
  readonly version: 1;
  readonly session: SessionId;
  readonly exportedAt: string;
  /** Where the chain of its records begins and ends. */
  readonly anchor: Link;
  readonly head: Link;
  /** Records in it, and those of them whose bodies were left out because they held a secret. */
  readonly records: number;
  readonly hidden: readonly number[];
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[];
  /** Over everything above. */
  readonly seal: Sha256;
}

export const BUNDLE_VERSION = 1;

const link = fields({ seq: count, hash: branded<Sha256>() });

export const MANIFEST_SHAPE = fields({
  format: oneOf("holdfast-bundle"),
  version: json,
  session: branded<SessionId>(),
  exportedAt: string,
  anchor: link,
  head: link,
  records: count,
  hidden: list(count),
  files: list(fields({ path: string, size: count, sha256: string })),
  seal: branded<Sha256>(),
});

export function sealManifest(manifest: Omit<BundleManifest, "seal">): BundleManifest {
  return { ...manifest, seal: sealOf(manifest) };
}

export function isSealed({ seal, ...manifest }: BundleManifest): boolean {
  return sealOf(manifest) === seal;
}

function sealOf(manifest: Omit<BundleManifest, "seal">): Sha256 {
  return canonicalHash(["holdfast-bundle", manifest as unknown as Json]);
}
