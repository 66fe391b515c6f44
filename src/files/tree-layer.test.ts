import { describe, expect, test } from "vitest";
import { EMPTY_FOLDER, fileOf, type TreeFolder, withNode } from "./tree.ts";
import { treeLayer } from "./tree-layer.ts";

/** A layer over a tree that somebody else may change at any moment, as they do between a call's step and its commit. */
function shared(start: TreeFolder = EMPTY_FOLDER) {
  let tree = start;
  const layer = treeLayer({
    look: (_what, see) => ({ saw: see(tree), tree }),
    peek: () => tree,
    change: (redo) => {
      tree = redo(tree);
    },
  });
  return { layer, now: () => tree };
}

const text = (words: string) => new TextEncoder().encode(words);
const withFile = (path: string, words = "text") => withNode(EMPTY_FOLDER, path.split("/"), fileOf(text(words)));
const withFolder = (path: string) => withNode(EMPTY_FOLDER, path.split("/"), EMPTY_FOLDER);
const coded = (code: string) => expect.objectContaining({ code });

describe("[FILE-4] what somebody else has made of a path by then", () => {
  test("a file that is a folder now is neither written nor read, and a folder that is a file is not made again", async () => {
    const { layer, now } = shared(withFolder("d"));
    await expect(layer.write(["d"], text("x"))).rejects.toEqual(coded("FILE_IS_FOLDER"));
    await expect(layer.read(["d"])).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(layer.chmod(["d"], 0o755)).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(shared(withFile("f")).layer.mkdir(["f"])).rejects.toEqual(coded("FILE_NOT_FOLDER"));
    expect(now()).toEqual(withFolder("d"));
  });

  test("a file that is gone is not given a mode, not moved, and listed as nothing", async () => {
    const { layer } = shared();
    await expect(layer.chmod(["f"], 0o755)).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(layer.move(["f"], ["g"])).rejects.toEqual(coded("FILE_NOT_FOUND"));
    expect(await layer.list(["f"])).toEqual([]);
    expect(await shared(withFile("f")).layer.list(["f"])).toEqual([]);
  });

  test("a folder that is there already, a mode that it has already and the same content change nothing", async () => {
    const folder = shared(withFolder("d"));
    const before = folder.now();
    await folder.layer.mkdir(["d"]);
    expect(folder.now()).toBe(before);
    const file = shared(withFile("f"));
    const same = file.now();
    await file.layer.chmod(["f"], 0o644);
    await file.layer.write(["f"], text("text"));
    expect(file.now()).toBe(same);
  });

  test("what moves is what it is when it is moved; gone meanwhile, it is what was seen", async () => {
    let tree = withFile("f", "seen");
    const seen = tree;
    const later = (next: TreeFolder) =>
      treeLayer({
        look: (_what, see) => ({ saw: see(seen), tree: seen }),
        peek: () => tree,
        change: (redo) => {
          tree = redo(next);
        },
      });
    await later(withFile("f", "changed")).move(["f"], ["g"]);
    expect(tree).toEqual(withFile("g", "changed"));
    await later(EMPTY_FOLDER).move(["f"], ["g"]);
    expect(tree).toEqual(withFile("g", "seen"));
  });

  test("content that lies elsewhere and was not brought is told as missing", async () => {
    const { bytes: _bytes, ...bare } = fileOf(text("x"));
    const { layer } = shared(withNode(EMPTY_FOLDER, ["f"], bare));
    await expect(layer.read(["f"])).rejects.toEqual(coded("BLOB_MISSING"));
  });

  test("what comes in one piece is written like what comes in many", async () => {
    const { layer } = shared();
    await layer.writeStream(["one"], text("whole"));
    await layer.writeStream(["many"], [text("wh"), text("ole")]);
    expect([await layer.read(["one"]), await layer.read(["many"])]).toEqual([text("whole"), text("whole")]);
  });
});
