import { aiSdkModel } from "./ai-sdk-model/format.ts";
import { aiSdkUi } from "./ai-sdk-ui/format.ts";
import { anthropicMessages } from "./anthropic-messages/format.ts";
import { claudeCode } from "./claude-code/format.ts";
import { codexRollout } from "./codex-rollout/format.ts";
import { copilotCliEvents } from "./copilot-cli-events/format.ts";
import type { Format, FormatId } from "./format.ts";
import { geminiCliChat } from "./gemini-cli-chat/format.ts";
import { gooseRecording } from "./goose-recording/format.ts";
import { inspectEvalLog } from "./inspect-eval-log/format.ts";
import { openaiAgents } from "./openai-agents/format.ts";
import { openaiChat } from "./openai-chat/format.ts";
import { openaiResponses } from "./openai-responses/format.ts";
import { opencodeExport } from "./opencode-export/format.ts";
import { openhandsOutput } from "./openhands-output/format.ts";
import { piSession } from "./pi-session/format.ts";
import { sweAgent } from "./swe-agent/format.ts";

/** Every format. Where two could read a file the earlier one does: it asks for more. */
export const FORMATS: Readonly<Record<FormatId, Format>> = {
  "claude-code": claudeCode,
  "codex-rollout": codexRollout,
  "copilot-cli-events": copilotCliEvents,
  "pi-session": piSession,
  "gemini-cli-chat": geminiCliChat,
  "opencode-export": opencodeExport,
  "goose-recording": gooseRecording,
  "openhands-output": openhandsOutput,
  "inspect-eval-log": inspectEvalLog,
  "swe-agent": sweAgent,
  "ai-sdk-ui": aiSdkUi,
  "ai-sdk-model": aiSdkModel,
  "openai-agents": openaiAgents,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  "openai-chat": openaiChat,
};
