import { childrenOf, isNode, keyName, type Node } from "./syntax.ts";

export const HISTORY = "conversation_history";

/** What the names in a program stand for, as far as its text tells. */
export interface Books {
  /** The history itself. */
  isHistory(node: Node): boolean;
  /** The history, or a list that was made from it. */
  isDerived(node: Node): boolean;
  /** A pattern that takes the history out of the context. */
  takesHistory(node: Node): boolean;
}

/** Methods of a list whose answer is a list again. */
const LISTS: ReadonlySet<string> = new Set([
  "filter",
  "map",
  "flatMap",
  "slice",
  "sort",
  "toSorted",
  "reverse",
  "toReversed",
  "toSpliced",
  "concat",
  "with",
  "groupBy",
  "from",
  "values",
  "entries",
]);

/** A name may be given another name, and that another one; more often than this it is nobody's program. */
const MOST_ROUNDS = 8;

export function* expressionsIn(tree: Node): Iterable<Node> {
  const waiting = [tree];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node;
    for (const child of childrenOf(node)) waiting.push(child);
  }
}

/** Names are followed without regard to where they hold: a name that means two things is taken for both. */
export function booksOf(tree: Node): Books {
  const contexts = new Set(["context"]);
  const histories = new Set<string>();
  const derived = new Set<string>();
  const isContext = (node: Node): boolean =>
    nameOf(node, contexts) || (node.type === "MemberExpression" && keyName(node) === "context");
  const isHistory = (node: Node): boolean =>
    nameOf(node, histories) ||
    (node.type === "MemberExpression" && keyName(node) === HISTORY && isNode(node["object"])) ||
    (node.type === "ChainExpression" && isNode(node["expression"]) && isHistory(node["expression"]));
  // What was found of a node is found once in a round: in a long chain each asks for all before it.
  let found = new Map<Node, boolean>();
  const isDerived = (node: Node): boolean => {
    const before = found.get(node);
    if (before !== undefined) return before;
    const is = isHistory(node) || nameOf(node, derived) || isMadeOf(node);
    found.set(node, is);
    return is;
  };
  const isMadeOf = (node: Node): boolean => {
    switch (node.type) {
      case "ChainExpression":
      case "SpreadElement":
        return [node["expression"], node["argument"]].some((one) => isNode(one) && isDerived(one));
      case "ArrayExpression":
        return childrenOf(node).some((one) => one.type === "SpreadElement" && isDerived(one));
      case "CallExpression":
        return isListOf(node);
      default:
        return false;
    }
  };
  /** `list.filter(…)`, `Array.from(list)`, `Object.groupBy(list, …)`. */
  const isListOf = (node: Node): boolean => {
    const { callee } = node;
    if (!isNode(callee) || callee.type !== "MemberExpression" || !LISTS.has(keyName(callee) ?? "")) return false;
    const given = Array.isArray(node["arguments"]) ? node["arguments"].filter(isNode) : [];
    return [callee["object"], ...given].some(
      (one) => isNode(one) && one.type !== "ArrowFunctionExpression" && isDerived(one),
    );
  };
  const takesHistory = (node: Node): boolean =>
    node.type === "Property" && keyName(node) === HISTORY && patterns.has(node);
  const patterns = new Set<Node>();
  for (
    let round = 0, known = -1;
    round < MOST_ROUNDS && known !== contexts.size + histories.size + derived.size;
    round += 1
  ) {
    known = contexts.size + histories.size + derived.size;
    found = new Map();
    for (const node of expressionsIn(tree)) {
      const [to, value] = assigned(node);
      if (to === undefined || value === undefined) continue;
      if (to.type === "Identifier") {
        const name = String(to["name"]);
        if (isContext(value)) contexts.add(name);
        else if (isHistory(value)) histories.add(name);
        else if (isDerived(value)) derived.add(name);
      } else if (to.type === "ObjectPattern" && isContext(value)) {
        for (const property of childrenOf(to)) {
          if (keyName(property) !== HISTORY) continue;
          patterns.add(property);
          const taken = targetOf(property["value"]);
          if (taken !== undefined) histories.add(taken);
        }
      }
    }
  }
  return { isHistory, isDerived, takesHistory };
}

function nameOf(node: Node, names: ReadonlySet<string>): boolean {
  return node.type === "Identifier" && names.has(String(node["name"]));
}

/** What is given a value, and the value. */
function assigned(node: Node): readonly [Node | undefined, Node | undefined] {
  const [to, value] =
    node.type === "VariableDeclarator"
      ? [node["id"], node["init"]]
      : node.type === "AssignmentExpression"
        ? [node["left"], node["right"]]
        : [undefined, undefined];
  return [isNode(to) ? to : undefined, isNode(value) ? value : undefined];
}

/** `{ conversation_history: name = [] }` */
function targetOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "AssignmentPattern") return targetOf(value["left"]);
  return value.type === "Identifier" ? String(value["name"]) : undefined;
}
