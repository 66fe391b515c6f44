import type { Json } from "../base/json.ts";
import type { Links } from "./format.ts";
import type { LinkNode, LinkTree } from "./links.ts";
import type { Edit } from "../base/text/edit.ts";
import type { Element } from "./transcript.ts";

/**
 * Keeps the tree of a log whole while elements come, go and move. It is told about the elements in their new order, so
 * that what is added hangs on what now stands before it.
 */
export class LinkEditor {
  readonly #nodes: ReadonlyMap<Element, LinkNode>;
  readonly #links: Links;
  readonly #children = new Map<LinkNode, Set<LinkNode>>();
  readonly #taken = new Set<string>();
  readonly #seeds = new Map<string, number>();
  /** The newest answer made for the calls of an element. */
  readonly #answers = new Map<LinkNode, LinkNode>();
  /** The element, or what was added, that the next addition follows. */
  #before: LinkNode | undefined;

  constructor({ nodes }: LinkTree, links: Links) {
    this.#nodes = nodes;
    this.#links = links;
    for (const node of nodes.values()) {
      this.#taken.add(node.id);
      this.#hang(node, node.parent);
    }
  }

  /** An element that stays where it is. */
  pass(element: Element): void {
    this.#before = this.#nodes.get(element) ?? this.#before;
  }

  remove(element: Element): void {
    const node = this.#nodes.get(element);
    if (node !== undefined) this.#unchain(node);
  }

  move(element: Element): void {
    const node = this.#nodes.get(element);
    if (node === undefined || this.#links.outputs === "siblings") return;
    this.#unchain(node);
    this.#chain(node);
  }

  /** A node for blocks that leave their element: whatever came after the element now comes after them. */
  part(element: Element): LinkNode | undefined {
    const whole = this.#nodes.get(element);
    if (whole === undefined) return undefined;
    const node = this.#made(`part ${whole.id}`);
    for (const child of this.#childrenOf(whole)) this.#hang(child, node);
    this.#hang(node, whole);
    this.#before = node;
    return node;
  }

  answer(call: Element, callId: string): LinkNode | undefined {
    const asked = this.#nodes.get(call);
    if (asked === undefined) return undefined;
    const node = this.#made(`answer ${callId}`);
    if (this.#links.outputs === "chain") this.#chain(node);
    else {
      // What went on from the call goes on from its answer; outputs of other calls are its siblings.
      const before = this.#answers.get(asked);
      const next = before === undefined ? this.#childrenOf(asked) : [before];
      this.#hang(node, asked);
      for (const child of next) if (!this.#isModelOrOutput(child)) this.#hang(child, node);
      this.#answers.set(asked, node);
      this.#before = node;
    }
    return node;
  }

  /** What must be written so that the file says what the tree says. */
  editsOf(element: Element): readonly Edit[] {
    const node = this.#nodes.get(element);
    if (node === undefined) return [];
    const { id, parent } = element.reading;
    const edits: Edit[] = [];
    const hangsOn: Json = node.parent?.id ?? null;
    if (node.id !== id) edits.push({ op: "set", path: [this.#links.id], value: node.id });
    if (hangsOn !== (parent ?? null)) edits.push({ op: "set", path: [this.#links.parent], value: hangsOn });
    return edits;
  }

  /** A copy: hanging a child elsewhere changes the set. */
  #childrenOf(node: LinkNode): readonly LinkNode[] {
    return Array.from(this.#children.get(node) ?? []);
  }

  #isModelOrOutput({ element }: LinkNode): boolean {
    return element?.reading.pieces.some(({ item }) => item.kind === "output" || item.kind === "call") === true;
  }

  #chain(node: LinkNode): void {
    const before = this.#before;
    const next = before === undefined ? [] : this.#childrenOf(before);
    this.#hang(node, before);
    for (const child of next) if (child !== node) this.#hang(child, node);
    this.#before = node;
  }

  #unchain(node: LinkNode): void {
    for (const child of this.#childrenOf(node)) this.#hang(child, node.parent);
    if (node.parent !== undefined) this.#children.get(node.parent)?.delete(node);
  }

  #hang(node: LinkNode, parent: LinkNode | undefined): void {
    if (node.parent !== undefined) this.#children.get(node.parent)?.delete(node);
    node.parent = parent;
    if (parent === undefined) return;
    const children = this.#children.get(parent);
    if (children === undefined) this.#children.set(parent, new Set([node]));
    else children.add(node);
  }

  #made(seed: string): LinkNode {
    // Counted on from the last one: a thousand parts of one element have a thousand times the same seed.
    let nth = this.#seeds.get(seed) ?? 0;
    let id = this.#links.derive(nth === 0 ? seed : `${seed} ${nth}`);
    for (; this.#taken.has(id); id = this.#links.derive(`${seed} ${nth}`)) nth += 1;
    this.#seeds.set(seed, nth);
    this.#taken.add(id);
    return { id, parent: undefined };
  }
}
