import { HoldfastError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { DamagedEntry, JournalEntry } from "../journal/prove.ts";
import type { DroppedRecord } from "../records/codec.ts";
import { type BlobName, isBlobName, toBlobName } from "../records/ids.ts";
import type { Redactor } from "../records/redact.ts";
import { redactDraft } from "../records/redact-record.ts";
import { catalogPart, withoutSecretReason } from "./catalog-part.ts";
import { type KeptState, keptState } from "./kept-state.ts";
import { effectsIn } from "./kept-effects.ts";
import { withoutSecrets } from "./media-secrets.ts";
import { readPart } from "./said-part.ts";

/** What is needed to look for secrets in what was kept. */
export interface KeptSecretsDeps {
  readonly redactor: Redactor;
  readBlob(name: BlobName): AsyncIterable<Bytes>;
  /** Parts that are kept byte for byte, whatever they hold. */
  isExact(part: string): boolean;
}

/** What effects said lies in no part: its name is nobody's. */
type PlaceIn = readonly [part: string, place: Pick<KeptState["parts"][string], "name" | "from" | "to">];

/** Content that the conversation shows. */
interface Shown {
  readonly name: BlobName;
  readonly mediaType: string | undefined;
}

/** Finds secrets that were kept before anybody knew them: in records, in the content of kept states, and in files that were shown. */
export class KeptSecrets {
  readonly #deps: KeptSecretsDeps;
  readonly #read = new Map<BlobName, Buffer | undefined>();
  /** Files that were shown, each with whether it holds one: they may be many and large, and are not held. */
  readonly #shown = new Map<string, boolean | undefined>();

  constructor(deps: KeptSecretsDeps) {
    this.#deps = deps;
  }

  inRecord(entry: Exclude<JournalEntry, DamagedEntry | DroppedRecord>): boolean {
    const { redactor } = this.#deps;
    if (redactor.knows(JSON.stringify(entry)) || redactDraft(entry, redactor) !== entry) return true;
    return entry.kind === "state-changed" && redactor.json(entry.delta) !== entry.delta;
  }

  /**
   * The content that a kept state lies in, and pictures and files of the conversation, each with whether it holds a secret.
   * What cannot be read is left out.
   */
  async inContent(entry: JournalEntry): Promise<ReadonlyMap<BlobName, boolean>> {
    const found = new Map<BlobName, boolean>();
    const kept = keptState(entry);
    const places: readonly PlaceIn[] = kept === undefined ? [] : [...Object.entries(kept.parts), ...effectPlaces(kept)];
    for (const name of new Set(places.map(([, place]) => toBlobName(place.name)))) {
      const bytes = await this.#bytesOf(name);
      if (bytes === undefined) continue;
      const here = places.filter(([, place]) => place.name === name);
      found.set(name, this.#inside(bytes, here));
    }
    for (const shown of shownIn(entry)) {
      const holds = await this.#inShown(shown);
      if (holds !== undefined) found.set(shown.name, holds || found.get(shown.name) === true);
    }
    return found;
  }

  async #inShown({ name, mediaType = "" }: Shown): Promise<boolean | undefined> {
    const key = `${name} ${mediaType}`;
    if (!this.#shown.has(key)) {
      const bytes = await this.#load(name);
      const holds = bytes === undefined ? undefined : withoutSecrets(bytes, mediaType, this.#deps.redactor) !== bytes;
      this.#shown.set(key, holds);
    }
    return this.#shown.get(key);
  }

  /**
   * Looks at every part that lies in some content, and at what lies there beside them: a value that has changed since
   * stays in the content it was once written with.
   */
  #inside(bytes: Buffer, places: readonly PlaceIn[]): boolean {
    const { redactor } = this.#deps;
    const rest = Buffer.from(bytes);
    for (const [part, { from = 0, to = bytes.length }] of places) {
      rest.fill(" ", from, to);
      const isCatalog = part === catalogPart.name;
      if (this.#deps.isExact(part) && !isCatalog) continue;
      const text = bytes.subarray(from, to).toString("utf8");
      const parsed = parseJson(text);
      if (isCatalog && parsed.ok && withoutSecretReason(parsed.value, redactor) !== parsed.value) return true;
      if (isCatalog) continue;
      if (redactor.knows(text) || (parsed.ok && redactor.json(parsed.value) !== parsed.value)) return true;
    }
    return redactor.knows(rest.toString("utf8"));
  }

  async #bytesOf(name: BlobName): Promise<Buffer | undefined> {
    if (!this.#read.has(name)) this.#read.set(name, await this.#load(name));
    return this.#read.get(name);
  }

  async #load(name: BlobName): Promise<Buffer | undefined> {
    try {
      return Buffer.concat(await Array.fromAsync(this.#deps.readBlob(name)));
    } catch (error) {
      if (HoldfastError.is(error, "BLOB_MISSING") || HoldfastError.is(error, "BLOB_CORRUPT")) return undefined;
      throw error;
    }
  }
}

function effectPlaces(kept: KeptState): readonly PlaceIn[] {
  return effectsIn(kept).flatMap(({ place }) => {
    const { content, args, result } = place ?? {};
    const ranges = [args, result].filter((range) => range !== undefined);
    return content === undefined ? [] : ranges.map(([from, to]) => ["", { name: content.name, from, to }] as const);
  });
}

/** What the user brought, and what a tool answered with. */
function shownIn(entry: JournalEntry): readonly Shown[] {
  if (entry.kind === "call-closed")
    return (entry.parts ?? []).flatMap(({ blob, mediaType }) =>
      blob === undefined ? [] : [{ name: blob.name, mediaType }],
    );
  if (entry.kind !== "user-said") return [];
  return (entry.parts ?? []).map(readPart).flatMap((part) => {
    const { blob, mediaType } = "media" in part ? part.media : {};
    return blob === undefined || !isBlobName(blob.name) ? [] : [{ name: blob.name, mediaType }];
  });
}
