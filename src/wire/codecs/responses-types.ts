import type { CallKind } from "../item.ts";

/** Which kind of call each type of a Responses item belongs to. Types not named here are carried, not paired. */
export const RESPONSE_CALLS: ReadonlyMap<string, CallKind> = new Map([
  ["function_call", "function"],
  ["custom_tool_call", "custom"],
  ["local_shell_call", "shell"],
  ["tool_search_call", "search"],
  ["computer_call", "computer"],
  ["shell_call", "commands"],
  ["apply_patch_call", "patch"],
]);
export const RESPONSE_OUTPUTS: ReadonlyMap<string, CallKind> = new Map([
  ["function_call_output", "function"],
  ["local_shell_call_output", "shell"],
  ["custom_tool_call_output", "custom"],
  ["tool_search_output", "search"],
  ["computer_call_output", "computer"],
  ["shell_call_output", "commands"],
  ["apply_patch_call_output", "patch"],
]);

/** As which type of item each kind of call is answered. */
export const OUTPUT_TYPES: Readonly<Record<CallKind, string>> = {
  function: "function_call_output",
  shell: "function_call_output",
  custom: "custom_tool_call_output",
  search: "tool_search_output",
  computer: "computer_call_output",
  commands: "shell_call_output",
  patch: "apply_patch_call_output",
};
