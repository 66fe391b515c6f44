import * as api from "@opentelemetry/api";
import { expect, test } from "vitest";
import { openTelemetry } from "../../src/telemetry/entry.ts";

test("[TELEMETRY-14] the package fits as it is imported, without a cast", () => {
  expect(openTelemetry(api)).toHaveProperty("emit");
});
