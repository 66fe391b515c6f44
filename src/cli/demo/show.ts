import { setTimeout as pause } from "node:timers/promises";
import type { ExitCode, Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { wrapped } from "../wrap.ts";

interface Claim {
  readonly act: string;
  readonly claim: string;
  readonly holds: boolean;
}

/** How long a person looks at a line before the next one comes. A pipe waits for nothing. */
const BEAT = { call: 150, claim: 220, act: 700 } as const;

/** Tells the story and counts its claims: the demo fails when one of them is not true. */
export class Show {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #claims: Claim[] = [];
  readonly #notes: Record<string, number> = {};
  #act = "";
  #calls = 0;

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  title(text: string): void {
    this.#out(paint(this.#terminal, "bold", text));
  }

  async act(name: string, at: string, title: string): Promise<void> {
    await this.#beat("act");
    this.#act = name;
    this.#calls = 0;
    this.#out(`\n${paint(this.#terminal, "cyan", at)}  ${paint(this.#terminal, "bold", title)}\n`);
  }

  /** What a person has to know to follow. */
  text(text: string): void {
    for (const line of wrapped(`  ${text}`, 78, 0)) this.#out(line);
  }

  /** Somebody else's words: the user's, the model's, the kernel's. */
  quote(who: string, words: string): void {
    for (const line of wrapped(`  ${`${who}:`.padEnd(8)}${words}`, 78, 8))
      this.#out(paint(this.#terminal, "dim", line));
  }

  async call(tool: string, what: string, mark: "done" | "failed" | "open"): Promise<void> {
    this.#calls += 1;
    const sign = { done: ["green", "✓"], failed: ["red", "✗"], open: ["yellow", "…"] } as const;
    const [style, character] = sign[mark];
    const line = `${String(this.#calls).padStart(4)} ${paint(this.#terminal, style, character)} ${tool.padEnd(12)} `;
    this.#out(`${line}${paint(this.#terminal, "dim", what)}`);
    await this.#beat("call");
  }

  /** A figure for `--json`. */
  note(name: string, value: number): void {
    this.#notes[name] = value;
  }

  async claim(claim: string, holds: boolean): Promise<void> {
    this.#claims.push({ act: this.#act, claim, holds });
    const mark = holds ? paint(this.#terminal, "green", "✓") : paint(this.#terminal, "red", "✗ NOT TRUE:");
    const [first = "", ...rest] = wrapped(`  x ${claim}`, 78, 2);
    this.#out(first.replace("x", () => mark));
    for (const line of rest) this.#out(line);
    await this.#beat("claim");
  }

  /** What was kept, when it was; 1 when a claim did not hold. */
  finish(kept: { readonly folder: string; readonly store: string } | undefined): ExitCode {
    const broken = this.#claims.filter(({ holds }) => !holds);
    if (this.#json) {
      const report = { ok: broken.length === 0, ...this.#notes, claims: this.#claims, ...kept };
      this.#terminal.out(JSON.stringify(report));
    } else this.#tell(broken.length, kept?.folder);
    return broken.length === 0 ? 0 : 1;
  }

  #tell(broken: number, folder: string | undefined): void {
    const all = this.#claims.length;
    this.#out("");
    if (broken === 0) this.title(`All ${all} claims above were checked as they were made.`);
    else this.#out(paint(this.#terminal, "red", `${broken} of ${all} claims did not hold.`));
    this.#out("\nTry next:");
    const rows =
      folder === undefined
        ? [["holdfast demo --keep", "the same, and keeps its folder for you to inspect"]]
        : [
            [`cd ${folder}`, ""],
            ["holdfast show tidy-cart", "everything that happened; also: context, rewind, fork"],
          ];
    rows.push(["holdfast doctor FILE", "repair a broken session of another tool"]);
    rows.push(["holdfast chat", "an agent in this folder; --help names the models"]);
    for (const [command = "", about = ""] of rows) this.#out(`  ${command.padEnd(24)} ${about}`.trimEnd());
  }

  async #beat(of: keyof typeof BEAT): Promise<void> {
    if (this.#terminal.forPeople && !this.#json) await pause(BEAT[of]);
  }

  #out(text: string): void {
    if (!this.#json) this.#terminal.out(text);
  }
}
