import type { Sha256 } from "../base/hash.ts";
import { roomFor } from "../context/compress/compress.ts";
import { soundPrepared } from "../context/compress/prepared.ts";
import { contentText } from "../context/content-text.ts";
import { contentDigest } from "../context/make-page.ts";
import type { Compressed, Compressible } from "../contracts/compressor.ts";
import type { Item } from "../wire/item.ts";
import type { ViewLog } from "./view-log.ts";

/** An output whose page is not made yet, and what a model would be asked to make of it. */
export interface UnpreparedOutput {
  readonly digest: Sha256;
  readonly what: Compressible;
}

export interface PreparedOrigin {
  /** The newest record of earlier processes. */
  readonly openedAt: number;
  /** Hides secrets, as the journal would: the page must say what the journal holds. */
  readonly redact: (text: string) => string;
}

/**
 * What a model has made of outputs. A content is asked about once, before the first page that says it is made: whatever the
 * answer, a page that was ever shown reads the same from then on, in every process.
 */
export class PreparedTexts {
  readonly #log: Pick<ViewLog, "prepared">;
  readonly #origin: PreparedOrigin;
  readonly #mine = new Map<Sha256, Compressed>();
  readonly #known = new Set<Sha256>();
  readonly #seen = new WeakSet<Item>();

  constructor(log: Pick<ViewLog, "prepared">, origin: PreparedOrigin) {
    this.#log = log;
    this.#origin = origin;
  }

  readonly of = (digest: Sha256): Compressed | undefined => this.#mine.get(digest) ?? this.#log.prepared.get(digest);

  /** Long outputs that came in this process and say what none before them said. Each is answered once. */
  wanting(items: readonly Item[], idOf: (item: Item) => string | undefined): readonly UnpreparedOutput[] {
    const from = items.findLastIndex((item) => this.#seen.has(item)) + 1;
    return items.slice(from).flatMap((item): readonly UnpreparedOutput[] => {
      this.#seen.add(item);
      if (item.kind !== "output") return [];
      const text = contentText(item);
      if (text.length < SHORTEST) return [];
      const digest = contentDigest(item, text);
      const isKnown = this.#known.has(digest) || this.of(digest) !== undefined;
      this.#known.add(digest);
      if (isKnown || seqOf(idOf(item)) <= this.#origin.openedAt) return [];
      const call = items.findLast((one) => one.kind === "call" && one.callId === item.callId);
      const tool = call?.kind === "call" ? call.name : item.name;
      return [{ digest, what: { text, room: roomFor(text.length), ...(tool === undefined ? {} : { tool }) } }];
    });
  }

  /** Keeps what came back, if a page may show it. */
  take({ digest, what }: UnpreparedOutput, answer: Compressed | undefined): boolean {
    const sound = soundPrepared(what, answer, this.#origin.redact);
    if (sound !== undefined) this.#mine.set(digest, sound);
    return sound !== undefined;
  }

  /** What the journal does not hold yet. */
  get unwritten(): Readonly<Record<Sha256, Compressed>> {
    return Object.fromEntries([...this.#mine].filter(([digest]) => !this.#log.prepared.has(digest)));
  }
}

/** Characters below which a text is its own compressed form. */
const SHORTEST = 512;

/** Pages are named by the record that said them. */
function seqOf(id: string | undefined): number {
  return Number(id?.slice(0, id.indexOf(".")) ?? 0);
}
