import { describe, expect, test } from "vitest";
import { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import {
  PLAN_MODE_INTERVIEW_POLICY_LINE,
  PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE,
} from "../prompt/policy-lines.ts";
import {
  type AlignmentError,
  shouldRebuildRuntimePrompt,
  validatePromptCatalogAlignment as validate,
} from "./seed-check.ts";

const snapshot = (planMode: boolean, asks = false) => new SessionToolCatalogSnapshot(1, 1, planMode, asks, []);
const fine = { ok: true, value: undefined };
const wrong = (error: AlignmentError) => ({ ok: false, error });
const stamped = (...lines: readonly string[]) => ["normal prompt", "[Runtime Tool Catalog]", ...lines].join("\n");
const mismatch = (field: string, promptValue: string, snapshotValue: string) =>
  wrong({ kind: "PromptCatalogMetadataMismatch", field, promptValue, snapshotValue });
const quiet = PLAN_MODE_NO_REQUEST_USER_INPUT_POLICY_LINE;

describe("the seed's check", () => {
  test("[ALIGN-1] passes when the modes agree, with and without plan mode", () => {
    expect(validate("normal prompt", snapshot(false), false, false)).toEqual(fine);
    expect(validate(quiet, snapshot(true), true, false)).toEqual(fine);
    expect(validate(PLAN_MODE_INTERVIEW_POLICY_LINE, snapshot(true, true), true, true)).toEqual(fine);
  });

  test("[ALIGN-1] [A02] a snapshot of the other mode comes before everything else", () => {
    expect(validate("any prompt", snapshot(false), true, true)).toEqual(
      wrong({ kind: "PlanModeMismatch", snapshotPlanMode: false, registryPlanMode: true }),
    );
  });

  test("[ALIGN-1] [A05] a hint in a plan-mode prompt fires wherever it is mentioned", () => {
    for (const toolName of ["apply_patch", "unified_file write", "unified_file edit"])
      expect(validate(`${quiet}\nnever use ${toolName}`, snapshot(true), true, false)).toEqual(
        wrong({ kind: "MutatingToolInPlanModePrompt", toolName }),
      );
    expect(validate(`${quiet}\nuse my_tool`, snapshot(true), true, false, ["my_tool"])).toEqual(
      wrong({ kind: "MutatingToolInPlanModePrompt", toolName: "my_tool" }),
    );
    expect(validate(`${quiet}\napply_patch`, snapshot(true), true, false, [])).toEqual(fine);
  });

  test("[ALIGN-1] [A07] the same words are fine in act mode", () => {
    expect(validate("you may call apply_patch", snapshot(false), false, false)).toEqual(fine);
  });

  test("[ALIGN-1] [A03] different flags are an error of their own", () => {
    expect(validate(quiet, snapshot(true, false), true, true)).toEqual(
      wrong({
        kind: "RequestUserInputMismatch",
        snapshotRequestUserInputEnabled: false,
        runtimeRequestUserInputEnabled: true,
      }),
    );
  });

  test("[ALIGN-1] [A04] the policy line of the other flag, or none, names the expected one", () => {
    for (const prompt of [PLAN_MODE_INTERVIEW_POLICY_LINE, "", `${quiet}\n${PLAN_MODE_INTERVIEW_POLICY_LINE}`])
      expect(validate(prompt, snapshot(true), true, false)).toEqual(
        wrong({ kind: "PlanModePromptPolicyMismatch", expectedLine: quiet }),
      );
  });

  test("[ALIGN-1] [A08] a stamp that differs names field and values, in the seed's order", () => {
    const lines = ["- version: 2", "- epoch: 3", "- available_tools: 1", "- request_user_input_enabled: true"];
    expect(validate(stamped(...lines), snapshot(false), false, false)).toEqual(mismatch("version", "2", "1"));
    expect(validate(stamped(...lines.slice(1)), snapshot(false), false, false)).toEqual(mismatch("epoch", "3", "1"));
    expect(validate(stamped(...lines.slice(2)), snapshot(false), false, false)).toEqual(
      mismatch("available_tools", "1", "0"),
    );
    expect(validate(stamped(...lines.slice(3)), snapshot(false), false, false)).toEqual(
      mismatch("request_user_input_enabled", "true", "false"),
    );
  });

  test("[ALIGN-1] a stamp that agrees passes, and it comes before the policy line", () => {
    const good = ["- version: 1", "- epoch: 1", "- available_tools: 0", "- request_user_input_enabled: false"];
    expect(validate(stamped(...good), snapshot(false), false, false)).toEqual(fine);
    expect(validate(stamped("- epoch: 9"), snapshot(true), true, false)).toEqual(mismatch("epoch", "9", "1"));
  });

  test("[ALIGN-1] [A09] the last stamp counts; blanks are skipped; it ends at the next bracket", () => {
    const two = `${stamped("- epoch: 9")}\n${stamped("", "- epoch: 1", "no field", "[Other]", "- version: 9")}`;
    expect(validate(two, snapshot(false), false, false)).toEqual(fine);
  });

  test("[ALIGN-1] a missing stamp and values that cannot be read pass, because the seed lets them", () => {
    expect(validate("no stamp", snapshot(false), false, false)).toEqual(fine);
    const odd = stamped(
      "- version: many",
      "- epoch: -1",
      "- available_tools:",
      "- request_user_input_enabled: TRUE",
      "- x",
    );
    expect(validate(odd, snapshot(false), false, false)).toEqual(fine);
    expect(validate(stamped("- epoch: +1", "- version: 01"), snapshot(false), false, false)).toEqual(fine);
  });

  test("[ALIGN-1] every kind asks for a rebuild", () => {
    const errors: readonly AlignmentError[] = [
      { kind: "PlanModeMismatch", snapshotPlanMode: true, registryPlanMode: false },
      {
        kind: "RequestUserInputMismatch",
        snapshotRequestUserInputEnabled: true,
        runtimeRequestUserInputEnabled: false,
      },
      { kind: "PlanModePromptPolicyMismatch", expectedLine: "" },
      { kind: "MutatingToolInPlanModePrompt", toolName: "" },
      { kind: "PromptCatalogMetadataMismatch", field: "", promptValue: "", snapshotValue: "" },
    ];
    for (const error of errors) expect(shouldRebuildRuntimePrompt(error)).toBe(true);
  });
});
