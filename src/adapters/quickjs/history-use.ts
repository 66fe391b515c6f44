import type { HistoryUse } from "../../contracts/code-runner.ts";
import { type Books, booksOf, expressionsIn, HISTORY } from "./history-names.ts";
import { isNode, type JsParser, keyName, type Node } from "./syntax.ts";

/** What is asked of a list, by the method that asks it. */
const METHODS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    filter: "filter",
    map: "map",
    flatMap: "map",
    slice: "slice",
    toSpliced: "slice",
    find: "find",
    findIndex: "find",
    findLast: "find",
    findLastIndex: "find",
    indexOf: "find",
    includes: "find",
    some: "find",
    every: "find",
    reduce: "reduce",
    reduceRight: "reduce",
    sort: "sort",
    toSorted: "sort",
    reverse: "sort",
    toReversed: "sort",
    forEach: "walk",
    entries: "walk",
    keys: "walk",
    values: "walk",
    at: "index",
    with: "copy",
    concat: "copy",
    join: "join",
  }),
);

/** Longer texts are not looked at: a program of this size was not written to ask something. */
const LONGEST = 512 * 1024;

export const NOT_LOOKED_AT: HistoryUse = { detected: false, patterns: [], by: "nothing" };

/** Reads off a program's text whether and how it reads the history. Whatever the text is, there is an answer. */
export function historyUseOf(program: string, parser: JsParser | undefined): HistoryUse {
  if (program.length > LONGEST) return NOT_LOOKED_AT;
  if (parser === undefined) return { detected: program.includes(HISTORY), patterns: [], by: "text" };
  try {
    const tree = parser.parse(program);
    if (tree !== undefined) return byTree(tree);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // nested deeper than the stack: its words are all that can be told
  }
  return byWords(parser.words(program));
}

function byTree(tree: Node): HistoryUse {
  const books = booksOf(tree);
  const patterns = new Set<string>();
  let detected = false;
  for (const node of expressionsIn(tree)) {
    detected ||= books.isHistory(node) || books.takesHistory(node);
    for (const pattern of patternsOf(node, books)) patterns.add(pattern);
  }
  return { detected, patterns: detected ? [...patterns].toSorted() : [], by: "parser" };
}

/** Whether a program may read the history at all: most that do not never say this word. */
export function mayReadHistory(program: string): boolean {
  return program.includes("context") || program.includes("\\u");
}

function patternsOf(node: Node, books: Books): readonly string[] {
  switch (node.type) {
    case "MemberExpression": {
      if (!isNode(node["object"]) || !books.isDerived(node["object"])) return [];
      const name = keyName(node);
      if (name === "length") return ["count"];
      if (name === undefined) return ["index"];
      return askedBy(name);
    }
    case "CallExpression":
      return isGrouping(node) && argumentsOf(node).some((one) => books.isDerived(one)) ? ["group"] : [];
    case "ForOfStatement":
      return isNode(node["right"]) && books.isDerived(node["right"]) ? ["walk"] : [];
    case "SpreadElement":
      return isNode(node["argument"]) && books.isDerived(node["argument"]) ? ["copy"] : [];
    default:
      return [];
  }
}

function askedBy(method: string): readonly string[] {
  const pattern = METHODS.get(method);
  return pattern === undefined ? [] : [pattern];
}

/** `Object.groupBy(…)`, `Map.groupBy(…)`. */
function isGrouping({ callee }: Node): boolean {
  return isNode(callee) && callee.type === "MemberExpression" && keyName(callee) === "groupBy";
}

function argumentsOf(node: Node): readonly Node[] {
  return Array.isArray(node["arguments"]) ? node["arguments"].filter(isNode) : [];
}

/** The words of a text that is no program: comments and strings are none of them. */
function byWords(words: readonly string[]): HistoryUse {
  const detected = words.includes(HISTORY);
  const patterns = words.flatMap((word, at) => {
    if (words[at - 1] !== ".") return word === "groupBy" ? ["group"] : [];
    if (word === "length") return ["count"];
    return word === "groupBy" ? ["group"] : askedBy(word);
  });
  return { detected, patterns: detected ? [...new Set(patterns)].toSorted() : [], by: "words" };
}
