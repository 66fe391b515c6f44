import { isChat } from "../chat-messages.ts";
import type { Format } from "../format.ts";
import { asList, isFields } from "../../base/fields.ts";
import { at } from "../skeleton.ts";
import { readMessage } from "./read.ts";
import { answer } from "./write.ts";

/** Inspect `EvalLog` as JSON: `samples[].messages`, chat messages whose `function` is the tool's name. */
export const inspectEvalLog: Format = {
  id: "inspect-eval-log",
  title: "Inspect eval log",
  profile: "openai-chat",
  threads: (document) => {
    if (isFields(document) && "epoch" in document && isChat(document["messages"])) return [{ path: ["messages"] }];
    if (!isFields(at(document, "eval"))) return [];
    return asList(at(document, "samples")).flatMap((sample, nth) =>
      Array.isArray(at(sample, "messages")) ? [{ path: ["samples", nth, "messages"] }] : [],
    );
  },
  reader: () => readMessage,
  answer,
};
