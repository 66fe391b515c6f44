import { HoldfastError } from "../base/errors.ts";
import type { Mode } from "../catalog/tool.ts";
import type { SessionLook } from "./look.ts";
import type { OpenSessions, Standing } from "./open-sessions.ts";

/** What is written down of a session: its own mode, and whom it works for. */
interface KeptStanding {
  readonly mode: Mode;
  readonly parent: string | undefined;
}

/** How sessions stand among the others, by their names alone: of those that are open, and of those that are not. */
export class Standings {
  readonly #open: Pick<OpenSessions, "find">;
  readonly #look: (id: string) => Promise<Pick<SessionLook, "mode" | "parent">>;

  constructor(open: Pick<OpenSessions, "find">, look: (id: string) => Promise<Pick<SessionLook, "mode" | "parent">>) {
    this.#open = open;
    this.#look = look;
  }

  /** Whether a session plans or works for one that does. Nothing where that cannot be told. */
  of(id: string): Promise<Standing | undefined> {
    return this.#above(id, []);
  }

  /** `below`: those that were asked for on the way up, of which two may say that each works for the other. */
  async #above(id: string, below: readonly string[]): Promise<Standing | undefined> {
    const open = this.#open.find(id);
    if (open !== undefined) return { isPlanning: open.isPlanning, parent: open.own.parent };
    const kept = await this.kept(id);
    if (kept === undefined) return undefined;
    const { mode, parent } = kept;
    if (mode === "plan" || parent === undefined || below.includes(parent))
      return { isPlanning: mode === "plan", parent };
    const above = await this.#above(parent, [...below, id]);
    return above === undefined ? undefined : { isPlanning: above.isPlanning, parent };
  }

  /** Nothing where a session is unknown, lost or damaged: whoever asks takes it for planning. */
  async kept(id: string): Promise<KeptStanding | undefined> {
    try {
      const look = await this.#look(id);
      return { mode: await look.mode(), parent: await look.parent() };
    } catch (error) {
      if (HoldfastError.is(error)) return undefined;
      throw error;
    }
  }
}
