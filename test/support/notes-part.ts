import type { Json } from "../../src/base/json.ts";
import { nameOfBytes } from "../../src/records/blob-name.ts";
import { type BlobName, toBlobName } from "../../src/records/ids.ts";
import type { Part } from "../../src/state/part.ts";

interface Note {
  readonly name: BlobName;
  readonly bytes?: Uint8Array;
}

/** Notes by title. What they say lies beside the journal, under its name. */
type Notes = ReadonlyMap<string, Note>;

type NotesDelta = { readonly gone: readonly string[]; readonly put: Readonly<Record<string, string>> };

/** A part of the root as a stranger would write one: no slice, with content of its own. */
export const notesPart: Part<Notes> = {
  name: "notes",
  policy: "state",
  initial: new Map(),
  encode: (notes) => Object.fromEntries([...notes].map(([title, { name }]) => [title, name])),
  decode: (data) => withNotes(new Map(), data as NotesDelta["put"]),
  change: (before, after) => {
    const gone = [...before.keys()].filter((title) => !after.has(title));
    const put = [...after].filter(([title, { name }]) => before.get(title)?.name !== name);
    if (gone.length === 0 && put.length === 0) return undefined;
    const delta = { gone, put: Object.fromEntries(put.map(([title, { name }]) => [title, name])) };
    return {
      delta: delta as Json,
      contents: put.flatMap(([, { name, bytes }]) => (bytes === undefined ? [] : [{ name, bytes }])),
    };
  },
  apply: (notes, delta) => {
    const { gone, put } = delta as NotesDelta;
    return withNotes(new Map([...notes].filter(([title]) => !gone.includes(title))), put);
  },
  contents: {
    of: (notes) => [...notes.values()].flatMap(({ name, bytes }) => (bytes === undefined ? [] : [{ name, bytes }])),
    missing: (notes) => [...notes.values()].flatMap(({ name, bytes }) => (bytes === undefined ? [name] : [])),
    fill: (notes, bytesOf) =>
      new Map(
        [...notes].map(([title, note]) => {
          const bytes = note.bytes ?? bytesOf(note.name);
          return [title, bytes === undefined ? note : { ...note, bytes }];
        }),
      ),
  },
};

export function withNote(title: string, text: string): (notes: Notes) => Notes {
  const bytes = Uint8Array.from(Buffer.from(text));
  return (notes) => new Map([...notes, [title, { name: nameOfBytes(bytes), bytes }]]);
}

export function textsOf(notes: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...(notes as Notes)].map(([title, { bytes }]) => [title, Buffer.from(bytes ?? []).toString()]),
  );
}

function withNotes(notes: Notes, put: NotesDelta["put"]): Notes {
  return new Map([
    ...notes,
    ...Object.entries(put).map(([title, name]): [string, Note] => [title, { name: toBlobName(name) }]),
  ]);
}
