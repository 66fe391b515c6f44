import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { HoldfastError } from "../base/errors.ts";
import { Aside, type StagedDifference } from "../files/host/aside.ts";
import type { DriverDeps, Enclosure, ProtectionDriver } from "./driver.ts";
import { numbersIn } from "./processes.ts";
import { programAt } from "./programs.ts";

const READY = "ready";
/** A mount that takes longer hangs. */
const PATIENCE_MS = 5_000;

/**
 * Holds the layers in namespaces of its own. They go with this process: its input ends with ours, and everything that
 * runs in its process namespace ends with it. Paths are relative, because the names of layers are written between commas
 * and colons. What is to be hidden gets the mark by which a layer says that a name is gone: it hides a folder of any size
 * at once, and goes where its folder goes, when that gets another name.
 */
const HOLD = `root=$1 place=$2 options=$3 mount=$4 mknod=$5
shift 5
cd "$root" || exit 1
for hidden; do "$mknod" "$place/upper/$hidden" c 0 0 || exit 1; done
"$mount" -t overlay overlay -o "lowerdir=.,upperdir=$place/upper,workdir=$place/work,$options" "$root" || exit 1
"$mount" -t tmpfs -o ro,size=4k,mode=555 holdfast "$root/.holdfast" || exit 1
echo ${READY}
read -r end`;

/** The system's name for a process's own view of it. */
const ROOT = "root";

/** What could undo the mounts, or reach around them. */
const DROPPED = "-sys_admin,-sys_module,-sys_rawio,-sys_boot";

/**
 * Commands see the project under its own path and write to a layer above it; dropping the layer undoes them, moving its
 * files out keeps them. Linux; as root, and as an ordinary user where the kernel lets them have namespaces.
 */
export const overlayDriver: ProtectionDriver = {
  name: "overlay",
  open: async (deps, id) => {
    const { workspace, clock } = deps;
    const { port } = workspace.execs.ground.root;
    if (port.platform !== "linux") throw new Error(`there is no overlay on ${port.platform}`);
    workspace.execs.begin(id, "aside");
    let holder: ChildProcess | undefined;
    try {
      const files = await Aside.begin(workspace.execs.ground, id, () => clock.sleep(1, undefined, "keep-alive"));
      holder = await hold(deps, files, files.index);
      return new OverlayEnclosure(deps, files, holder, files.index);
    } catch (error) {
      holder?.kill("SIGKILL");
      workspace.endExec(id);
      throw error;
    }
  },
};

async function hold({ workspace, clock }: DriverDeps, files: Aside, asRoot: boolean): Promise<ChildProcess> {
  const { path } = workspace;
  const place = files.upper.slice(path.length + 1, -"/upper".length);
  const user = asRoot ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const options = asRoot ? "redirect_dir=on,index=on,metacopy=off" : "userxattr";
  const flags = ["--mount", "--pid", "--fork", "--propagation", "private", "--kill-child", "--mount-proc"];
  // Found here, and in plain words: the system would look along the whole path for each, and load somebody's language.
  const programs = [programAt("mount"), programAt("mknod")];
  const holding = [programAt("sh"), "-c", HOLD, "sh", path, place, options, ...programs, ...files.hidden];
  const holder = spawn(programAt("unshare"), [...user, ...flags, ...holding], {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: "/",
    env: { LC_ALL: "C" },
  });
  const said = Promise.withResolvers<string>();
  let [out, wrong] = ["", ""];
  holder.stdout.on("data", (piece: Buffer) => {
    out += piece.toString("utf8");
    if (out.includes(READY)) said.resolve(READY);
  });
  holder.stderr.on("data", (piece: Buffer) => (wrong += piece.toString("utf8")));
  holder.on("error", (error) => said.resolve(error.message));
  holder.on("close", () => said.resolve(wrong.trim().split("\n").at(-1) ?? "it ended at once"));
  holder.stdin.on("error", () => {}); // it has ended, and whoever waits for it is told
  const late = new AbortController();
  const slow = clock.sleep(PATIENCE_MS, late.signal, "keep-alive").then(
    () => "the mount did not come",
    () => "",
  );
  const answer = await Promise.race([said.promise, slow]);
  late.abort();
  if (answer === READY) return holder;
  holder.kill("SIGKILL");
  throw new Error(answer);
}

class OverlayEnclosure implements Enclosure {
  readonly driver = "overlay";
  readonly uncovered = [];
  readonly inside: string;
  readonly #deps: DriverDeps;
  readonly #files: Aside;
  readonly #holder: ChildProcess;
  readonly #enter: readonly [string, ...string[]];
  readonly #asRoot: boolean;
  #touched: StagedDifference["touched"] = [];
  /** The system's root as the commands see it. */
  readonly #seen: string;

  constructor(deps: DriverDeps, files: Aside, holder: ChildProcess, asRoot: boolean) {
    this.#deps = deps;
    this.#files = files;
    this.#holder = holder;
    this.#asRoot = asRoot;
    const own = `/proc/${holder.pid}`;
    this.#seen = `${own}/${ROOT}`;
    this.inside = `${this.#seen}${deps.workspace.path}`;
    const user = asRoot ? [] : [`--user=${own}/ns/user`, "--preserve-credentials"];
    // Its children's namespace: the holder itself is outside of it, and the first process inside is not ours to name.
    this.#enter = [programAt("nsenter"), ...user, `--mount=${own}/ns/mnt`, `--pid=${own}/ns/pid_for_children`, "--"];
  }

  get id(): string {
    return this.#files.id;
  }

  argv(program: readonly string[]): readonly string[] {
    // An ordinary user has no such rights after starting a program anyway.
    const without = this.#asRoot ? [programAt("setpriv"), `--bounding-set=${DROPPED}`, "--"] : [];
    return [...this.#enter, ...without, ...program];
  }

  changing(): void {
    if (this.#isLost) throw lost();
  }

  /** From inside: what enters the namespaces for a command would end at once, and nobody would hear how the command did. */
  ask(): Promise<void> {
    return this.#inside("kill -TERM -1");
  }

  async endStrays(): Promise<number> {
    const left = this.#running();
    for (let round = 0; round < 20 && this.#running().length > 0; round += 1) {
      await this.#inside("kill -KILL -1");
      await this.#deps.clock.sleep(2, undefined, "keep-alive");
    }
    return left.length;
  }

  async difference(): Promise<StagedDifference> {
    const { workspace } = this.#deps;
    const found = this.#look();
    this.#touched = found.touched;
    workspace.execs.note({
      id: this.id,
      placed: new Set(),
      links: found.links,
      leaving: async () => {
        this.#files.open(found.changes);
        await workspace.sync(this.#files.toSync(found.changes));
      },
      before: async function* () {},
      restore: () => {},
    });
    return found;
  }

  async drop(): Promise<void> {
    await this.#letGo();
    this.#deps.workspace.endExec(this.id);
  }

  async leave(): Promise<void> {
    this.#deps.workspace.execs.touch(this.#touched);
    await this.drop();
  }

  /** Without its holder the layer is not seen, and everything below it would look as if the commands had removed it. */
  #look(): StagedDifference {
    try {
      const found = this.#isLost ? undefined : this.#files.difference(this.inside);
      if (found !== undefined && !this.#isLost) return found;
    } catch (error) {
      if (!this.#isLost) throw error;
    }
    throw lost();
  }

  /** Its number may be another's by now, in whose namespaces nothing is ours to look at, or to end. */
  get #isLost(): boolean {
    const { port } = this.#deps.workspace.execs.ground.root;
    return this.#hasEnded || port.stat(this.inside) === undefined;
  }

  get #hasEnded(): boolean {
    return this.#holder.exitCode !== null || this.#holder.signalCode !== null;
  }

  /** Processes in the namespace, but for the one that holds it. */
  #running(): readonly number[] {
    if (this.#isLost) return [];
    const proc = `${this.#seen}/proc`;
    return numbersIn(proc).filter((pid) => pid !== 1 && isAlive(`${proc}/${pid}`));
  }

  async #inside(line: string): Promise<void> {
    if (this.#isLost) return;
    const [program, ...args] = this.#enter;
    await new Promise<void>((done) => {
      execFile(program, [...args, "/bin/sh", "-c", line], { cwd: "/" }, () => done()); // what it was for is looked at by the caller
    });
  }

  /** The namespaces end with their holder, and all that runs in them. */
  async #letGo(): Promise<void> {
    const gone = new Promise((done) => this.#holder.once("close", done));
    if (this.#hasEnded) return;
    this.#holder.kill("SIGKILL");
    await gone;
  }
}

function lost(): HoldfastError {
  return new HoldfastError("EXEC_LAYER_LOST");
}

function isAlive(process: string): boolean {
  try {
    const stat = readFileSync(`${process}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false; // it has no entry any more
  }
}
