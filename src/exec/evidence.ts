import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import type { Uncovered } from "../files/host/walk.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import { count, fields, list, oneOf, optional, string } from "../records/shape.ts";
import type { Branch } from "../state/branch.ts";
import type { Content, Part } from "../state/part.ts";
import type { ExecCommand, ExecProtection, ExecResult } from "./command.ts";
import type { Output } from "./output.ts";
import type { Spawned } from "./spawn.ts";

/** What the journal keeps about one command that ran, however its call ended. */
export interface ExecNote {
  readonly callId: string;
  readonly command: string;
  readonly end: ExecResult["end"];
  readonly exitCode?: number;
  readonly signal?: string;
  readonly driver: ExecProtection["driver"];
  /** What the protection did not cover: how many things, and the first of them. */
  readonly uncovered?: readonly string[];
  /** The blobs that hold the whole output. */
  readonly stdout?: BlobName;
  readonly stderr?: BlobName;
}

const noteShape = fields({
  callId: string,
  command: string,
  end: oneOf("exited", "signaled", "timeout", "aborted", "output-limit"),
  exitCode: optional(count),
  signal: optional(string),
  driver: oneOf("overlay", "portable"),
  uncovered: optional(list(string)),
  stdout: optional(string),
  stderr: optional(string),
});

/**
 * So many are remembered, and all that are not written down yet: what these name would be lost with them. What commands put
 * out lives as long as the records that name it.
 */
const REMEMBERED = 200;

const bytesOf = new WeakMap<ExecNote, readonly Uint8Array[]>();

/** What commands of the session did, as a log: it tells what was tried, also when the call was undone. */
export const execPart: Part<readonly ExecNote[]> = {
  name: "holdfast.exec",
  policy: "log",
  reserved: true,
  initial: [],
  encode: (notes) => notes as unknown as Json,
  decode: (data) => notesOf(data),
  change: (before, after) => {
    const known = new Set(before);
    const fresh = after.filter((note) => !known.has(note));
    if (fresh.length === 0) return undefined;
    const contents = fresh.flatMap((note) => (bytesOf.get(note) ?? []).map(contentOf));
    return { delta: fresh as unknown as Json, contents };
  },
  apply: (notes, delta) => {
    const fresh = notesOf(delta);
    return newest([...notes, ...fresh], fresh.length);
  },
};

/** A note with the content it names. */
export function withEvidence(
  note: ExecNote,
  outputs: readonly Uint8Array[],
): (now: readonly ExecNote[]) => readonly ExecNote[] {
  bytesOf.set(note, outputs);
  return (now) => {
    const all = [...now, note];
    return newest(all, all.filter((one) => bytesOf.has(one)).length);
  };
}

function newest(notes: readonly ExecNote[], fresh: number): readonly ExecNote[] {
  return notes.slice(-Math.max(REMEMBERED, fresh));
}

/** These notes are durable, and so is what they name: held with them, it would be the newest gigabytes that commands put out. */
export function letGoOfOutputs(notes: readonly ExecNote[] = []): void {
  for (const note of notes) bytesOf.delete(note);
}

/** A command that ran, however it ended. */
interface Ran {
  readonly callId: string;
  readonly command: ExecCommand;
  readonly spawned: Spawned;
  readonly driver: ExecNote["driver"];
  readonly uncovered: readonly Uncovered[];
}

const UNCOVERED_TOLD = 50;
const COMMAND_KEPT = 400;

/**
 * Notes what a command did, with the outputs that its result does not hold whole. Secrets go now and not when the change is
 * written down: by then the note would no longer be the one whose content is known.
 */
export function keepNote(branch: Branch, ran: Ran, redact: (text: string) => string): ExecNote {
  const { callId, command, spawned, driver, uncovered } = ran;
  const { end, exitCode, signal } = spawned;
  const stdout = wholeOf(spawned.stdout, redact);
  const stderr = wholeOf(spawned.stderr, redact);
  const words = typeof command === "string" ? command : command.join(" ");
  const note: ExecNote = {
    callId,
    command: redact(words).slice(0, COMMAND_KEPT).toWellFormed(),
    end,
    driver,
    ...(exitCode === null ? {} : { exitCode }),
    ...(signal === null ? {} : { signal }),
    ...(uncovered.length === 0
      ? {}
      : { uncovered: uncovered.slice(0, UNCOVERED_TOLD).map(({ path, why }) => redact(`${why}: ${path}`)) }),
    ...(stdout === undefined ? {} : { stdout: nameOfBytes(stdout) }),
    ...(stderr === undefined ? {} : { stderr: nameOfBytes(stderr) }),
  };
  const wholes = [stdout, stderr].filter((whole) => whole !== undefined);
  if (branch.part(execPart.name) !== undefined) branch.change(execPart, withEvidence(note, wholes));
  return note;
}

/** The whole of an output that the result does not hold whole, without the secrets in it. */
function wholeOf({ truncated, whole }: Output, redact: (text: string) => string): Uint8Array | undefined {
  if (!truncated) return undefined;
  const text = Buffer.from(whole).toString("utf8");
  const clean = redact(text);
  return clean === text ? whole : Buffer.from(clean);
}

function contentOf(bytes: Uint8Array): Content {
  return { name: nameOfBytes(bytes), bytes };
}

function notesOf(data: Json): readonly ExecNote[] {
  const fault = list(noteShape).fault(data, execPart.name);
  if (fault !== undefined) throw new HoldfastError("SNAPSHOT_CORRUPT", { entry: execPart.name, detail: fault });
  const notes = data as unknown as readonly ExecNote[];
  for (const name of notes.flatMap(({ stdout, stderr }) => [stdout, stderr])) if (name !== undefined) toBlobName(name);
  return notes;
}
