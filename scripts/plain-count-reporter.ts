import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Ends every test run with one plain line that people and scripts can read: `N passed, N failed, N skipped`. */
export default class PlainCountReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      // A module that could not even load has no tests; without this it would count as nothing failed.
      if (module.state() === "failed" && module.children.size === 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") count[state] += 1;
        else {
          count.skipped += 1;
          console.log(`skipped: ${test.fullName}`);
        }
      }
    }
    const line = `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`;
    const later = process.env["HOLDFAST_COUNT"]; // somebody has more to say, and says this last
    if (later === undefined) console.log(line);
    else writeFileSync(later, line);
  }
}
