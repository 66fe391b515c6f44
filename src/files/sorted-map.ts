/**
 * A persistent map sorted by key. Setting a key copies the few nodes on the way to it and shares the rest, so an older
 * version costs nothing to keep. A key's priority is its hash: the same keys make the same tree whatever their history,
 * and two versions are compared without looking at what they share.
 */
export interface SortedNode<V> {
  readonly key: string;
  readonly value: V;
  readonly priority: number;
  readonly left: SortedMap<V>;
  readonly right: SortedMap<V>;
}

export type SortedMap<V> = SortedNode<V> | undefined;

export function lookUp<V>(map: SortedMap<V>, key: string): V | undefined {
  let node = map;
  while (node !== undefined && node.key !== key) node = key < node.key ? node.left : node.right;
  return node?.value;
}

export function withKey<V>(map: SortedMap<V>, key: string, value: V): SortedNode<V> {
  const priority = hashOf(key);
  if (map === undefined || isAbove(priority, key, map)) {
    const [left, right] = splitAt(map, key);
    return { key, value, priority, left, right };
  }
  if (map.key === key) return map.value === value ? map : { ...map, value };
  if (key < map.key) {
    const left = withKey(map.left, key, value);
    return left === map.left ? map : { ...map, left };
  }
  const right = withKey(map.right, key, value);
  return right === map.right ? map : { ...map, right };
}

export function withoutKey<V>(map: SortedMap<V>, key: string): SortedMap<V> {
  if (map === undefined) return undefined;
  if (map.key === key) return joined(map.left, map.right);
  if (key < map.key) {
    const left = withoutKey(map.left, key);
    return left === map.left ? map : { ...map, left };
  }
  const right = withoutKey(map.right, key);
  return right === map.right ? map : { ...map, right };
}

export function* entriesOf<V>(map: SortedMap<V>): Iterable<readonly [string, V]> {
  if (map === undefined) return;
  yield* entriesOf(map.left);
  yield [map.key, map.value];
  yield* entriesOf(map.right);
}

/** Every entry whose key begins with a text, in order. Cost follows what is found, not the size. */
export function* entriesBelow<V>(map: SortedMap<V>, beginning: string): Iterable<readonly [string, V]> {
  if (map === undefined) return;
  const inside = map.key.startsWith(beginning);
  if (inside || map.key > beginning) yield* entriesBelow(map.left, beginning);
  if (inside) yield [map.key, map.value];
  if (inside || map.key < beginning) yield* entriesBelow(map.right, beginning);
}

/** Every key whose value differs, in order. Cost follows the differences, not the sizes. */
export function* differences<V>(
  before: SortedMap<V>,
  after: SortedMap<V>,
): Iterable<{ readonly key: string; readonly before: V | undefined; readonly after: V | undefined }> {
  if (before === after) return;
  const top = higher(before, after);
  if (top === undefined) return;
  const { key } = top;
  const [a, b] = [apart(before, key), apart(after, key)];
  yield* differences(a.left, b.left);
  if (a.value !== b.value) yield { key, before: a.value, after: b.value };
  yield* differences(a.right, b.right);
}

/** The node that stands above the other in every tree that holds both. */
function higher<V>(a: SortedMap<V>, b: SortedMap<V>): SortedMap<V> {
  if (a === undefined || b === undefined) return a ?? b;
  return isAbove(a.priority, a.key, b) ? a : b;
}

function apart<V>(map: SortedMap<V>, key: string) {
  if (map?.key === key) return map;
  const [left, right] = splitAt(map, key);
  return { left, right, value: undefined };
}

/** What lies before a key and what lies after it; the key itself is in neither. */
function splitAt<V>(map: SortedMap<V>, key: string): readonly [SortedMap<V>, SortedMap<V>] {
  if (map === undefined) return [undefined, undefined];
  if (map.key === key) return [map.left, map.right];
  if (map.key < key) {
    const [left, right] = splitAt(map.right, key);
    return [left === map.right ? map : { ...map, right: left }, right];
  }
  const [left, right] = splitAt(map.left, key);
  return [left, right === map.left ? map : { ...map, left: right }];
}

function joined<V>(left: SortedMap<V>, right: SortedMap<V>): SortedMap<V> {
  if (left === undefined || right === undefined) return left ?? right;
  return isAbove(left.priority, left.key, right)
    ? { ...left, right: joined(left.right, right) }
    : { ...right, left: joined(left, right.left) };
}

function isAbove(priority: number, key: string, other: SortedNode<unknown>): boolean {
  return priority > other.priority || (priority === other.priority && key > other.key);
}

/** FNV-1a with a final mix, so that names which differ in their last letter still scatter. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
