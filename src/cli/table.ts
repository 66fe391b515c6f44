import type { CommandEntry } from "./command.ts";

/** Every command, in the order of the overview. What one needs is loaded when it is asked for, and not before. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "the whole story in under a minute, offline; every claim is checked",
    load: async () => (await import("./commands/demo.ts")).demo,
  },
  {
    name: "run",
    summary: "give a model one task in this folder",
    load: async () => (await import("./commands/run.ts")).run,
  },
  {
    name: "chat",
    summary: "work with a model in this folder, turn by turn",
    load: async () => (await import("./commands/chat.ts")).chat,
  },
  {
    name: "doctor",
    summary: "find out what is wrong with a session of any agent, and repair it",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    name: "sessions",
    summary: "list the sessions of a store, the newest first",
    load: async () => (await import("./commands/sessions.ts")).sessions,
  },
  {
    name: "show",
    summary: "what happened in a session: words, calls, repairs, faults",
    load: async () => (await import("./commands/show.ts")).show,
  },
  {
    name: "rewind",
    summary: "take a session back to before or after a call",
    load: async () => (await import("./commands/rewind.ts")).rewind,
  },
  {
    name: "fork",
    summary: "go on from a call of a session in a new one",
    load: async () => (await import("./commands/fork.ts")).fork,
  },
  {
    name: "context",
    summary: "what the model saw of a session, and why",
    load: async () => (await import("./commands/context.ts")).context,
  },
  {
    name: "verify",
    summary: "check a store or an exported file, record by record; salvage",
    load: async () => (await import("./commands/verify.ts")).verifyCommand,
  },
  {
    name: "export",
    summary: "one file of a session for somebody else to look at, without secrets",
    load: async () => (await import("./commands/export.ts")).exportCommand,
  },
  {
    name: "import",
    summary: "take an exported session into a store, to look at it",
    load: async () => (await import("./commands/import.ts")).importCommand,
  },
  {
    name: "gc",
    summary: "forget what is out of bounds and give its space back",
    load: async () => (await import("./commands/gc.ts")).gc,
  },
  {
    name: "delete",
    summary: "remove a session for good",
    load: async () => (await import("./commands/delete.ts")).deleteCommand,
  },
  {
    name: "config",
    summary: "every setting, its value and where it comes from",
    load: async () => (await import("./commands/config.ts")).config,
  },
  {
    name: "completion",
    summary: "a script that completes commands and flags in your shell",
    load: async () => (await import("./commands/completion.ts")).completionOf(COMMANDS),
  },
];
