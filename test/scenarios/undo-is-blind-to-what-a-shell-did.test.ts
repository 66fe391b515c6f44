import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eachDriver, portrait, withCommands } from "../support/commands.ts";

// anthropics/claude-code#34368, #14002, #87575: undo knew the edits of tools and nothing of `sed`, `rm` and `mv`. It offered
// to go back, and went back in part.
eachDriver((driver) => {
  test("[EXEC-12] what a shell edited, removed and moved comes back with everything else, as the dry run says", async () => {
    const { sh, run, put, root, session, on } = await withCommands(driver);
    put("src/a.ts", "const a = 1;\n");
    put("src/b.ts", "const b = 1;\n");
    put("notes", "mine\n");
    const before = portrait(root, { times: false });
    const first = await sh("sed -i s/1/2/ src/a.ts && rm src/b.ts && mv notes NOTES");
    await run(({ files }) => files.writeText("src/a.ts", "const a = 3;\n"));
    await sh("echo more >> src/a.ts; mkdir -p out/deep; echo made > out/deep/x");
    expect(readFileSync(on("src/a.ts"), "utf8")).toBe("const a = 3;\nmore\n");
    const dry = await session.rewind({ before: first.callId, dryRun: true });
    const real = await session.rewind({ before: first.callId });
    expect([real.files?.files, real.files?.kept, real.files?.unlike]).toEqual([dry.files?.files, [], []]);
    expect(portrait(root, { times: false })).toEqual(before);
  });
});
