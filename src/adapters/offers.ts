import { deepFreeze, isDeepFrozen } from "../base/freeze.ts";
import type { ToolOffer } from "../contracts/model.ts";

/**
 * How a provider takes a tool, written once for all requests that offer it. It is frozen then, so that whoever has looked at
 * it need not look again. A tool that can still be changed is written every time.
 */
export function writtenOnce(write: (tool: ToolOffer) => object): (tool: ToolOffer) => object {
  const known = new WeakMap<ToolOffer, object>();
  return (tool) => {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const written = write(tool);
    if (isDeepFrozen(tool)) known.set(tool, deepFreeze(written));
    return written;
  };
}
