import { posix } from "node:path";
import { importsOf, isRelative, targetOf } from "./imports.ts";
import { isTest, type Tree } from "./tree.ts";

type RoomTable = Readonly<Record<string, readonly string[]>>;

export interface RoomRules {
  readonly rooms: RoomTable;
  /** Packages that any room may import: the runtime dependencies. All others are vendors. */
  readonly dependencies: readonly string[];
}

const DOOR = "src/index.ts";
/** Rooms with one folder per vendor, host or format; the folders do not see each other. */
const ROOMS_OF_FOLDERS = new Set(["stores", "blobs", "adapters", "transcripts"]);

/** The one file of such a room that lists its folders, where the room itself must choose among them. */
const LIST: Readonly<Record<string, string>> = { transcripts: "src/transcripts/formats.ts" };

/** Every place where src/ does not follow the table of rooms, as sentences. */
export function findRoomFaults(tree: Tree, rules: RoomRules): readonly string[] {
  const files = [...tree.keys()].filter((path) => path.startsWith("src/") && path.endsWith(".ts"));
  return [
    ...findTableFaults(rules.rooms),
    ...files.flatMap((path) => findFileFaults(tree, rules, path)),
    ...findCycles(tree, files),
  ];
}

/** Every room whose status in ARCHITECTURE.md, `here` or `planned`, is not what src/ shows. */
export function findMapFaults(map: string, tree: Tree): readonly string[] {
  const said = new Map(
    [...map.matchAll(/^\| `(\w+)` \|.*\| (\w+) \|$/gm)].map(([, room = "", status = ""]) => [room, status]),
  );
  const built = new Set([...tree.keys()].map(roomOf).filter((room) => room !== undefined && room !== "door"));
  const faults = [...built].filter((room) => !said.has(room ?? "")).map((room) => `${room}: not in ARCHITECTURE.md`);
  for (const [room, status] of said) {
    const is = built.has(room) ? "here" : "planned";
    if (status !== is) faults.push(`${room}: ARCHITECTURE.md says ${status}, but it is ${is}`);
  }
  return faults;
}

function findTableFaults(rooms: RoomTable): readonly string[] {
  const faults: string[] = [];
  for (const [room, seen] of Object.entries(rooms)) {
    for (const other of seen)
      if (!(other in rooms)) faults.push(`rooms.ts: ${room} may see ${other}, which is no room`);
  }
  const circle = firstCircle(Object.keys(rooms), (room) => (rooms[room] ?? []).filter((other) => other in rooms));
  if (circle !== undefined) faults.push(`rooms.ts: rooms see each other in a circle: ${circle.join(" → ")}`);
  return faults;
}

function findFileFaults(tree: Tree, rules: RoomRules, path: string): readonly string[] {
  const room = roomOf(path);
  if (room === undefined) return [`${path}: lies in no room; every file but the door lives in a folder of src/`];
  if (!(room in rules.rooms)) return [`${path}: the room ${room} is not in rooms.ts`];
  return importsOf(tree.get(path) ?? "").flatMap(({ specifier }) => {
    const fault = isRelative(specifier)
      ? findInnerFault(tree, rules.rooms, path, targetOf(path, specifier))
      : findOuterFault(rules.dependencies, path, specifier);
    return fault === undefined ? [] : [`${path}: ${fault}`];
  });
}

function findInnerFault(tree: Tree, rooms: RoomTable, path: string, target: string): string | undefined {
  if (!target.startsWith("src/")) {
    return isTest(path) && target.startsWith("test/") ? undefined : `imports ${target}, which is not in src/`;
  }
  if (!tree.has(target)) return `imports ${target}, which does not exist`;
  if (target !== DOOR && posix.basename(target) === "index.ts") return `imports the barrel ${target}; import the file`;
  const from = roomOf(path) ?? "";
  const to = roomOf(target) ?? "";
  if (isTest(path) && (to === "testing" || to === "door")) return undefined;
  if (isTest(target)) return `imports the test ${target}`;
  if (from !== to) return (rooms[from] ?? []).includes(to) ? undefined : `${from} may not see ${to} (${target})`;
  const [mine, theirs] = [folderOf(path), folderOf(target)];
  if (!ROOMS_OF_FOLDERS.has(to) || mine === theirs || theirs === undefined || path === LIST[to]) return undefined;
  return `${from}/${mine ?? ""} may not see ${to}/${theirs} (${target})`;
}

function findOuterFault(dependencies: readonly string[], path: string, specifier: string): string | undefined {
  if (specifier.startsWith("node:") || isTest(path)) return undefined;
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  if (name === "holdfast") return `imports ${specifier}; inside, import the file`;
  // Law suites are handed to a stranger's test run, so they may name the runner.
  if (dependencies.includes(name) || (name === "vitest" && roomOf(path) === "testing")) return undefined;
  return posix.basename(path) === "vendor.ts" ? undefined : `imports ${specifier}; a vendor enters only in vendor.ts`;
}

function findCycles(tree: Tree, files: readonly string[]): readonly string[] {
  const circle = firstCircle(files, (path) =>
    importsOf(tree.get(path) ?? "")
      .filter(({ specifier }) => isRelative(specifier))
      .map(({ specifier }) => targetOf(path, specifier)),
  );
  return circle === undefined ? [] : [`files import each other in a circle: ${circle.join(" → ")}`];
}

/** `src/history/pair.ts` → `history`; the door is a room of its own. */
function roomOf(path: string): string | undefined {
  if (path === DOOR || path === "src/index.test.ts") return "door";
  const [, room, ...rest] = path.split("/");
  return rest.length > 0 ? room : undefined;
}

/** `src/stores/sqlite/open.ts` → `sqlite`; a file directly in the room belongs to all of its folders. */
function folderOf(path: string): string | undefined {
  const [, , folder, ...rest] = path.split("/");
  return rest.length > 0 ? folder : undefined;
}

function firstCircle(
  nodes: readonly string[],
  next: (node: string) => readonly string[],
): readonly string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (node: string): readonly string[] | undefined => {
    if (trail.includes(node)) return [...trail.slice(trail.indexOf(node)), node];
    if (done.has(node)) return undefined;
    trail.push(node);
    for (const other of next(node)) {
      const circle = visit(other);
      if (circle !== undefined) return circle;
    }
    trail.pop();
    done.add(node);
    return undefined;
  };
  for (const node of nodes) {
    const circle = visit(node);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
