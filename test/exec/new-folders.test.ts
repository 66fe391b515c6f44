import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/index.ts";
import { forgetfulDisk, freshRoot, work } from "../support/workspaces.ts";
import { missing, plainly, portrait, withCommands } from "../support/commands.ts";

const MAKES = `mkdir -p pkg/a/deep pkg/b other && for n in 1 2 3; do echo $n > pkg/$n; echo $n > pkg/a/deep/$n; done
echo x > pkg/b/x; ln -s ../1 pkg/b/link; mkdir pkg/hollow; echo y > other/y; mkdir -m 555 closed-later; chmod 755 closed-later
echo z > closed-later/z; chmod 555 closed-later`;

const why = missing("overlay");

/** The operations with which a plan is put in place. */
const TOUCHES = ["rename", "makeFolder", "modeAt", "mode", "linkAs", "unlink", "removeTree"] as const;

/** A disk that fails once, at its nth touch after it was armed, and before or after the touch was made. */
function failingAt(nth: number, made: boolean) {
  const state = { armed: false, touches: 0, failed: false };
  const fail = () => {
    state.failed = true;
    throw Object.assign(new Error("the disk"), { code: "EIO" });
  };
  const touched = Object.fromEntries(
    TOUCHES.map((name) => [
      name,
      (...args: never[]) => {
        const hit = state.armed && !state.failed && (state.touches += 1) === nth;
        if (hit && !made) fail();
        (realHost[name] as (...all: never[]) => void)(...args);
        if (hit) fail();
      },
    ]),
  );
  return { state, port: { ...realHost, ...touched } as HostPort };
}

describe.skipIf(why !== undefined)(
  `folders that a command made${why === undefined ? "" : ` (skipped: ${why})`}`,
  () => {
    test("[EXEC-23] come into place whole, as a plain shell would have made them", async () => {
      const renamed: string[] = [];
      const port: HostPort = {
        ...realHost,
        rename: (from, to) => {
          renamed.push(to);
          realHost.rename(from, to);
        },
        linkAs: (from, to) => {
          expect(to).not.toMatch(/\/[123]$/); // not file by file
          realHost.linkAs(from, to);
        },
      };
      const at = freshRoot();
      const { sh, root } = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
      expect((await sh(MAKES)).ok).toBe(true);
      const { root: other } = freshRoot();
      plainly(other, MAKES);
      expect(portrait(root, { times: false })).toEqual(portrait(other, { times: false }));
      expect(renamed.filter((to) => to.endsWith("/pkg"))).toHaveLength(1);
    });

    test("[EXEC-23] [EXEC-18] are whole however often putting them there is cut off, at whichever touch", async () => {
      const { root: expected } = freshRoot();
      plainly(expected, MAKES);
      const whole = portrait(expected, { times: false });
      let last = 0;
      for (let nth = 1; nth <= 80; nth += 1) {
        const at = freshRoot();
        const { state, port } = failingAt(nth, nth % 2 === 0);
        const one = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
        state.armed = true;
        await one.sh(MAKES);
        state.armed = false;
        await one.session.close().catch(() => {});
        await one.holdfast.close().catch(() => {});
        if (!state.failed) break;
        last = nth;
        const again = await work({}, at);
        const found = portrait(at.root, { times: false });
        // Cut off before the decision it never happened; after it, all of it did.
        expect([nth, found.length === 1 ? whole : found]).toEqual([nth, whole]);
        const commands = join(at.root, ".holdfast/workspace/exec");
        expect([nth, existsSync(commands) ? readdirSync(commands) : []]).toEqual([nth, []]);
        await again.session.close();
        await again.holdfast.close();
      }
      expect(last).toBeGreaterThan(20);
    });

    test("[EXEC-23] [EXEC-10] somebody else's folder of the same name stays, with what is in it, and ours comes in beside", async () => {
      const at = freshRoot();
      const theirs = (root: string) => {
        mkdirSync(join(root, "pkg"));
        writeFileSync(join(root, "pkg/2"), "theirs");
        chmodSync(join(root, "pkg"), 0o711);
      };
      const port: HostPort = {
        ...realHost,
        rename: (from, to) => {
          if (to.endsWith("/pkg") && !existsSync(join(at.root, "pkg"))) theirs(at.root); // at the very last moment
          realHost.rename(from, to);
        },
      };
      const { sh, text, session, journalled } = await withCommands(
        "overlay",
        { workspace: { root: at.root, port } },
        at,
      );
      expect((await sh(MAKES)).ok).toBe(true);
      expect([text("pkg/1"), text("pkg/2"), text("pkg/a/deep/3"), text("other/y")]).toEqual([
        "1\n",
        "theirs",
        "3\n",
        "y\n",
      ]);
      expect(await journalled("file-diverged")).toMatchObject([{ path: "pkg/2" }]);
      const kept = session.workspace?.rescued().find(({ path }) => path === "pkg/2")?.name ?? "";
      expect(readFileSync(join(at.root, ".holdfast/workspace/rescue", kept), "utf8")).toBe("2\n");
    });

    test("[EXEC-23] [HOST-8] that a later call has removed do not come back when a crash makes both plans looked at again", async () => {
      const at = freshRoot();
      const { state, port } = forgetfulDisk();
      const one = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
      await one.sh("mkdir made; echo stays > made/stays");
      await one.sh("mkdir made/1; echo 1 > made/1/file");
      state.notes = 0; // nobody hears any more that a plan is in place, or that the folder is closed
      await one.sh("rm -rf made/1; mkdir made/2; echo 2 > made/2/file");
      await one.session.close().catch(() => {});
      await one.holdfast.close().catch(() => {});
      const { text } = await work({}, at);
      expect([text("made/2/file"), existsSync(join(at.root, "made/1"))]).toEqual(["2\n", false]);
    });

    test("[EXEC-23] [HOST-8] that were empty and that somebody removed since do not come back after a crash", async () => {
      const at = freshRoot();
      const { state, port } = forgetfulDisk();
      const one = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
      state.notes = 1; // that it is applied, and not that nothing is left to do
      await one.sh("mkdir -p made/empty alone; echo stays > made/stays");
      await one.session.close().catch(() => {});
      await one.holdfast.close().catch(() => {});
      for (const path of ["made/empty", "alone"]) rmdirSync(one.on(path));
      await work({}, at);
      expect([readdirSync(one.on("made")), existsSync(one.on("alone"))]).toEqual([["stays"], false]);
    });
  },
);
