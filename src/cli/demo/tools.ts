import { defineSlice, defineTool, type Tool } from "../../index.ts";

/** What the agent believes to have done. It goes with a call that fails. */
export const steps = defineSlice("steps", {
  initial: [] as readonly string[],
  on: { added: (now: readonly string[], step: string) => [...now, step] },
});

/** What the tools were seen doing, outside every transaction: nothing takes it back. */
export class Witness {
  /** How often `edit_file` ran, again after a conflict included. */
  edits = 0;
  /** What `rename` had changed when it failed. */
  readonly renamed: string[] = [];
  /** Called by `edit_file` between reading and writing. */
  meet: () => Promise<void> = async () => {};
  /** How long the tests take. */
  tests: () => Promise<void> = async () => {};
}

/** Tools as anybody would write them. What they do counts when their call is committed, and not before. */
export function toolsWith(witness: Witness): readonly Tool[] {
  return [
    defineTool<{ readonly path: string }>({
      name: "read_file",
      access: "read",
      run: ({ path }, { files }) => files.readText(path),
    }),
    defineTool<{ readonly path: string; readonly find: string; readonly replace: string }>({
      name: "edit_file",
      access: "write",
      async run({ path, find, replace }, call) {
        witness.edits += 1;
        const text = await call.files.readText(path);
        if (!text.includes(find)) return call.fail("not-found", `"${find}" is not in ${path}.`);
        await witness.meet();
        await call.files.writeText(path, text.replaceAll(find, replace));
        call.dispatch(steps.added(`edited ${path}`));
        return `${find} is ${replace} now in ${path}`;
      },
    }),
    defineTool<{ readonly from: string; readonly to: string; readonly paths: readonly string[] }>({
      name: "rename",
      access: "write",
      async run({ from, to, paths }, call) {
        for (const path of paths) {
          if (!(await call.files.exists(path))) return call.fail("not-found", `There is no ${path}.`);
          await call.files.writeText(path, (await call.files.readText(path)).replaceAll(from, to));
          call.dispatch(steps.added(`renamed ${from} in ${path}`));
          witness.renamed.push(path);
        }
        return "renamed";
      },
    }),
    defineTool({
      name: "run_tests",
      access: "write",
      async run(_, call) {
        await call.files.writeText("test-report.txt", "running …");
        await witness.tests();
        const passes = (await call.files.readText("src/cart.test.ts")).includes("sum(");
        await call.files.writeText("test-report.txt", passes ? "1 passed\n" : "1 failed\n");
        return passes ? "1 passed" : "1 failed: total is not defined";
      },
    }),
    defineTool({
      name: "count_lines",
      description: "Says that it only reads.",
      access: "read",
      async run(_, call) {
        await call.files.writeText("lines.txt", "it wrote all the same");
        return "3 lines";
      },
    }),
  ];
}
