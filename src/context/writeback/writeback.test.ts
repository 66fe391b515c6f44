import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deps } from "../../../test/support/pages.ts";
import { degradationPath } from "../kind.ts";
import type { Json } from "../../base/json.ts";
import { textOf } from "../../wire/item.ts";
import { applyWriteback, planCommit } from "./commit.ts";
import { durablePageOf } from "./shown.ts";
import { type DurablePages, keyOf, plainOf, versionOf, type Writeback, type WritebackTuple } from "./tuple.ts";
import { isSaid, PRINCIPALS, validateWriteback, type WritebackWorld } from "./validate.ts";

const rule = (more: Partial<Writeback> = {}): Writeback => ({
  kind: "constraint",
  page: "R1",
  field: "text",
  op: "set-with-version",
  value: "Never push to main.",
  version: "",
  scope: "session",
  id: "s.000001",
  by: "host",
  clock: 1,
  ...more,
});
const note = (value: string, id: string, clock = 1): Writeback => {
  const { version: _version, ...rest } = rule({ kind: "preference", page: "P1", field: "notes", id, clock });
  return { ...rest, op: "append", value };
};
const values = (value: Record<string, string>, id: string, clock = 1): Writeback => ({
  ...note("", id, clock),
  field: "values",
  op: "merge",
  value,
});
const world = (more: Partial<WritebackWorld> = {}): WritebackWorld => ({
  pages: {},
  principals: PRINCIPALS,
  resolves: (handle) => handle === "holdfast://known",
  ...more,
});
const committed = (...all: readonly Writeback[]): DurablePages => planCommit(all, world()).pages;
const fieldOf = (pages: DurablePages, of: WritebackTuple) => pages[keyOf(of)]?.fields[of.field];

describe("a change of a durable page", () => {
  test("[WRITEBACK-1] that is valid is committed, and the page says it", () => {
    const plan = planCommit([rule()], world());
    expect(plan.rejected).toEqual([]);
    expect(plainOf(fieldOf(plan.pages, rule()))).toBe("Never push to main.");
    expect(fieldOf(plan.pages, rule())).toMatchObject({ stamp: "000000001 s.000001" });
  });

  test.each<readonly [string, Partial<Writeback>, string]>([
    ["a field that does not exist", { field: "mood" }, "mood"],
    ["a kind that is not durable", { kind: "evidence" as never }, "evidence"],
    ["a value of another type", { value: 7 }, "text must be a string"],
    ["more than the field takes", { value: "x".repeat(9_000) }, "8192"],
    ["an operation that the field does not take", { op: "append" }, "not append"],
    ["a text where a list is wanted", { kind: "preference", field: "notes", value: "x" }, "must be a list"],
    [
      "a list where an object is wanted",
      { kind: "preference", field: "values", op: "merge", value: ["x"] },
      "must be an object",
    ],
    ["a page without a name", { page: "" }, "named"],
    ["a word that is none of the words", { field: "pin", value: "firmly" }, "pin must be one of"],
    [
      "a step in a state that steps do not have",
      { kind: "plan", field: "steps", op: "merge", value: { a: "later" } },
      "steps",
    ],
  ])("[WRITEBACK-2] [W06] with %s is rejected by the schema, which names it", (_what, more, named) => {
    const rejection = validateWriteback(rule(more), world());
    expect(rejection).toMatchObject({ code: "SCHEMA_INVALID" });
    expect(rejection?.detail).toContain(named);
  });

  test("[WRITEBACK-3] [W04] whose evidence names nothing is rejected, and so is a model's without any", () => {
    const by = { by: "model" };
    expect(validateWriteback(rule({ evidence: "holdfast://gone" }), world())?.code).toBe("PROVENANCE_UNRESOLVED");
    expect(validateWriteback(rule(by), world())?.code).toBe("PROVENANCE_UNRESOLVED");
    expect(validateWriteback(rule({ ...by, evidence: "holdfast://known" }), world())).toBeUndefined();
  });

  test("[WRITEBACK-4] [W05] outside its writer's scopes is rejected, and of a writer nobody knows always", () => {
    const model = { by: "model", evidence: "holdfast://known" };
    expect(validateWriteback(rule({ ...model, scope: "project" }), world())?.code).toBe("SCOPE_DENIED");
    expect(validateWriteback(rule({ by: "stranger", evidence: "holdfast://known" }), world())?.code).toBe(
      "SCOPE_DENIED",
    );
    expect(validateWriteback(rule({ by: "toString", evidence: "holdfast://known" }), world())?.code).toBe(
      "SCOPE_DENIED",
    );
    expect(validateWriteback(rule({ scope: "user" }), world())).toBeUndefined();
  });

  test("[WRITEBACK-5] [W03] that replaces what its writer has not seen is a destructive operation", () => {
    const pages = committed(rule());
    const version = versionOf(fieldOf(pages, rule()));
    const next = rule({ id: "s.000002", clock: 2, value: "Push on Fridays." });
    expect(validateWriteback({ ...next, version: "" }, world({ pages }))?.code).toBe("DESTRUCTIVE_OP");
    expect(validateWriteback(next, world({ pages }))?.code).toBe("DESTRUCTIVE_OP");
    expect(validateWriteback({ ...next, version }, world({ pages }))).toBeUndefined();
    const both = planCommit(
      [
        { ...next, version },
        { ...next, version, id: "s.000003" },
      ],
      world({ pages }),
    );
    expect(both.committed.map(({ id }) => id)).toEqual(["s.000002"]);
    expect(both.rejected).toMatchObject([{ rejection: { code: "DESTRUCTIVE_OP" } }]);
  });

  test.each<readonly [string, Partial<Writeback>]>([
    ["unpin a rule", { field: "pin", value: "none" }],
    ["hold a rule less firmly", { field: "pin", value: "soft" }],
    ["let a rule fall below its floor", { field: "least", value: "pointer" }],
    ["show a plan as it never is", { kind: "plan", field: "least", value: "compressed" }],
    ["empty a rule", { value: " " }],
  ])("[WRITEBACK-6] [W07] that would %s is rejected by policy", (_what, more) => {
    expect(validateWriteback(rule(more), world())?.code).toBe("POLICY_DENIED");
  });

  test("[WRITEBACK-7] [W14] that is well-formed and false is committed, unless a check of the host's says no", () => {
    const lie = rule({ value: "Water flows uphill." });
    expect(validateWriteback(lie, world())).toBeUndefined();
    const predicates = [
      ({ value }: Writeback) => (JSON.stringify(value).includes("uphill") ? "it does not" : undefined),
    ];
    expect(validateWriteback(lie, world({ predicates }))).toEqual({
      code: "PREDICATE_REFUSED",
      field: "text",
      detail: "it does not",
    });
  });

  test("[WRITEBACK-8] that is rejected changes nothing, and keeps its reason beside those that are not", () => {
    const plan = planCommit([rule(), rule({ id: "s.000002", field: "mood" })], world());
    expect(plan.committed).toHaveLength(1);
    expect(plan.rejected).toMatchObject([{ writeback: { id: "s.000002" }, rejection: { code: "SCHEMA_INVALID" } }]);
    expect(plan.pages).toEqual(committed(rule()));
  });

  test("[WRITEBACK-9] [W08] that appends or merges gives the same bytes in whatever order it arrives", () => {
    const anyChange = fc.record({
      append: fc.boolean(),
      value: fc.constantFrom("a", "b", "c"),
      key: fc.constantFrom("x", "y"),
      clock: fc.integer({ min: 1, max: 3 }),
      session: fc.constantFrom("s", "t"),
    });
    const arrivals = fc
      .array(anyChange, { minLength: 1, maxLength: 12 })
      .map((all) =>
        all.map(({ append, value, key, clock, session }, nth) =>
          append ? note(value, `${session}.${nth}`, clock) : values({ [key]: value }, `${session}.${nth}`, clock),
        ),
      )
      .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })));
    fc.assert(
      fc.property(arrivals, ([all, shuffled]) => {
        const oneByOne = (list: readonly Writeback[]) => list.reduce(applyWriteback, {} as DurablePages);
        expect(JSON.stringify(oneByOne(shuffled))).toBe(JSON.stringify(oneByOne(all)));
        expect(JSON.stringify(planCommit(shuffled, world()).pages)).toBe(JSON.stringify(oneByOne(all)));
        expect(JSON.stringify(oneByOne([...all, ...shuffled]))).toBe(JSON.stringify(oneByOne(all)));
      }),
    );
  });

  test("[WRITEBACK-10] that was written before its process died is found there, and is no destruction of itself", () => {
    for (const one of [rule(), rule({ kind: "plan", field: "steps", value: {} }), note("a", "s.000004")]) {
      const once = committed(one);
      expect(planCommit([one], world({ pages: once }))).toEqual({ pages: once, committed: [one], rejected: [] });
    }
  });

  test("[WRITEBACK-11] [W16] that says what stands there is no change", () => {
    const pages = committed(rule(), note("short", "s.000002"), values({ tabs: "no" }, "s.000003"));
    expect(isSaid(rule(), pages)).toBe(true);
    expect(isSaid(note("short", "s.000009"), pages)).toBe(true);
    expect(isSaid(values({ tabs: "no" }, "s.000009"), pages)).toBe(true);
    expect(isSaid(values({ tabs: "yes" }, "s.000009"), pages)).toBe(false);
    expect(isSaid(rule({ value: "Push." }), pages)).toBe(false);
    expect(isSaid(rule(), {})).toBe(false);
  });
});

describe("a durable page in a view", () => {
  const shown = (...all: readonly Writeback[]) => {
    const [durable] = Object.values(committed(...all));
    return durablePageOf(durable!, deps);
  };
  const textAt = (page: ReturnType<typeof shown>, level: "full" | "structured" | "pointer") => {
    const item = page?.representations[level]?.item;
    return item?.kind === "user" ? textOf(item.parts) : "";
  };

  test("[WRITEBACK-12] is of its kind, and says what its fields say", () => {
    const page = shown(rule(), {
      ...note("a fork was lost", "s.000002"),
      kind: "constraint",
      page: "R1",
      field: "because",
    });
    expect(page).toMatchObject({ kind: "constraint", pin: "hard", scope: "session", id: "session/constraint:R1" });
    expect(textAt(page, "structured")).toContain("Never push to main.");
    expect(textAt(page, "structured")).toContain("a fork was lost");
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`a step that takes a while, ${at}`, "done"]));
    const plan = shown(rule({ kind: "plan", field: "objective", value: "Rename foo" }), {
      ...values({ ...many, tests: "doing" }, "s.000002"),
      kind: "plan",
      page: "R1",
      field: "steps",
    });
    expect(textAt(plan, "pointer")).toContain("Goal: Rename foo\nNow: tests");
    const liking = shown(note("Short sentences.", "s.000002"), values({ tabs: "never" }, "s.000003"));
    expect(textAt(liking, "full")).toContain("tabs: never\nShort sentences.");
  });

  test("[WRITEBACK-12] without a word to show is not shown, and never lower than it asks for", () => {
    expect(shown(rule({ field: "pin", value: "hard" }))).toBeUndefined();
    const long = note("Short sentences. ".repeat(60), "s.000002");
    const least = rule({ kind: "preference", page: "P1", field: "least", value: "structured", id: "s.000003" });
    const page = shown(long, least);
    expect(page?.representations.pointer).toBe(page?.representations.structured);
    expect(page?.representations.structured?.tokens).toBeLessThan(page?.representations.full?.tokens ?? 0);
    expect(Object.keys(page?.representations ?? {}).sort()).toEqual([...degradationPath("preference")].sort());
  });
});

describe("a durable page that says little", () => {
  const shownAs = (...all: readonly Writeback[]) => {
    const [page] = Object.values(committed(...all));
    return page === undefined ? undefined : durablePageOf(page, deps);
  };

  test("[WRITEBACK-1] is shown when it says something, whatever it says, and not before", () => {
    const plan = (field: string, value: Json) => rule({ kind: "plan", page: "P", field, value });
    expect(shownAs(rule({ kind: "preference", page: "P1", field: "pin", value: "hard" }))).toBeUndefined();
    expect(shownAs(plan("pin", "hard"))).toBeUndefined();
    expect(shownAs(plan("objective", "ship it"))).toMatchObject({ kind: "plan", scope: "session" });
    expect(shownAs({ ...plan("steps", { test: "todo" }), op: "merge" })).toMatchObject({ kind: "plan" });
    const said = shownAs(
      rule({ kind: "preference", page: "P1", field: "text", value: "tabs" }),
      values({ width: "2" }, "s.000002"),
      note("no semicolons", "s.000003"),
    );
    const item = said?.representations.full?.item;
    expect(item !== undefined && "parts" in item ? textOf(item.parts) : "").toContain("tabs\nwidth: 2\nno semicolons");
  });
});

describe("a change that replaces", () => {
  test("[WRITEBACK-5] without saying what is refused with what is there, and a list is replaced whole", () => {
    const { version: _version, ...unsaid } = rule({ value: "Always push." });
    expect(validateWriteback(unsaid, world({ pages: committed(rule()) }))).toMatchObject({
      code: "DESTRUCTIVE_OP",
      detail: expect.stringContaining("it replaces version none, and "),
    });
    const noted = committed(note("tabs", "s.000001"));
    const of = note("", "s.000002", 2);
    const whole: Writeback = {
      ...of,
      op: "set-with-version",
      value: ["spaces", "two"],
      version: versionOf(fieldOf(noted, of)),
    };
    const { pages, rejected } = planCommit([whole], world({ pages: noted }));
    expect([rejected, plainOf(fieldOf(pages, of))]).toEqual([[], ["spaces", "two"]]);
    const more = planCommit([note("four", "s.000003", 3)], world({ pages })).pages;
    expect(plainOf(fieldOf(more, of))).toEqual(["spaces", "two", "four"]);
  });

  test("[WRITEBACK-7] a check of one's own that has no objection lets it pass to the next", () => {
    const refused = validateWriteback(rule(), world({ predicates: [() => undefined, () => "not today"] }));
    expect(refused).toMatchObject({ code: "PREDICATE_REFUSED", detail: "not today" });
    expect(validateWriteback(rule(), world({ predicates: [() => undefined] }))).toBeUndefined();
  });
});
