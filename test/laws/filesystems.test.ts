import { test } from "vitest";
import { ExecutionState, filesOf, filesPart, InMemoryFilesystem } from "../../src/index.ts";
import { filesystemLaws, register } from "../../src/testing/entry.ts";

register(filesystemLaws("in memory", { open: async () => new InMemoryFilesystem() }), test);
register(
  filesystemLaws("in a state", { open: async () => filesOf(ExecutionState.create({ parts: [filesPart] })) }),
  test,
);
