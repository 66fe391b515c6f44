// Plain CommonJS without dependencies: it must run on any Node, also the one that is too old for everything else.
"use strict";
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(`Holdfast needs Node 22.18 or newer; this is ${process.versions.node}.`);
  console.error("This repository brings its own Node 24, but its install script did not run.");
  console.error("try: npm rebuild node");
  process.exit(1);
}
