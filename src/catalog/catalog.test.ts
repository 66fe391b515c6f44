import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  catalogWith,
  editFile,
  readFile,
  shell,
  snapshotOf,
  tool,
  TOOLS,
  unifiedFile,
} from "../../test/support/catalogs.ts";
import { denialOfCall } from "./may-run.ts";
import { offerOf } from "./offer.ts";
import { SessionToolCatalogSnapshot } from "./snapshot.ts";
import { changeCatalog, hashTools, INITIAL_CATALOG, restoreCatalog, snapshotCatalog } from "./state.ts";
import { ASK_USER, type CatalogTool } from "./tool.ts";

const plan = { mode: "plan" } as const;
const act = { mode: "act" } as const;

/** A tool of the actions of `unified_file`, which takes this. */
const unified = (name: string, inputSchema: CatalogTool["inputSchema"]) => ({ ...unifiedFile, name, inputSchema });

describe("a snapshot", () => {
  test("[CAT-1] [A14] the same tools in another order hash the same and stand in the same order", () => {
    const [a, b] = [snapshotOf(TOOLS), snapshotOf(TOOLS.toReversed())];
    expect(b.contentHash).toBe(a.contentHash);
    expect(b.activeNames).toEqual(a.activeNames);
    expect(a.activeNames).toEqual(["edit_file", "read_file", "shell", "unified_file"]);
  });

  test("[CAT-1] [A11] a swapped, described or narrowed tool has another hash, and so has the whole", () => {
    const before = snapshotOf(TOOLS);
    const variants: readonly CatalogTool[] = [
      tool("edit_file", { access: "write", description: "Something else." }),
      tool("edit_file", { access: "write", inputSchema: { type: "object", properties: { path: {} } } }),
    ];
    for (const changed of variants) {
      const after = snapshotOf([...TOOLS.filter(({ name }) => name !== "edit_file"), changed]);
      expect(after.toolHash("edit_file")).not.toBe(before.toolHash("edit_file"));
      expect(after.toolHash("read_file")).toBe(before.toolHash("read_file"));
      expect(after.contentHash).not.toBe(before.contentHash);
    }
  });

  test("[CAT-2] has the seed's fields, and no tools where none were given", () => {
    const empty = new SessionToolCatalogSnapshot(3, 7, true, false, undefined, true);
    expect([empty.version, empty.epoch, empty.planMode, empty.requestUserInputEnabled]).toEqual([3, 7, true, false]);
    expect([empty.tools, empty.availableTools(), empty.cacheHit, empty.mode]).toEqual([undefined, 0, true, "plan"]);
    expect(new SessionToolCatalogSnapshot(1, 1, false, false, [{ name: "a", input: {} }]).availableTools()).toBe(1);
    expect(snapshotOf(TOOLS).toolHash("nobody")).toBeUndefined();
  });

  test("[CAT-3] what was offered cannot be changed afterwards, neither by the caller nor by whoever defined the tool", () => {
    const schema = { type: "object", properties: { path: { type: "string" } } };
    const mine = tool("mine", { inputSchema: schema });
    const snapshot = snapshotOf([mine]);
    const hash = snapshot.toolHash("mine");
    (schema.properties as Record<string, unknown>)["extra"] = {};
    expect(snapshot.tool("mine")?.input).toEqual({ type: "object", properties: { path: { type: "string" } } });
    expect(() => ((snapshot.tool("mine") as { description: string }).description = "x")).toThrow(TypeError);
    expect(() => (snapshot as { epoch: number }).epoch++).toThrow(TypeError);
    expect(snapshot.toolHash("mine")).toBe(hash);
  });

  test("[CAT-4] the tool that asks the user is offered only while somebody can be asked", () => {
    const asking = [...TOOLS, tool(ASK_USER)];
    expect(snapshotOf(asking).activeNames).not.toContain(ASK_USER);
    expect(snapshotOf(asking, { requestUserInputEnabled: true }).activeNames).toContain(ASK_USER);
  });
});

describe("the numbers", () => {
  test("[CAT-5] [A13] enabling a mode twice bumps once, and the same value comes back", () => {
    const once = changeCatalog(catalogWith(TOOLS), plan, "asked");
    expect(changeCatalog(once, plan, "asked again")).toBe(once);
    expect([once.epoch, once.reason]).toEqual([2, "asked"]);
  });

  test("[CAT-5] tools given anew, equal or in another order, bump nothing", () => {
    const now = catalogWith(TOOLS);
    expect(changeCatalog(now, { tools: hashTools(TOOLS.toReversed()) }, "reopened")).toBe(now);
    const fewer = changeCatalog(now, { tools: hashTools([readFile]) }, "removed");
    expect([fewer.version, fewer.epoch]).toEqual([now.version + 1, now.epoch + 1]);
    const renamed = { ...now.tools, constructor: now.tools["read_file"] as string };
    delete (renamed as Record<string, unknown>)["read_file"];
    expect(changeCatalog(now, { tools: renamed }, "renamed").version).toBe(now.version + 1);
  });

  const change = fc.oneof(
    fc.constantFrom(plan, act),
    fc.record({ requestUserInputEnabled: fc.boolean() }),
    fc.subarray(TOOLS).map((tools) => ({ tools: hashTools(tools) })),
  );

  test("[CAT-6] [A16] over any changes and restores, epochs never fall, rise by one, and are never torn from their version", () => {
    const step = fc.oneof(change, fc.record({ back: fc.nat(20) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const seen = [INITIAL_CATALOG];
        for (const one of steps) {
          const now = seen.at(-1) ?? INITIAL_CATALOG;
          const next =
            "back" in one
              ? restoreCatalog(now, seen[one.back % seen.length] ?? now)
              : changeCatalog(now, one, "changed");
          expect(next.epoch).toBe(next === now ? now.epoch : now.epoch + 1);
          expect(next.version - now.version).toBe(next.tools === now.tools ? 0 : 1);
          seen.push(next);
        }
        // One epoch is one state: whoever holds an epoch knows everything that belonged to it.
        const byEpoch = new Map(seen.map((state) => [state.epoch, state]));
        for (const state of seen) expect(byEpoch.get(state.epoch)).toEqual(state);
        const snapshot = snapshotCatalog(seen.at(-1) ?? INITIAL_CATALOG, TOOLS);
        expect([snapshot.version, snapshot.epoch]).toEqual([seen.at(-1)?.version, seen.at(-1)?.epoch]);
      }),
    );
  });

  test("[MODE-6] going back never opens up: to plan if either side was in plan, to act only if both were", () => {
    const inAct = catalogWith(TOOLS);
    const inPlan = changeCatalog(inAct, plan, "asked");
    const again = changeCatalog(inPlan, act, "done planning");
    expect(restoreCatalog(inPlan, inAct)).toBe(inPlan);
    expect(restoreCatalog(again, inPlan)).toMatchObject({ mode: "plan", epoch: again.epoch + 1 });
    expect(restoreCatalog(again, inAct)).toBe(again);
  });
});

describe("plan mode", () => {
  test("[MODE-1] offers what reads, and nothing that is not known to leave things as they are", () => {
    const others = [
      tool("fetch", { access: "external" }),
      tool("bash", { access: "execute" }),
      tool("all_write", { access: "read", actions: { field: "do", access: { put: "write" } } }),
    ];
    expect(snapshotOf([...TOOLS, ...others], plan).activeNames).toEqual(["read_file", "shell", "unified_file"]);
  });

  test("[MODE-1] a tool that declares effects outside reaches there, whatever it says of its access", () => {
    const mailing = tool("mailing", { access: "read", effects: { mail: {} } });
    expect(snapshotOf([readFile, mailing], plan).activeNames).toEqual(["read_file"]);
    const live = snapshotOf([mailing], plan);
    expect(denialOfCall({ tool: mailing, name: "mailing", input: {}, live })).toMatch(/^Plan mode is on/);
    const { effects: _effects, ...harmless } = mailing;
    expect(hashTools([mailing])).not.toEqual(hashTools([harmless]));
    expect(snapshotOf([{ ...mailing, effects: {} }], plan).activeNames).toEqual(["mailing"]);
  });

  test("[MODE-2] [A17] a tool of several actions is narrowed to those that read, and is itself again afterwards", () => {
    const before = snapshotOf(TOOLS);
    const planning = snapshotOf(TOOLS, plan);
    const after = snapshotOf(TOOLS, plan, act);
    expect(planning.tool("unified_file")?.input).toEqual({
      type: "object",
      properties: { action: { type: "string", enum: ["read"] }, path: { type: "string" } },
      required: ["action"],
    });
    expect(planning.toolHash("unified_file")).not.toBe(before.toolHash("unified_file"));
    expect(after.tool("unified_file")).toBe(before.tool("unified_file"));
  });

  test("[MODE-2] branches of a union that choose another action go, also where the schema named none", () => {
    const branch = (action: string) => ({ properties: { action: { const: action }, [`for_${action}`]: {} } });
    const union = unified("union", {
      type: "object",
      oneOf: [branch("read"), branch("write"), branch("edit"), { required: ["path"] }],
    });
    const text = JSON.stringify(offerOf(union, "plan")?.input);
    expect(text).toContain("for_read");
    expect(text).toContain('"required":["path"]');
    expect(text).not.toMatch(/write|edit/);
    const loose = tool("loose", { ...union, inputSchema: { type: "object" } });
    expect(offerOf(loose, "plan")?.input).toEqual({
      type: "object",
      properties: { action: { enum: ["read"] } },
      required: ["action"],
    });
  });

  test("[MODE-2] actions go wherever a schema hides them: behind references, in combinations, in words and defaults", () => {
    const branch = (action: string) => ({ properties: { action: { const: action }, [`for_${action}`]: {} } });
    const hidden = unified("hidden", {
      type: "object",
      properties: { action: { type: "string", description: "read or write", default: "write", examples: ["edit"] } },
      allOf: [{ anyOf: [branch("read"), { $ref: "#/$defs/Writer" }] }],
      if: { properties: { action: { enum: ["read", "edit"] } } },
      $defs: { Reader: branch("read"), Writer: branch("write"), Path: { type: "string" } },
    });
    const input = offerOf(hidden, "plan")?.input;
    expect(JSON.stringify(input)).not.toMatch(/write|edit|Writer/);
    expect(input).toEqual({
      type: "object",
      properties: { action: { type: "string", enum: ["read"] } },
      allOf: [{ anyOf: [{ properties: { action: { enum: ["read"] }, for_read: {} } }] }],
      if: { properties: { action: { enum: ["read"] } } },
      $defs: { Reader: { properties: { action: { enum: ["read"] }, for_read: {} } }, Path: { type: "string" } },
      required: ["action"],
    });
  });

  test("[MODE-2] a definition that something else refers to stays, because a loose reference is no schema", () => {
    const batch = unified("batch", {
      type: "object",
      properties: { steps: { type: "array", items: { $ref: "#/$defs/Step" } } },
      $defs: { Step: { properties: { action: { const: "write" } } } },
    });
    expect(offerOf(batch, "plan")?.input).toEqual({
      ...batch.inputSchema,
      properties: { ...(batch.inputSchema["properties"] as object), action: { enum: ["read"] } },
      required: ["action"],
    });
  });

  test("[MODE-2] a reference into or past a branch that goes leads where it led before", () => {
    const where = { type: "object", properties: { line: { type: "integer" } } };
    const files = unified("files", {
      type: "object",
      oneOf: [
        { properties: { action: { const: "write" }, where } },
        { properties: { action: { const: "read" }, where: { $ref: "#/oneOf/0/properties/where" }, deep: where } },
        { properties: { action: { const: "read" }, deep: { $ref: "#/oneOf/1/properties/deep" } } },
      ],
    });
    expect(offerOf(files, "plan")?.input).toMatchObject({
      oneOf: [
        { properties: { where: { $ref: "#/$defs/oneOf_0_properties_where" } } },
        { properties: { deep: { $ref: "#/$defs/oneOf_1_properties_deep" } } },
      ],
      $defs: { oneOf_0_properties_where: where, oneOf_1_properties_deep: where },
    });
  });

  test("[MODE-3] what a server says of its own tool is shown to people and believed by nobody", () => {
    const hinted = tool("mcp_write", {
      access: "external",
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
    expect(offerOf(hinted, "plan")).toBeUndefined();
  });
});

describe("who may run", () => {
  const attempt = (
    one: CatalogTool,
    input: unknown,
    live: SessionToolCatalogSnapshot,
    offeredBy?: SessionToolCatalogSnapshot,
  ) => denialOfCall({ tool: one, name: one.name, input, live, ...(offeredBy === undefined ? {} : { offeredBy }) });
  const inAct = snapshotOf(TOOLS);
  const inPlan = snapshotOf(TOOLS, plan);

  test("[MODE-4] what the call's own catalog does not offer is not run, and the words say what to do", () => {
    expect(attempt(editFile, {}, inPlan)).toBe(
      "Plan mode is on and edit_file could change something, so it did not run. Put the change into your plan instead.",
    );
    expect(attempt(readFile, {}, inPlan)).toBeUndefined();
    expect(attempt(editFile, {}, inAct)).toBeUndefined();
    expect(attempt(editFile, {}, inAct, snapshotOf([readFile]))).toMatch(/was not offered to you/);
  });

  test("[MODE-4] whichever way the mode went since the offer, the narrower catalog decides", () => {
    expect(attempt(editFile, {}, inPlan, inAct)).toMatch(/^Plan mode is on/);
    expect(attempt(editFile, {}, inAct, inPlan)).toMatch(/^Plan mode is on/);
    expect(attempt(editFile, {}, inAct, inAct)).toBeUndefined();
    expect(attempt(readFile, {}, inPlan, inAct)).toBeUndefined();
  });

  test("[MODE-4] a tool that changed or left since it was offered does not run", () => {
    const other = tool("edit_file", { access: "write", description: "Now something else." });
    expect(attempt(other, {}, snapshotOf([other]), inAct)).toMatch(/has changed since it was offered/);
    const widened = tool("read_file", { access: "external" });
    expect(attempt(widened, {}, snapshotOf([widened]), inAct)).toMatch(/has changed since it was offered/);
    expect(attempt(editFile, {}, snapshotOf([readFile]), inAct)).toMatch(/has been withdrawn/);
  });

  test.each([
    ["read", undefined],
    ["write", /its action can be read/],
    ["READ", /its action can be read/],
    [undefined, /its action can be read/],
    [["read"], /its action can be read/],
  ])("[MODE-2] of several actions, %j in plan mode", (action, denial) => {
    const said = attempt(unifiedFile, action === undefined ? {} : { action }, inPlan);
    if (denial === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(denial);
  });

  test("[MODE-2] an action that is inherited or computed is none", () => {
    expect(attempt(unifiedFile, Object.create({ action: "read" }), inPlan)).toMatch(/its action can be/);
    let asked = 0;
    const twoFaced = Object.defineProperty({}, "action", { get: () => (asked++ === 0 ? "read" : "write") });
    expect(attempt(unifiedFile, twoFaced, inPlan)).toMatch(/its action can be/);
    expect(attempt(unifiedFile, "read", inPlan)).toMatch(/its action can be/);
  });

  test("[MODE-5] a command runs in plan mode only when it is proved to change nothing", () => {
    expect(attempt(shell, { command: "git log --oneline | head -5" }, inPlan)).toBeUndefined();
    expect(attempt(shell, { command: "rm -rf build" }, inPlan)).toMatch(/rm is not known to be harmless/);
    expect(attempt(shell, { cmd: "ls" }, inPlan)).toMatch(/names no command/);
    expect(attempt(shell, { command: "rm -rf build" }, inAct)).toBeUndefined();
  });

  test("[MODE-5] a proof that throws, promises or shrugs has proved nothing", () => {
    const proofs = [
      () => {
        throw new Error("no idea");
      },
      () => Promise.resolve({ readOnly: true }),
      () => ({ readOnly: "yes" }),
      () => undefined,
    ];
    for (const readOnly of proofs) {
      const odd = tool("odd", { access: "execute", readOnly: readOnly as never });
      expect(attempt(odd, {}, snapshotOf([odd], plan))).toMatch(/^Plan mode is on, so odd did not run/);
    }
    const gone = denialOfCall({ tool: undefined, name: "shell", input: {}, live: inPlan });
    expect(gone).toMatch(/nothing proves/);
  });
});
