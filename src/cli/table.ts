import type { CommandEntry } from "./command.ts";

/** Every command, in the order of the overview. What one needs is loaded when it is asked for, and not before. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "show what Holdfast does in under a minute, offline; every claim is checked",
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  {
    name: "run",
    summary: "give a model one task in this folder",
    load: async () => (await import("./commands/run.ts")).run,
  },
  {
    name: "chat",
    summary: "talk with a model in this folder, turn by turn",
    load: async () => (await import("./commands/chat.ts")).chat,
  },
  {
    name: "doctor",
    summary: "find and repair what is wrong with another agent's session",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "sessions",
    summary: "list the sessions of a store, newest first",
    load: async () => (await import("./commands/sessions.ts")).sessions,
  },
  {
    name: "show",
    summary: "show what happened in a session: words, calls, repairs, faults",
    load: async () => (await import("./commands/show.ts")).show,
  },
  {
    name: "rewind",
    summary: "take a session back to before or after a call",
    load: async () => (await import("./commands/rewind.ts")).rewind,
  },
  {
    name: "fork",
    summary: "fork a session: start a new one from one of its calls",
    load: async () => (await import("./commands/fork.ts")).fork,
  },
  {
    name: "context",
    summary: "show what the model saw of a session, and why",
    load: async () => (await import("./commands/context.ts")).context,
  },
  {
    name: "verify",
    summary: "check a store or an exported file, record by record, or salvage it",
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  {
    name: "export",
    summary: "write a session to one file for somebody else to read, without secrets",
    load: async () => (await import("./commands/export.ts")).exportCommand,
  },
  {
    name: "import",
    summary: "read an exported session into a store",
    load: async () => (await import("./commands/import.ts")).importCommand,
  },
  {
    name: "gc",
    summary: "drop what is over the retention limits, and free its space",
    load: async () => (await import("./commands/gc.ts")).gc,
  },
  {
    name: "delete",
    summary: "remove a session for good",
    load: async () => (await import("./commands/delete.ts")).deleteCommand,
  },
  {
    name: "config",
    summary: "show every setting, its value and where it comes from",
    load: async () => (await import("./commands/config.ts")).config,
  },
  {
    name: "completion",
    summary: "print a script that completes commands and flags in your shell",
    load: async () => (await import("./commands/completion.ts")).completionOf(COMMANDS),
  },
];
