import type { ByteSource } from "../../contracts/blob-store.ts";
import { piecesOf } from "../../records/byte-source.ts";
import type { BlobName } from "../../records/ids.ts";
import { hostError } from "./failures.ts";
import type { Folder } from "./folders.ts";
import { ChunkHasher } from "./hasher.ts";
import { writeAll } from "./meta.ts";
import type { HostPort } from "./port.ts";

/** Content too large to hold, in a file of ours until its call commits. */
export interface StagedFile {
  readonly file: string;
  readonly digest: BlobName;
  readonly size: number;
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
