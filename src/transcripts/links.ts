import type { Links } from "./format.ts";
import type { LinkFault } from "./findings.ts";
import type { Conversation, Element } from "./transcript.ts";

/** An element in the tree of a log. Repairs move nodes; what changed against the file is written back. */
export interface LinkNode {
  id: string;
  parent: LinkNode | undefined;
  /** Absent for what a repair adds. */
  readonly element?: Element;
  /** Its place among the nodes of the file. */
  readonly nth?: number;
  /** It was followed to a root, or cut loose. */
  sound?: boolean;
}

export interface LinkTree {
  readonly nodes: ReadonlyMap<Element, LinkNode>;
  readonly faults: readonly { readonly code: LinkFault; readonly element: Element }[];
}

/** The tree of a log, with every broken link mended, and what was broken. */
export function linkTree({ elements }: Conversation, links: Links): LinkTree {
  const nodes = new Map<Element, LinkNode>();
  const faults: { code: LinkFault; element: Element }[] = [];
  const known = new Map<string, number>();
  for (const { reading } of elements) if (reading.id !== undefined) known.set(reading.id, 0);
  nameNodes(elements, links, { nodes, faults, known });
  hangNodes(elements, { nodes, faults, known });
  breakCycles([...nodes.values()], faults);
  return { nodes, faults };
}

interface Building {
  readonly nodes: Map<Element, LinkNode>;
  readonly faults: { code: LinkFault; element: Element }[];
  readonly known: Map<string, number>;
}

/** Of elements that share an id the first keeps it. */
function nameNodes(elements: readonly Element[], links: Links, { nodes, faults, known }: Building): void {
  for (const element of elements) {
    const { id } = element.reading;
    if (id === undefined) continue;
    const used = known.get(id) ?? 0;
    known.set(id, used + 1);
    const own = used === 0 ? id : unusedId(`${id} ${used}`, links, known);
    if (used > 0) faults.push({ code: "duplicate-record-id", element });
    nodes.set(element, { id: own, parent: undefined, element, nth: nodes.size, sound: false });
  }
}

function unusedId(seed: string, links: Links, known: ReadonlyMap<string, number>): string {
  let id = links.derive(seed);
  for (let nth = 1; known.has(id); nth += 1) id = links.derive(`${seed} ${nth}`);
  return id;
}

/** A parent named by an id that occurs twice is the newest one before the child: that is what the writer had seen. */
function hangNodes(elements: readonly Element[], { nodes, faults }: Building): void {
  const later = new Map<string, LinkNode>();
  for (const element of elements) {
    const { id } = element.reading;
    const node = nodes.get(element);
    if (id !== undefined && node !== undefined && !later.has(id)) later.set(id, node);
  }
  const newest = new Map<string, LinkNode>();
  let before: LinkNode | undefined;
  for (const element of elements) {
    const { id, parent } = element.reading;
    const node = nodes.get(element);
    if (node === undefined) continue;
    if (parent !== undefined) {
      const found = newest.get(parent) ?? later.get(parent);
      if (found === undefined) faults.push({ code: "broken-parent", element });
      node.parent = found ?? before;
    }
    if (id !== undefined) newest.set(id, node);
    before = node;
  }
}

/** Follows every chain once. Where one comes back to itself, its first element in the file is cut loose. */
function breakCycles(inFile: readonly LinkNode[], faults: Building["faults"]): void {
  for (const start of inFile) {
    if (start.sound === true) continue;
    const path = new Set<LinkNode>();
    let node: LinkNode | undefined = start;
    while (node !== undefined && node.sound !== true && !path.has(node)) {
      path.add(node);
      node = node.parent;
    }
    if (node !== undefined && path.has(node)) {
      const first = firstInFile(circleOf(node));
      const before = inFile[(first.nth ?? 0) - 1];
      first.parent = before?.sound === true ? before : undefined;
      faults.push({ code: "parent-cycle", element: first.element as Element });
    }
    for (const passed of path) passed.sound = true;
  }
}

function circleOf(node: LinkNode): readonly LinkNode[] {
  const circle = [node];
  for (let next = node.parent; next !== undefined && next !== node; next = next.parent) circle.push(next);
  return circle;
}

function firstInFile(circle: readonly LinkNode[]): LinkNode {
  return circle.reduce((first, node) => ((node.nth ?? 0) < (first.nth ?? 0) ? node : first));
}
