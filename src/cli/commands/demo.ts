import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandBody } from "../command.ts";
import { usage } from "../options.ts";
import { runChild } from "../demo/child.ts";
import { layOut } from "../demo/project.ts";
import { Show } from "../demo/show.ts";
import { storeIn } from "../demo/stage.ts";
import { tellStory } from "../demo/story.ts";

export const demo: CommandBody = {
  usage: "holdfast demo [--keep]",
  examples: ["holdfast demo", "holdfast demo --json", "holdfast demo --keep      leaves its folder for you to inspect"],
  options: {
    keep: { type: "boolean", help: "keep the demo's folder and say where it is" },
    child: { type: "string", help: "", hidden: true },
  },
  async run({ values, positionals: [surplus] }, terminal) {
    if (surplus !== undefined) throw usage(surplus, "the demo takes no arguments");
    const { child } = values;
    if (typeof child === "string") return runChild(child, (line) => terminal.out(JSON.stringify(line)));
    const keep = values["keep"] === true;
    const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
    const workspace = join(folder, "shop");
    const children = new Set<ChildProcess>();
    const show = new Show(terminal, values["json"] === true);
    const cleanUp = () => {
      for (const one of children) one.kill("SIGKILL");
      if (!keep) rmSync(folder, { recursive: true, force: true });
    };
    const deaf = terminal.onInterrupt(() => {
      cleanUp();
      process.exit(130);
    });
    try {
      mkdirSync(workspace);
      layOut(workspace);
      await tellStory({ show, folder, workspace, children, lives: 0 });
      return show.finish(keep ? { folder: workspace, store: storeIn(workspace) } : undefined);
    } finally {
      deaf();
      cleanUp();
    }
  },
};
