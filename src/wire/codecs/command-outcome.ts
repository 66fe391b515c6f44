import type { OutputStatus } from "../status.ts";
import { asList, type Fields, fieldsOf, isFields } from "../../base/fields.ts";

/** What one command put out and, unless it ended well, how it ended: only Responses have a field for that. */
export function commandText(ran: unknown): string {
  const { stdout, stderr } = fieldsOf(ran);
  const texts = [stdout, stderr, ending(outcomeOf(ran))];
  return texts.filter((text) => typeof text === "string" && text !== "").join("\n");
}

/** How commands that were run together ended. */
export function commandsStatus(output: unknown): OutputStatus {
  const outcomes = asList(output).map(outcomeOf);
  if (outcomes.some(({ type }) => type === "timeout")) return "timeout";
  return outcomes.some((outcome) => ending(outcome) !== "") ? "failed" : "success";
}

function outcomeOf(ran: unknown): Fields {
  const outcome = isFields(ran) ? ran["outcome"] : undefined;
  return fieldsOf(outcome);
}

function ending({ type, exit_code: code }: Fields): string {
  if (type === "timeout") return "[The command ran out of time.]";
  return typeof code === "number" && code !== 0 ? `[The command ended with exit code ${code}.]` : "";
}
