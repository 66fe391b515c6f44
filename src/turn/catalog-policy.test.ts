import { expect, test } from "vitest";
import { opened, step } from "../../test/support/durable.ts";
import { tool } from "../../test/support/catalogs.ts";
import type { PolicyView } from "../transaction/policy.ts";
import { catalogPolicy } from "./catalog-policy.ts";

test("[MODE-10] a call that has got at the catalog all the same commits nothing in plan mode", async () => {
  const { session } = await opened();
  await session.setMode("plan");
  const policy = catalogPolicy(() => session.catalog);
  const view = { tool: { ...step, ...tool("look") }, input: {}, call: {} } as unknown as PolicyView;
  await session.catalog.add([view.tool]);
  expect(policy.recheck?.(view, () => false)).toBeUndefined();
  expect(policy.recheck?.(view, (part) => part === "catalog")).toMatch(/^look changed the mode/);
  expect(policy.recheck?.(view, (part) => part === "files")).toMatch(/^look changed files/);
  await session.close();
});
