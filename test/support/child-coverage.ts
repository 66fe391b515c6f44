/** Under `npm run coverage`: what tests start notes which branches it took. Node hands this variable on to every child. */
const folder = process.env["HOLDFAST_CHILD_COVERAGE"];
if (folder !== undefined) process.env["NODE_V8_COVERAGE"] = folder;
