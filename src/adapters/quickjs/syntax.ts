/** A node of a syntax tree, by the shape that parsers of JavaScript agree on (ESTree). */
export interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Reads programs. It never throws for what it reads. */
export interface JsParser {
  /** Undefined when the text is no body of a function. */
  parse(program: string): Node | undefined;
  /** Names and marks in their order, without comments and strings, as far as they can be told apart. */
  words(program: string): readonly string[];
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

export function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** The name by which a field is asked for, or that a pattern takes: undefined when it is only known at run time. */
export function keyName(node: Node): string | undefined {
  const key = node.type === "MemberExpression" ? node["property"] : node["key"];
  if (!isNode(key)) return undefined;
  if (node["computed"] !== true && key.type === "Identifier") return String(key["name"]);
  if (key.type === "Literal" && typeof key["value"] === "string") return key["value"];
  const [only, another] = key.type === "TemplateLiteral" ? (key["quasis"] as readonly Node[]) : [];
  if (only === undefined || another !== undefined) return undefined;
  const { cooked } = only["value"] as { readonly cooked?: unknown };
  return typeof cooked === "string" ? cooked : undefined;
}
