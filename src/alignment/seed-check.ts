import { err, ok, type Result } from "../base/result.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import {
  PLAN_MODE_INTERVIEW_POLICY_LINE,
  PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE,
} from "../prompt/policy-lines.ts";
import { readStamp } from "../prompt/stamp.ts";

/** A misalignment: one of the seed's five kinds. */
export type AlignmentError =
  | { readonly kind: "PlanModeMismatch"; readonly snapshotPlanMode: boolean; readonly registryPlanMode: boolean }
  | {
      readonly kind: "RequestUserInputMismatch";
      readonly snapshotRequestUserInputEnabled: boolean;
      readonly runtimeRequestUserInputEnabled: boolean;
    }
  | { readonly kind: "PlanModePromptPolicyMismatch"; readonly expectedLine: string }
  | { readonly kind: "MutatingToolInPlanModePrompt"; readonly toolName: string }
  | {
      readonly kind: "PromptCatalogMetadataMismatch";
      readonly field: string;
      readonly promptValue: string;
      readonly snapshotValue: string;
    };

/** Whether rebuilding prompt and catalog can help. It can for every kind, so this is always true. */
export function shouldRebuildRuntimePrompt(_error: AlignmentError): boolean {
  return true;
}

/** The default list of words that a plan-mode prompt must not mention. */
export const MUTATING_HINTS: readonly string[] = ["apply_patch", "unified_file write", "unified_file edit"];

/**
 * The seed's check of a system prompt as plain text. Returns the first misalignment, in the seed's order. It accepts a
 * missing stamp and values that it cannot read, and reports a hint wherever it is mentioned. Holdfast itself uses
 * `checkAlignment`, which does neither.
 */
export function validatePromptCatalogAlignment(
  systemInstruction: string,
  toolSnapshot: SessionToolCatalogSnapshot,
  planMode: boolean,
  requestUserInputEnabled: boolean,
  mutatingHints: readonly string[] = MUTATING_HINTS,
): Result<undefined, AlignmentError> {
  if (toolSnapshot.planMode !== planMode)
    return err({ kind: "PlanModeMismatch", snapshotPlanMode: toolSnapshot.planMode, registryPlanMode: planMode });
  if (toolSnapshot.requestUserInputEnabled !== requestUserInputEnabled)
    return err({
      kind: "RequestUserInputMismatch",
      snapshotRequestUserInputEnabled: toolSnapshot.requestUserInputEnabled,
      runtimeRequestUserInputEnabled: requestUserInputEnabled,
    });
  const mismatch = metadataMismatch(systemInstruction, toolSnapshot);
  if (mismatch !== undefined) return err(mismatch);
  if (!planMode) return ok(undefined);
  const [expectedLine, unexpectedLine] = requestUserInputEnabled
    ? [PLAN_MODE_INTERVIEW_POLICY_LINE, PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE]
    : [PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE, PLAN_MODE_INTERVIEW_POLICY_LINE];
  if (!systemInstruction.includes(expectedLine) || systemInstruction.includes(unexpectedLine))
    return err({ kind: "PlanModePromptPolicyMismatch", expectedLine });
  const toolName = mutatingHints.find((hint) => systemInstruction.includes(hint));
  return toolName === undefined ? ok(undefined) : err({ kind: "MutatingToolInPlanModePrompt", toolName });
}

type Read = (text: string) => string | undefined;

/** Values that cannot be read count as absent. The seed's numbers are unsigned and may carry a plus. */
const unsigned: Read = (text) => (/^\+?\d+$/.test(text) ? String(BigInt(text)) : undefined);
const flag: Read = (text) => (text === "true" || text === "false" ? text : undefined);

function metadataMismatch(systemInstruction: string, snapshot: SessionToolCatalogSnapshot): AlignmentError | undefined {
  const stamp = readStamp(systemInstruction);
  if (stamp === undefined) return undefined;
  const fields: readonly (readonly [string, Read, string])[] = [
    ["version", unsigned, String(snapshot.version)],
    ["epoch", unsigned, String(snapshot.epoch)],
    ["available_tools", unsigned, String(snapshot.availableTools())],
    ["request_user_input_enabled", flag, String(snapshot.requestUserInputEnabled)],
  ];
  for (const [field, read, snapshotValue] of fields) {
    const promptValue = read(stamp.get(field) ?? "");
    if (promptValue !== undefined && promptValue !== snapshotValue)
      return { kind: "PromptCatalogMetadataMismatch", field, promptValue, snapshotValue };
  }
  return undefined;
}
