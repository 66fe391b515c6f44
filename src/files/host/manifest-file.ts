import { sha256 } from "../../base/hash.ts";
import type { ExecGround } from "./exec-place.ts";
import {
  type KeptManifest,
  type Manifest,
  type ManifestChange,
  manifestChange,
  manifestText,
  readManifest,
  withChanges,
} from "./manifest.ts";
import { makePlace, PLACES, readNamed, writeAll, writeNamed } from "./meta.ts";
import { unlinkIfThere } from "./rescue.ts";
import type { ToSync } from "./syncing.ts";

export const MANIFEST = "manifest";
export const CHANGES = "manifest-changes";
/** Changes are written after the whole until they are so much of it. */
const SHARE = 0.25;

/**
 * Writes a manifest down beside the content it names. A tree of fifty thousand files of which three have changed costs three
 * lines: each line of changes carries a sum over everything before it, so a torn one, or one that belongs to another whole,
 * is none. Answers what is to be synced.
 */
export function saveManifest(ground: ExecGround, manifest: Manifest, earlier: KeptManifest | undefined): ToSync {
  const change = earlier === undefined ? undefined : manifestChange(manifest, earlier.manifest);
  if (earlier !== undefined && change === undefined) {
    ground.known.kept = { ...earlier, manifest };
    return { files: [], folders: [] };
  }
  const line = earlier === undefined || change === undefined ? undefined : changeLine(earlier.sum, change);
  const name =
    earlier !== undefined && line !== undefined && earlier.changes + line.text.length < earlier.whole * SHARE
      ? append(ground, manifest, earlier, line)
      : rewrite(ground, manifest);
  return { files: [[...PLACES.images, name]], folders: [PLACES.images] };
}

/** The manifest that lies there, if a whole one does. */
export function keptManifest(ground: ExecGround): KeptManifest | undefined {
  const { root, known } = ground;
  known.kept ??= root.within(PLACES.images, (folder) => {
    const { port } = root;
    if (port.stat(folder.at(MANIFEST)) === undefined) return undefined;
    const text = readNamed(port, folder, MANIFEST).toString("utf8");
    const manifest = readManifest(text);
    if (manifest === undefined) return undefined;
    const whole = { manifest, sum: text.slice(0, 64), changes: 0, whole: Buffer.byteLength(text) };
    if (port.stat(folder.at(CHANGES)) === undefined) return whole;
    return withLines(whole, readNamed(port, folder, CHANGES).toString("utf8"));
  });
  return known.kept;
}

/** The changes that hang on it, as far as they do. */
function withLines(whole: KeptManifest, text: string): KeptManifest {
  const changes: ManifestChange[] = [];
  let { sum, changes: bytes } = whole;
  for (const line of text.split("\n")) {
    const body = line.slice(65);
    if (body === "" || line.slice(0, 64) !== sha256(`${sum}${body}`)) break;
    changes.push(JSON.parse(body) as ManifestChange);
    sum = line.slice(0, 64);
    bytes += Buffer.byteLength(line) + 1;
  }
  return { ...whole, manifest: withChanges(whole.manifest, changes), sum, changes: bytes };
}

interface Line {
  readonly sum: string;
  readonly text: Buffer;
}

function changeLine(after: string, change: ManifestChange): Line {
  const body = JSON.stringify(change);
  const sum = sha256(`${after}${body}`);
  return { sum, text: Buffer.from(`${sum} ${body}\n`) };
}

function append({ root, known }: ExecGround, manifest: Manifest, earlier: KeptManifest, { sum, text }: Line): string {
  root.inside(PLACES.images, (folder) => {
    const handle = root.port.openFile(folder.at(CHANGES), "update");
    try {
      writeAll(root.port, handle, text, earlier.changes);
      root.port.truncate(handle, earlier.changes + text.length);
    } finally {
      root.port.close(handle);
    }
  });
  known.kept = { ...earlier, manifest, sum, changes: earlier.changes + text.length };
  return CHANGES;
}

/** Under its name only when it is whole. Changes of the one before it hang on another sum, and mean nothing any more. */
function rewrite({ root, known }: ExecGround, manifest: Manifest): string {
  const { port } = root;
  const text = Buffer.from(manifestText(manifest));
  makePlace(root, PLACES.images);
  root.inside(PLACES.images, (folder) => {
    const coming = folder.at(`coming-${MANIFEST}`);
    unlinkIfThere(port, coming);
    writeNamed(port, folder, `coming-${MANIFEST}`, text);
    port.rename(coming, folder.at(MANIFEST));
    unlinkIfThere(port, folder.at(CHANGES));
  });
  known.kept = { manifest, sum: text.subarray(0, 64).toString("utf8"), changes: 0, whole: text.length };
  return MANIFEST;
}
