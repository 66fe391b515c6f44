/** What a tool touches: plan mode and the rules for running it again read it. */
export type ToolAccess = "read" | "write" | "execute" | "external";
