import { canonicalHash, type Sha256, sha256 } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import type { ToolOffer } from "../contracts/model.ts";
import type { OfferedTool } from "./offer.ts";
import type { Mode } from "./tool.ts";

/** A tool in a snapshot. `permission` and `definition` are absent if it was built only from a request. */
export type SnapshotTool = ToolOffer & Partial<Pick<OfferedTool, "permission" | "definition">>;

/**
 * The tools offered at one moment. Version and epoch always belong together. Tools are sorted by name, so the same
 * tools always make the same request.
 */
export class SessionToolCatalogSnapshot {
  /** Counts changes of the tools. */
  readonly version: number;
  /** Counts changes of what is offered: the tools, the mode, or whether the user can be asked. */
  readonly epoch: number;
  readonly planMode: boolean;
  readonly requestUserInputEnabled: boolean;
  readonly tools: readonly SnapshotTool[] | undefined;
  /** Whether it came from a cache. */
  readonly cacheHit: boolean;
  readonly #byName: ReadonlyMap<string, SnapshotTool>;
  #hash: Sha256 | undefined;

  constructor(
    version: number,
    epoch: number,
    planMode: boolean,
    requestUserInputEnabled: boolean,
    tools?: readonly SnapshotTool[],
    cacheHit = false,
  ) {
    this.version = version;
    this.epoch = epoch;
    this.planMode = planMode;
    this.requestUserInputEnabled = requestUserInputEnabled;
    this.tools = tools === undefined ? undefined : Object.freeze(tools.toSorted(byName));
    this.cacheHit = cacheHit;
    this.#byName = new Map((this.tools ?? []).map((tool) => [tool.name, tool]));
    Object.freeze(this);
  }

  /** `plan` or `act`, from `planMode`. */
  get mode(): Mode {
    return this.planMode ? "plan" : "act";
  }

  /** How many tools are offered. */
  availableTools(): number {
    return this.tools?.length ?? 0;
  }

  /** The names of the tools that are offered. */
  get activeNames(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** The tool of this name as it is offered; undefined if it is not. */
  tool(name: string): SnapshotTool | undefined {
    return this.#byName.get(name);
  }

  /** Hash of a tool as it is offered here; undefined if it is not. */
  toolHash(name: string): Sha256 | undefined {
    const tool = this.#byName.get(name);
    return tool === undefined ? undefined : offerHash(tool);
  }

  /** Hash of all tools as they are offered here, whatever order they came in. */
  get contentHash(): Sha256 {
    this.#hash ??= sha256((this.tools ?? []).map((tool) => `${tool.name}:${offerHash(tool)}`).join("\n"));
    return this.#hash;
  }
}

/** Exactly what a request says of it, and how far the offer goes. */
function offerHash(tool: SnapshotTool): Sha256 {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { name, description = "", input, permission = null } = tool;
  const hash = canonicalHash([name, description, input, permission as Json]);
  // Only of what can no longer change.
  if (Object.isFrozen(tool)) hashes.set(tool, hash);
  return hash;
}

const hashes = new WeakMap<SnapshotTool, Sha256>();

function byName(a: SnapshotTool, b: SnapshotTool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
