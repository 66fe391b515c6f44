import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { createHoldfast, defineTool, type DriverChoice, type ExecSettings } from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";
import { unfinished } from "../unfinished.ts";

/** Who looks after commands here, or why nobody can. */
export type Probed = DriverChoice | { readonly driver: null; readonly why: string };

/** It is found by trying, so a command is run in a folder of its own. That it cannot be tried is an answer, too. */
export async function probe(driver: NonNullable<ExecSettings["driver"]>): Promise<Probed> {
  try {
    return await tried(driver);
  } catch (error) {
    const why = HoldfastError.is(error) ? `${error.code}: ${error.message}` : String(error);
    return { driver: null, why };
  }
}

async function tried(driver: NonNullable<ExecSettings["driver"]>): Promise<DriverChoice> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-probe-"));
  const finished = unfinished(folder);
  const tool = defineTool({
    name: "probe",
    access: "execute",
    run: async (_, call) => (await call.exec(["true"])).end,
  });
  try {
    const holdfast = await createHoldfast({
      store: sqlite(join(folder, ".holdfast", "sessions.db"), { durability: "process" }),
      workspace: folder,
      tools: [tool],
      exec: { driver },
    });
    try {
      const session = await holdfast.open("probe");
      const { output } = await session.runTool({ name: "probe", input: {} });
      if (session.protection !== undefined) return session.protection;
      throw new HoldfastError("EXEC_NO_DRIVER", { driver, refused: JSON.stringify(output) });
    } finally {
      await holdfast.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
    finished();
  }
}
