import type { StagedDifference } from "../files/host/aside.ts";
import type { ExecWork } from "../files/host/exec-work.ts";
import { InPlace } from "../files/host/in-place.ts";
import type { DriverDeps, Enclosure, ProtectionDriver } from "./driver.ts";
import { namedBy, type ToSync } from "../files/host/syncing.ts";
import type { Uncovered } from "../files/host/walk.ts";
import { askBelonging, type Belonging, endBelonging, heldBy, startOf } from "./processes.ts";
import { TAG } from "./spawn.ts";

/**
 * Commands run on the files themselves, after everything has been written down. Works wherever there are files; somebody
 * who edits at the same time is taken for the command, and finds their version in rescue when it is undone.
 */
export const portableDriver: ProtectionDriver = {
  name: "portable",
  open: async (deps, id) => {
    const { workspace, cover } = deps;
    workspace.execs.begin(id, "in-place");
    try {
      const sync = (names: ToSync) => workspace.sync(names);
      return new PortableEnclosure(deps, await InPlace.begin(workspace.execs.ground, id, cover, sync));
    } catch (error) {
      workspace.endExec(id);
      throw error;
    }
  },
};

class PortableEnclosure implements Enclosure {
  readonly driver = "portable";
  readonly #deps: DriverDeps;
  readonly #files: InPlace;
  readonly #holds = new Set<string>();
  /** When the first of them began: what is older belongs to nobody here. */
  #since: number | undefined;
  #changed: readonly string[] = [];
  /** What they changed was a part of a commit. */
  #committed = false;
  /** Something may be running. */
  #restless = false;

  constructor(deps: DriverDeps, files: InPlace) {
    this.#deps = deps;
    this.#files = files;
  }

  get id(): string {
    return this.#files.id;
  }

  /** Also a store among the files: there is no wall around it, and what a command does to it cannot be undone. */
  get uncovered(): readonly Uncovered[] {
    const stores = this.#deps.workspace.disk.stores().map((path) => ({ path, why: "store" as const }));
    return [...this.#files.manifest.uncovered, ...stores];
  }

  get inside(): string {
    return this.#deps.workspace.path;
  }

  argv(program: readonly string[]): readonly string[] {
    return program;
  }

  changing(): void {
    this.#restless = true;
    this.#files.changing();
  }

  started(pid: number): void {
    this.#since ??= startOf(pid);
    for (const held of heldBy(pid, TAG)) this.#holds.add(held);
  }

  ask(group: number): void {
    askBelonging(this.#belonging(), group);
  }

  async endStrays(): Promise<number> {
    const ended = await endBelonging(this.#belonging(), () => this.#deps.clock.sleep(5, undefined, "keep-alive"));
    this.#restless = false;
    return ended;
  }

  #belonging(): Belonging {
    const since = this.#since === undefined ? {} : { since: this.#since };
    return { mark: this.id, holds: this.#holds, ...since };
  }

  async difference(): Promise<StagedDifference> {
    const { changes, touched, uncovered } = this.#files.difference();
    const paths = changes.map(({ path }) => path);
    this.#changed = paths;
    const work: ExecWork = {
      id: this.id,
      placed: new Set(paths),
      links: [], // they are what they are already
      leaving: () => {
        this.#committed = true;
        return this.#sync(paths);
      },
      before: (name) => this.#files.content(name),
      restore: (some) => void this.#files.restore(some),
    };
    this.#deps.workspace.execs.note(work);
    const staged = changes.map((change) => ({ ...change, content: { placed: this.id } }));
    return { changes: staged, touched, uncovered, links: [], conflicts: [] };
  }

  async drop(): Promise<void> {
    if (this.#restless) await this.endStrays();
    const back = this.#files.restore();
    await this.#sync(back);
    this.#end(back);
  }

  async leave(): Promise<void> {
    // The call took back whatever its commands had changed: there was nothing to commit, and it still lies there.
    if (!this.#committed) await this.#sync(this.#files.restore(new Set(this.#changed)));
    this.#end(this.#changed);
  }

  /** There is no wall around the files: whoever was not found and ended can be noticed by what they write. */
  #end(paths: readonly string[]): void {
    const { workspace } = this.#deps;
    workspace.endExec(this.id);
    workspace.execs.watch(paths);
  }

  #sync(paths: readonly string[]): Promise<void> {
    return this.#deps.workspace.sync(namedBy(paths));
  }
}
