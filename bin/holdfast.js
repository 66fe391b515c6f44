#!/usr/bin/env node
// Plain JavaScript without dependencies: it starts on any Node and says what to do when that Node is too old.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 18)) {
  const bundled = here("../node_modules/node/bin/node"); // a checkout brings its own Node as a devDependency
  if (existsSync(bundled)) {
    const child = spawnSync(bundled, process.argv.slice(1), { stdio: "inherit" });
    process.exit(child.status ?? 1);
  }
  console.error(`NODE_TOO_OLD: holdfast needs Node 22.18 or newer; this is ${process.versions.node}.`);
  console.error("try: install a newer Node, or run it as: npx -p node@24 -p holdfast holdfast");
  process.exit(2);
}

// Node 22 warns of its SQLite at every start. Whoever uses a command cannot do anything about it, and reads what we say instead.
const warn = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  if (rest[0] !== "ExperimentalWarning" || !String(warning).includes("SQLite")) warn.call(process, warning, ...rest);
};

const source = here("../src/cli/main.ts"); // present in a checkout only; the package ships dist
const { main } = await import(existsSync(source) ? source : here("../dist/cli/main.js"));
const code = await main(process.argv.slice(2));
if (code > 128) process.exit(code); // what was interrupted may still run, and is not waited for
process.exitCode = code;
