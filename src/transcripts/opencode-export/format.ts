import type { Format } from "../format.ts";
import { isFields } from "../../base/fields.ts";
import { at, mostly } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** OpenCode export: `{info, messages: [{info, parts}]}`; a `tool` part holds the call and, in `state`, what came of it. */
export const opencodeExport: Format = {
  id: "opencode-export",
  title: "OpenCode export",
  profile: "ai-sdk",
  threads: (document) => {
    if (!isFields(at(document, "info"))) return [];
    return mostly(at(document, "messages"), (message) => isFields(at(message, "info"))) ? [{ path: ["messages"] }] : [];
  },
  reader: () => readMessage,
  answer,
};
