import type { ByteRange, Bytes, ByteSource } from "../../contracts/blob-store.ts";
import type { FileLimits } from "../../contracts/filesystem.ts";
import { piecesOf } from "../../records/byte-source.ts";
import type { BlobName } from "../../records/ids.ts";
import { refuseLarge } from "../filesystem.ts";
import type { Disk } from "./disk.ts";
import { hostError } from "./failures.ts";
import type { Folder } from "./folders.ts";
import { ChunkHasher } from "./hasher.ts";
import { PLACES, writeAll } from "./meta.ts";
import { type HostPort, nameText } from "./port.ts";

/** Content too large to hold, in a file of ours until its call commits. */
export interface StagedFile {
  readonly file: string;
  readonly digest: BlobName;
  readonly size: number;
}

/** All such files of a workspace. */
export class StagedFiles {
  readonly #disk: Disk;
  readonly #folder: Folder;
  readonly #limits: FileLimits;
  readonly #freshId: () => string;

  constructor(disk: Disk, folder: Folder, limits: FileLimits, freshId: () => string) {
    this.#disk = disk;
    this.#folder = folder;
    this.#limits = limits;
    this.#freshId = freshId;
  }

  /** Streams content into one. */
  keep(source: ByteSource, path: string): Promise<StagedFile> {
    const allows = (size: number) => refuseLarge({ limits: this.#limits }, path, size);
    return stageFile(this.#disk.root.port, this.#folder, `stage-${this.#freshId()}`, source, allows);
  }

  kept(file: string, range?: ByteRange): AsyncIterable<Bytes> {
    return this.#disk.stream([...PLACES.temporary, file], range);
  }

  letGo(file: string): void {
    try {
      this.#disk.root.port.unlink(this.#folder.at(file));
    } catch {
      // Nobody waits for it, so nobody is told. It goes when the workspace is closed, or opened again.
    }
  }

  /** Whatever was left there: nobody waits any more. */
  clear(): void {
    const { port } = this.#disk.root;
    for (const name of port.names(this.#folder.at())) port.unlink(this.#folder.at(nameText(name)));
  }
}

/** Piece by piece; a source that breaks, or is more than `allows` takes, leaves nothing. */
export async function stageFile(
  port: HostPort,
  folder: Folder,
  file: string,
  source: ByteSource,
  allows: (size: number) => void,
): Promise<StagedFile> {
  const handle = port.openFile(folder.at(file), "create");
  const hasher = new ChunkHasher();
  try {
    for await (const bytes of piecesOf(source)) {
      allows(hasher.size + bytes.length);
      writeAll(port, handle, bytes, hasher.size);
      hasher.add(bytes);
    }
  } catch (error) {
    port.unlink(folder.at(file));
    throw hostError(error, file);
  } finally {
    port.close(handle);
  }
  return { file, digest: hasher.name(), size: hasher.size };
}
