import { expect, test } from "vitest";
import { workspaceTools } from "../../src/tools/entry.ts";
import { work } from "../support/workspaces.ts";

test("[TOOL-12] a path with blanks around it names that file, and never the one without", async () => {
  const { session, put, text } = await work({ tools: [...workspaceTools()] });
  put(" sp.txt", "one\n");
  put("sp.txt", "one\n");
  const edit = (path: string) =>
    session.runTool({ name: "edit_file", input: { path, edits: [{ find: "one", replace: "two" }] } });
  expect([(await edit(" sp.txt")).ok, text(" sp.txt"), text("sp.txt")]).toEqual([true, "two\n", "one\n"]);
  expect([(await edit("sp.txt ")).reason, text("sp.txt")]).toEqual(["FILE_NOT_FOUND", "one\n"]);
});
