import type { StagedDifference } from "../files/host/aside.ts";
import type { ExecWork } from "../files/host/exec-work.ts";
import { InPlace } from "../files/host/in-place.ts";
import type { DriverDeps, Enclosure, ProtectionDriver } from "./driver.ts";
import { endBelonging, heldBy } from "./processes.ts";
import { TAG } from "./spawn.ts";
import { syncDisk } from "./sync-disk.ts";

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
      const sync = () => (workspace.syncs ? syncDisk(workspace.path) : Promise.resolve());
      return new PortableEnclosure(deps, await InPlace.begin(workspace.execs.ground, id, cover, sync), sync);
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
  readonly #sync: () => Promise<void>;
  readonly #holds = new Set<string>();

  constructor(deps: DriverDeps, files: InPlace, sync: () => Promise<void>) {
    this.#deps = deps;
    this.#files = files;
    this.#sync = sync;
  }

  get id(): string {
    return this.#files.id;
  }

  get uncovered() {
    return this.#files.manifest.uncovered;
  }

  get inside(): string {
    return this.#deps.workspace.path;
  }

  argv(program: readonly string[]): readonly string[] {
    return program;
  }

  started(pid: number): void {
    for (const held of heldBy(pid, TAG)) this.#holds.add(held);
  }

  endStrays(): Promise<number> {
    const belonging = { mark: this.id, holds: this.#holds };
    return endBelonging(belonging, () => this.#deps.clock.sleep(5, undefined, "keep-alive"));
  }

  async difference(): Promise<StagedDifference> {
    const { changes, touched, uncovered } = this.#files.difference();
    await this.#sync();
    const placed = new Set(changes.map(({ path }) => path));
    const work: ExecWork = {
      id: this.id,
      placed,
      links: [], // they are what they are already
      leaving: () => {},
      before: (name) => this.#files.content(name),
      restore: (paths) => void this.#files.restore(paths),
    };
    this.#deps.workspace.execs.note(work);
    const staged = changes.map((change) => ({ ...change, content: { placed: this.id } }));
    return { changes: staged, touched, uncovered, links: [], conflicts: [] };
  }

  async drop(): Promise<void> {
    await this.endStrays();
    this.#files.restore();
    await this.#sync();
    this.#deps.workspace.endExec(this.id);
  }

  async leave(): Promise<void> {
    this.#deps.workspace.endExec(this.id);
  }
}
