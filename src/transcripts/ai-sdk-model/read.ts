import { type ApprovalAnswerItem, toolCallId } from "../../wire/item.ts";
import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";
import type { Piece, Reading } from "../format.ts";
import { assistant, called, reasoning, returned, system, user, whole } from "../skeleton.ts";

export function readMessage(message: Fields, position: number): Reading | undefined {
  const { role, content } = message;
  const step = `#${position}`;
  if (role === "system") return { message: true, pieces: [whole(system(content))] };
  if (role === "user") return { message: true, speaks: role, pieces: [whole(user(content))] };
  if (role !== "assistant" && role !== "tool") return undefined;
  const parts = asList(content);
  const pieces = Array.isArray(content)
    ? parts.flatMap((part, nth) => readPart(fieldsOf(part), nth, role, step))
    : [whole(assistant(content, step))];
  const speaks = role === "assistant" ? { speaks: role, turn: step } : {};
  return { message: true, ...speaks, pieces, blocks: parts.length } as Reading;
}

function readPart(part: Fields, nth: number, role: "assistant" | "tool", step: string): readonly Piece[] {
  const path = ["content", nth];
  const place = { path, ids: [[...path, "toolCallId"]] };
  const { toolCallId: id, toolName: name, approvalId } = part;
  const approval = asText(approvalId) ?? "";
  switch (part["type"]) {
    case "tool-call":
      return [
        { item: called({ id, name, input: part["input"], step, server: part["providerExecuted"] === true }), ...place },
      ];
    case "tool-result": {
      const server = role === "assistant"; // a result in the answer itself was run by the provider
      const item = returned({
        id,
        name,
        failed: asText(fieldsOf(part["output"])["type"])?.startsWith("error") === true,
        server,
      });
      return [{ item: server ? { ...item, step } : item, ...place, name: [...path, "toolName"] }];
    }
    case "reasoning":
      return [{ item: reasoning(step), path, ids: [] }];
    case "tool-approval-request":
      return [
        {
          item: { kind: "approval-request", step, approvalId: approval, callId: toolCallId(asText(id) ?? "") },
          ...place,
        },
      ];
    case "tool-approval-response":
      return [{ item: consent(approval, part), path, ids: [] }];
    default:
      return role === "assistant" ? [{ item: assistant([part], step), path, ids: [] }] : [];
  }
}

function consent(approvalId: string, { approved, reason }: Fields): ApprovalAnswerItem {
  return {
    kind: "approval-answer",
    approvalId,
    approved: approved === true,
    ...(typeof reason === "string" ? { reason } : {}),
  };
}
