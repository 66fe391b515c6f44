import { defineConfig } from "tsdown";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    history: "src/history/entry.ts",
    "stores/sqlite": "src/stores/sqlite/entry.ts",
    "stores/memory": "src/stores/memory/entry.ts",
    "blobs/files": "src/blobs/files/entry.ts",
    telemetry: "src/telemetry/entry.ts",
    testing: "src/testing/entry.ts",
    tools: "src/tools/entry.ts",
    "adapters/openai": "src/adapters/openai/entry.ts",
    "adapters/anthropic": "src/adapters/anthropic/entry.ts",
    "adapters/ai-sdk": "src/adapters/ai-sdk/entry.ts",
    "adapters/mcp": "src/adapters/mcp/entry.ts",
    "adapters/claude-agent-sdk": "src/adapters/claude-agent-sdk/entry.ts",
    "adapters/quickjs": "src/adapters/quickjs/entry.ts",
    "adapters/quickjs-worker": "src/adapters/quickjs/worker.ts",
    "adapters/kit": "src/adapters/kit/entry.ts",
    "adapters/scripted": "src/adapters/scripted/entry.ts",
    "walk-worker": "src/files/host/walk-worker.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  platform: "node",
  target: "node22.18",
  dts: true,
  fixedExtension: false,
  outDir: "dist",
  clean: true,
  // Types carry what is said about them; told again in the code, it would be a seventh of the package.
  outputOptions: { comments: { jsdoc: false } },
});
