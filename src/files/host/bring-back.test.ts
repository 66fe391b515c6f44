import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { bringBack } from "./bring-back.ts";
import { HostRoot } from "./folders.ts";
import type { Images } from "./images.ts";
import type { Known } from "./manifest.ts";
import { realHost } from "./port.ts";
import type { Rescue } from "./rescue.ts";

const scratch = scratchFolder();

/** Tells how many entries were looked at by whoever went through them. */
class Counted extends Map<string, Known> {
  walked = 0;

  override *[Symbol.iterator](): MapIterator<[string, Known]> {
    for (const entry of super.entries()) {
      this.walked += 1;
      yield entry;
    }
  }
}

test("[EXEC-33] files that share theirs with somebody else's are brought back without going through the tree for each", () => {
  const at = join(scratch, "root");
  for (const name of ["m", "rescue", "temporary"]) mkdirSync(join(at, name), { recursive: true });
  mkdirSync(join(scratch, "store"));
  const manifest = new Counted();
  for (let n = 0; n < 50; n += 1) {
    const [kept, one] = [join(scratch, `store/${n}`), `m/${n}`];
    writeFileSync(kept, "");
    for (const path of [one, `${one}-twin`]) linkSync(kept, join(at, path));
    for (const path of [one, `${one}-twin`]) manifest.set(path, { stat: realHost.stat(join(at, path))! });
  }
  rmSync(join(at, "m"), { recursive: true });
  mkdirSync(join(at, "m"));
  const root = new HostRoot(realHost, at);
  const ground = {
    root,
    id: "x",
    images: { read: () => [] } as unknown as Images,
    rescue: {} as Rescue,
    rescueFolder: root.mustHave(["rescue"]),
    temporary: root.mustHave(["temporary"]),
  };
  const unlike = [...manifest.entries()].map(([path, was]) => ({ path, was, is: undefined }));
  bringBack(ground, { unlike, unnamed: [] }, { entries: manifest, root: undefined } as never);
  root.close();
  const inode = (path: string) => statSync(join(at, path)).ino;
  expect(existsSync(join(at, "m/0")) && inode("m/7") === inode("m/7-twin") && inode("m/7") !== inode("m/8")).toBe(true);
  expect(manifest.walked).toBeLessThanOrEqual(2 * manifest.size);
});
