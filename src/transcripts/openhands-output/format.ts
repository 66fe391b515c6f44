import { type Fields, isFields } from "../../base/fields.ts";
import type { Format } from "../format.ts";
import { mostly } from "../skeleton.ts";
import { readEvent } from "./read.ts";
import { answer } from "./write.ts";

/** OpenHands: evaluation output (an instance a line with `history`), a trajectory (list of events), or SDK events. */
export const openhandsOutput: Format = {
  id: "openhands-output",
  title: "OpenHands trajectory",
  profile: "openai-chat",
  threads: (document) => {
    if (Array.isArray(document)) return isEvents(document) ? [{ path: [] }] : [];
    if (!isFields(document)) return [];
    const key = ["history", "trajectory", "events"].find((name) => isEvents(document[name]));
    return key === undefined ? [] : [{ path: [key] }];
  },
  isRecord: isEvent,
  reader: () => readEvent,
  answer,
};

function isEvents(value: unknown): boolean {
  return mostly(value, (one) => isFields(one) && isEvent(one));
}

function isEvent(event: Fields): boolean {
  if (typeof event["kind"] === "string" && /Event$|Observation$|^Condensation/.test(event["kind"]))
    return "source" in event;
  return "source" in event && ("action" in event || "observation" in event) && ("args" in event || "content" in event);
}
