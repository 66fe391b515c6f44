import { describe, expect, test } from "vitest";
import { desk, program, threeWrites } from "../../../test/support/cli.ts";
import { scripted, watch } from "../../../test/support/loop.ts";
import { defineTool } from "../../index.ts";

const at = desk();
const read = defineTool<number>({
  name: "read",
  access: "read",
  run: (n) => `${n}: ${"lorem ipsum dolor sit amet ".repeat(300)}`,
});

/** A conversation that had to be squeezed. */
async function squeezed(): Promise<void> {
  const holdfast = await program(at.folder, { tools: [read], context: { window: 12_000 } });
  const session = await holdfast.open("squeezed");
  const script = Array.from({ length: 14 }, (_, n) => ({ calls: [{ name: "read", input: n }] }));
  await watch(session.run("Read them all.", { model: scripted([...script, { text: "Done." }]) }));
  await session.close();
  await holdfast.close();
}

interface Told {
  readonly turn: number;
  readonly counted: number;
  readonly budget: number;
  readonly pages: readonly {
    readonly page: string;
    readonly level: string;
    readonly why: string;
    readonly words: string;
  }[];
  readonly since: readonly unknown[];
}

describe("holdfast context", () => {
  test("[CLI-8] shows each page with its level and why, within the budget, as a bar and as data", async () => {
    await squeezed();
    const told = await at.json<Told>("context", "squeezed", "--limit", "0");
    expect(told.counted).toBeLessThanOrEqual(12_000);
    expect(told.pages.length).toBeGreaterThan(20);
    const levels = new Set(told.pages.map(({ level }) => level));
    expect(levels).toContain("full");
    expect(levels.size).toBeGreaterThan(1);
    for (const { level, why } of told.pages)
      if (level !== "full") expect(["reclaimed", "folded", "over-cap"]).toContain(why);
    const { out } = await at.seen(80, "context", "squeezed");
    expect(out).toMatch(/^ {2}[█▓▒░]+·*$/m);
    expect(out).toMatch(/░ pointer +\d+ pages/);
    expect(out).toContain("reclaimed (pressure)");
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("[CLI-8] explains one page, goes back to any request, and pages through long ones", async () => {
    await squeezed();
    const all = await at.json<Told>("context", "squeezed", "--limit", "0");
    const low = all.pages.find(({ level }) => level === "pointer");
    const page = await at.json<{ page: { words: string } }>("context", "squeezed", "--page", low?.page ?? "");
    expect(page.page).toEqual(low);
    expect((await at.run("context", "squeezed", "--page", low?.page ?? "")).out).toContain(`why      ${low?.words}`);
    const first = await at.json<Told>("context", "squeezed", "--turn", "0");
    expect(first).toMatchObject({ turn: 0, pages: [{ level: "full", why: "new" }], since: [] });
    const next = await at.json<Told>("context", "squeezed", "--limit", "3", "--after", all.pages[4]?.page ?? "");
    expect(next.pages).toEqual(all.pages.slice(5, 8));
  });

  test("[CLI-8] says when there is nothing to see, and what was meant", async () => {
    await threeWrites(at.folder);
    expect(await at.run("context", "work")).toMatchObject({ code: 0, out: "work: no request has been sent yet" });
    await squeezed();
    expect(await at.run("context", "squeezed", "--page", "nope")).toMatchObject({ code: 2 });
    expect(await at.run("context", "squeezed", "--after", "nope")).toMatchObject({ code: 2 });
    expect(await at.run("context", "squeezed", "--turn", "x")).toMatchObject({ code: 2 });
  });

  test("[CLI-35] refuses a request, and a page, that is not there, and says which is the newest", async () => {
    await threeWrites(at.folder);
    await squeezed();
    const { turn } = await at.json<Told>("context", "squeezed");
    for (const [session, why, ...argv] of [
      ["squeezed", `there is no request 99; the newest is ${turn}`, "--turn", "99"],
      ["squeezed", "there is no such page in this request", "--after", "nope"],
      ["squeezed", "there is no such page in this request", "--page", "nope"],
      ["work", "no request has been sent yet", "--turn", "0"],
      ["work", "no request has been sent yet", "--page", "nope"],
      ["work", "no request has been sent yet", "--after", "nope"],
    ] as const) {
      const { code, out, err } = await at.run("context", session, ...argv);
      expect({ argv, code, out }).toEqual({ argv, code: 2, out: "" });
      expect(err.replaceAll("\n", " ")).toContain(why);
      expect(err).toMatch(/^BAD_OPTION: .+\ntry: .+/s);
      const details = { option: argv[0], value: argv[1], why };
      expect(await at.json("context", session, ...argv)).toMatchObject({ ok: false, code: "BAD_OPTION", details });
    }
  });
});
