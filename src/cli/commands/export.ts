import { resolve } from "node:path";
import type { CommandBody, Parsed, Terminal } from "../command.ts";
import { environment } from "../bundle/environment.ts";
import { writeWhole } from "../bundle/file.ts";
import { flagOf, sessionIn, STORE_OPTION, textOf, usage } from "../options.ts";
import { kernelOn, lookIn, lookingAt } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { bytes } from "../words.ts";

export const exportCommand: CommandBody = {
  usage: "holdfast export SESSION [--out FILE] [--hide VAR,…] [--store FILE]",
  examples: [
    "holdfast export rename-foo",
    "holdfast export rename-foo --out report.tar --hide DB_PASSWORD,DEPLOY_KEY",
    "holdfast verify rename-foo.bundle.tar      whether it is still as it was exported",
  ],
  options: {
    out: { type: "string", value: "FILE", help: "write to this new file (default SESSION.bundle.tar)" },
    hide: { type: "string", value: "VAR,…", help: "environment variables whose values are also secrets" },
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const out = resolve(terminal.cwd, textOf(parsed, "out") ?? `${id}.bundle.tar`);
    const secrets = secretsIn(parsed, terminal);
    return lookingAt(parsed, terminal, async (place) => {
      const holdfast = await kernelOn(place);
      for (const secret of secrets) holdfast.registerSecret(secret);
      await lookIn(place, holdfast, id); // before the file is begun: a session that is not there leaves none
      const bundle = holdfast.exportBundle(id, { environment: environment(place.store.durability) });
      const size = await whileSaying(
        terminal,
        () => "exporting",
        () => writeWhole("--out", out, bundle),
      );
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, session: id, file: out, bytes: size }));
      else
        for (const line of [
          `${id} exported to ${out}, ${bytes(size)}`,
          "secrets are hidden, and files of its workspace are not in it",
        ])
          terminal.out(line);
      return 0;
    });
  },
};

function secretsIn(parsed: Parsed, { env }: Terminal): readonly { readonly name: string; readonly value: string }[] {
  const names = textOf(parsed, "hide")?.split(",") ?? [];
  return names.map((name) => {
    const value = env[name.trim()];
    if (value === undefined || value === "") throw usage("--hide", `there is no environment variable ${name.trim()}`);
    return { name: name.trim(), value };
  });
}
