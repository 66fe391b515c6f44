import { linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/index.ts";
import { missing, withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";
import { driverLaws } from "./driver-laws.ts";

driverLaws("overlay");

const why = missing("overlay");
test.skipIf(why !== undefined)(
  `[EXEC-1] what a command cost follows what it changed, and not what lies beside it${why === undefined ? "" : ` (skipped: ${why})`}`,
  async () => {
    let looks = 0;
    const port: HostPort = {
      ...realHost,
      stat: (path) => {
        looks += 1;
        return realHost.stat(path);
      },
    };
    const at = freshRoot();
    for (let folder = 0; folder < 20; folder += 1) {
      mkdirSync(join(at.root, `${folder}`), { recursive: true });
      for (let n = 0; n < 40; n += 1) writeFileSync(join(at.root, `${folder}/${n}`), `${n}\n`);
    }
    const { sh, results } = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
    await sh("true");
    const before = looks;
    await sh("echo x >> 7/7 && echo y > 8/new && rm 9/9 && mv 10 moved", { undo: true });
    expect(results[1]?.changed.paths).toContain("7/7");
    const moved = 40 * 4; // every file of a folder that got another name is another path
    expect(looks - before).toBeLessThan(moved + 120);
    linkSync(join(at.root, "1/1"), join(at.root, "2/twin"));
    await sh("echo both > 1/1 && echo z > 2/new");
    expect(readFileSync(join(at.root, "2/twin"), "utf8")).toBe("both\n");
  },
);
