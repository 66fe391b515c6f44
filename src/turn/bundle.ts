import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { checkOptions, OBJECT } from "../base/options.ts";
import type { ArchiveFile } from "../base/tar.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import { CallRecords } from "../history/call-records.ts";
import { readBlob } from "../journal/blobs.ts";
import { writeBundle } from "../journal/bundle/write.ts";
import type { JournalDeps } from "../journal/journal.ts";
import type { BlobName } from "../records/ids.ts";
import type { Redactor } from "../records/redact.ts";
import { KeptSecrets } from "./kept-secrets.ts";
import { isExactPart } from "./kernel-parts.ts";
import type { SessionLook } from "./look.ts";
import { isUnfinishedFork } from "./unfinished-fork.ts";

/** Options of `holdfast.exportBundle`. */
export interface ExportOptions {
  /**
   * Facts about the machine and the program to put into the bundle: versions, settings. Secrets are hidden in it, too.
   */
  readonly environment?: JsonObject;
}

/**
 * Writes a session as one archive for somebody else to look at. It contains the records with their chain and the
 * content they refer to; and, for people to read, the state before and after the newest turn, the conversation, the
 * calls, what the model saw, and where all this ran. It takes no lease. Workspace files and secrets known by now are
 * left out.
 */
export async function* exportBundle(
  deps: JournalDeps & { readonly redactor: Redactor },
  look: SessionLook,
  options: ExportOptions = {},
): AsyncIterable<Bytes> {
  checkOptions(options, { environment: OBJECT });
  const { environment = {} } = options;
  const { store, redactor } = deps;
  // Where it is imported nobody could tell, and it would be opened without its origin's mode and files.
  if (await isUnfinishedFork(store, look.row.id)) throw new HoldfastError("FORK_UNFINISHED", { session: look.row.id });
  const { hidden, content } = await survey(deps, look);
  yield* writeBundle(store, look.row, {
    exportedAt: instantOf(deps.clock),
    hidden,
    content,
    files: () => filesFor(look, redactor, environment),
  });
}

/** Which bodies stay behind, and what content goes along. */
async function survey({ store, redactor }: JournalDeps & { readonly redactor: Redactor }, look: SessionLook) {
  const secrets = new KeptSecrets({ redactor, readBlob: (name) => readBlob(store, name), isExact: isExactPart });
  const hidden = new Set<number>();
  const content = new Set<BlobName>();
  for await (const entry of look.read()) {
    if (entry.kind === "damaged" || entry.kind === "dropped") continue;
    const blobs = await secrets.inContent(entry);
    if (secrets.inRecord(entry) || [...blobs.values()].includes(true)) hidden.add(entry.seq);
    else for (const name of blobs.keys()) content.add(name);
  }
  return { hidden, content: [...content] };
}

async function* filesFor(look: SessionLook, redactor: Redactor, environment: JsonObject): AsyncIterable<ArchiveFile> {
  const document = (path: string, value: Json): ArchiveFile => ({
    path,
    bytes: Buffer.from(`${JSON.stringify(redactor.json(value), undefined, 2)}\n`),
  });
  const lines = (path: string, values: readonly unknown[]): ArchiveFile => ({
    path,
    bytes: Buffer.from(values.map((value) => `${JSON.stringify(redactor.json(value as Json))}\n`).join("")),
  });
  yield document("environment.json", environment);
  const records = new CallRecords();
  const views: object[] = [];
  let spoken: number | undefined;
  for await (const entry of look.read()) {
    if (entry.kind === "damaged") continue;
    records.take(entry);
    if (entry.kind === "view-chosen") views.push(entry);
    if (entry.kind === "user-said") spoken = entry.seq;
  }
  yield document("state/before.json", await stateOf(look, spoken === undefined ? undefined : spoken - 1));
  yield document("state/after.json", await stateOf(look));
  yield lines(
    "conversation.jsonl",
    (await look.conversation()).map(({ origin: _origin, ...item }) => item),
  );
  yield lines("calls.jsonl", [...records.tombstones, ...records.all]);
  yield lines("views.jsonl", views);
}

/** What was true then. A state that can no longer be told is told as that. */
async function stateOf(look: SessionLook, after?: number): Promise<JsonObject> {
  try {
    return await look.state(after);
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { unavailable: `${error.code}: ${error.message}` };
  }
}
