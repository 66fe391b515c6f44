import { resolve } from "node:path";
import { bundleAt } from "../bundle/file.ts";
import type { CommandBody } from "../command.ts";
import { flagOf, STORE_OPTION, textOf, usage } from "../options.ts";
import { inStore, kernelOn } from "../session/place.ts";
import { count } from "../words.ts";

export const importCommand: CommandBody = {
  usage: "holdfast import BUNDLE [--as NAME] [--store FILE]",
  examples: ["holdfast import rename-foo.bundle.tar --as theirs", "holdfast show theirs"],
  options: {
    as: { type: "string", value: "NAME", help: "the session's id here (default: the one it had)" },
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const [path, surplus] = parsed.positionals;
    if (path === undefined || surplus !== undefined)
      throw usage("BUNDLE", "name one file that `holdfast export` wrote");
    const as = textOf(parsed, "as");
    return inStore(parsed, terminal, async (place) => {
      const holdfast = await kernelOn(place);
      const taken = await holdfast.importBundle(bundleAt(resolve(terminal.cwd, path)), as === undefined ? {} : { as });
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify(taken));
      else terminal.out(`${taken.as}: ${count(taken.records, "record")} imported; try \`holdfast show ${taken.as}\``);
      return 0;
    });
  },
};
