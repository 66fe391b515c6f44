import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/harness/*.test.ts"],
    reporters: ["default", "./scripts/plain-count-reporter.ts"],
    setupFiles: ["test/support/law-seed.ts", "test/support/child-coverage.ts"],
    typecheck: { enabled: false },
    testTimeout: 60_000,
    maxWorkers: Math.max(2, availableParallelism() - 1), // left alone, a machine of two cores would use one of them
    coverage: { include: ["src/**/*.ts"], exclude: ["src/**/*.test.ts"] },
  },
});
