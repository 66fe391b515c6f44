import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { createHoldfast, defineTool, type DriverChoice, type ExecSettings } from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";

/** Which driver looks after commands here. It is found by trying, so a command is run in a folder of its own. */
export async function probe(driver: NonNullable<ExecSettings["driver"]>): Promise<DriverChoice> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-probe-"));
  const tool = defineTool({
    name: "probe",
    access: "execute",
    run: async (_, call) => (await call.exec(["true"])).end,
  });
  const holdfast = await createHoldfast({
    store: sqlite(join(folder, ".holdfast", "sessions.db"), { durability: "process" }),
    workspace: folder,
    tools: [tool],
    exec: { driver },
  });
  try {
    const session = await holdfast.open("probe");
    try {
      const { ok, output } = await session.runTool({ name: "probe", input: {} });
      if (ok && session.protection !== undefined) return session.protection;
      throw new HoldfastError("EXEC_NO_DRIVER", { driver, refused: JSON.stringify(output) });
    } finally {
      await session.close();
    }
  } finally {
    await holdfast.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
