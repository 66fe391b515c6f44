const DENIED = "Tool execution was denied. The tool did not run.";

/** What a model reads of a call that was denied. Nothing, or the reason alone, would read as what the tool returned. */
export function deniedWords(reason = ""): string {
  if (reason.trim() === "") return DENIED;
  return reason.startsWith(DENIED) ? reason : `${DENIED} The reason given: ${reason}`;
}
