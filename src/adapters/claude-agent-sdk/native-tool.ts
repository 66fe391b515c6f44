import type { Json } from "../../base/json.ts";
import { defineTool, HoldfastError, nameOfBytes, type Session, type Tool } from "../../index.ts";
import { NATIVE_ACCESS } from "./vendor.ts";

/** Done by a tool that the host runs: a file that can be brought back, or something that cannot. */
export const FILE_EFFECT = "native-file";
export const OTHER_EFFECT = "native";

/** A file before the host changed it: where, and what it held; nothing when it was not there. */
export interface PreImage {
  readonly path: string;
  readonly before: string | null;
}

/** Bytes of a file that are kept with the call. A larger one is not covered, and the user hears it before the tool runs. */
const MOST_KEPT = 1024 * 1024;

/** What the host's own tool is doing, by its id: the effect is open until the host says how it ended. */
export type Ends = Map<string, { readonly began: () => void; readonly ended: Promise<Json> }>;

/** The host's own tools in one session: several queries may go on in it, also at a time. */
export class NativeTools {
  readonly ends: Ends = new Map();
  readonly #session: Session;

  /** Refuses a session that has a tool under a name of the host's. */
  static in(session: Session): NativeTools {
    const made = bySession.get(session) ?? new NativeTools(session);
    for (const name of Object.keys(NATIVE_ACCESS)) made.accessOf(name);
    bySession.set(session, made);
    return made;
  }

  private constructor(session: Session) {
    this.#session = session;
  }

  /** One that is not known, of another server or a newer host, is taken for one that reaches outside. */
  accessOf(name: string): Tool["access"] {
    const { transactions } = this.#session;
    const known = transactions.tool(name);
    if (known === undefined) {
      const access = (Object.hasOwn(NATIVE_ACCESS, name) ? NATIVE_ACCESS[name] : undefined) ?? "external";
      transactions.addHosted([nativeTool(this.#session, this.ends, name, access)]);
      return access;
    }
    // Which of the two runs, nobody could tell, and the host's would be allowed what the session's is.
    if (!transactions.isHosted(known)) throw new HoldfastError("TOOL_NAME_TAKEN", { tool: name, by: "the host" });
    return known.access;
  }
}

const bySession = new WeakMap<Session, NativeTools>();

/** A tool of the host's, as far as the session has to know it: what it touches, and how to take it back. */
function nativeTool(session: Session, ends: Ends, name: string, access: Tool["access"]): Tool {
  const waiting = (_: never, { key }: { readonly key: string }): Promise<Json> => {
    const end = ends.get(key);
    if (end === undefined) return Promise.reject(new Error("The host did not say how it ended."));
    end.began();
    return end.ended;
  };
  const effects = {
    [OTHER_EFFECT]: { run: waiting },
    [FILE_EFFECT]: {
      run: waiting,
      undo: (image: PreImage, result: { readonly after: string | null }) => bringBack(session, image, result),
    },
  };
  return defineTool({
    name,
    access,
    description: "A tool of the host's own.",
    retryable: false,
    ...(access === "read" ? {} : { effects }),
    run: (_, call) => call.fail("not-ours", "The host runs this tool itself."),
  });
}

/** Content of a file in the workspace before the tool; nothing when it cannot be kept. */
export async function preImageOf(session: Session, path: string): Promise<PreImage | undefined> {
  if (session.workspace === undefined) return undefined; // its files are not those that the host changes
  try {
    const bytes = await contentAt(session, path);
    if (bytes === undefined) return { path, before: null };
    return bytes.length > MOST_KEPT ? undefined : { path, before: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    if (HoldfastError.is(error)) return undefined; // a folder, a device, or outside the root
    throw error;
  }
}

export async function digestAt(session: Session, path: string): Promise<string | null> {
  const bytes = await contentAt(session, path);
  return bytes === undefined ? null : nameOfBytes(bytes);
}

/** Behind links, as the host's tool finds it. A path that may not be named here is not the same as one that leads nowhere. */
async function contentAt(session: Session, path: string): Promise<Uint8Array | undefined> {
  try {
    return await session.files.read(path);
  } catch (error) {
    if (HoldfastError.is(error, "FILE_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** Only what the tool left there is replaced: somebody else's edit stays, and is told. */
async function bringBack(session: Session, { path, before }: PreImage, { after }: { readonly after: string | null }) {
  const now = await digestAt(session, path);
  const image = before === null ? undefined : Uint8Array.from(Buffer.from(before, "base64"));
  if (now === (image === undefined ? null : nameOfBytes(image))) return; // it never ran, or changed nothing
  if (now !== after) throw new Error(`${path} has been changed since, and was left as it is`);
  if (image === undefined) await session.files.delete(path);
  else await session.files.write(path, image);
}
