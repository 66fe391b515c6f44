import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { ERROR_CODES } from "../../src/base/error-codes.ts";
import { type CommandBody, parseOptions } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { Drivers } from "../../src/exec/choose.ts";
import type { Enclosure } from "../../src/exec/driver.ts";
import { overlayDriver } from "../../src/exec/overlay.ts";
import { HoldfastError, realHost, toolResult } from "../../src/index.ts";
import { steps, writes } from "../support/calls.ts";
import { desk } from "../support/cli.ts";
import { opened } from "../support/durable.ts";
import { collect, MemoryDisk } from "../support/stores.ts";
import { freshRoot, inWorkspace, refusingDisk, work } from "../support/workspaces.ts";

// A code that is told in several cases said of all of them what holds of the first, and sent some users to places where
// nothing was to be found.
describe("[ID-20] an error says what is so, and what helps, in every case in which it is told", () => {
  const at = desk();
  const told = async (failing: Promise<unknown>): Promise<HoldfastError> => {
    const error = await failing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!HoldfastError.is(error)) throw new Error(`no error of ours: ${String(error)}`);
    return error;
  };

  test("a folder that is nobody's is not said to be somebody else's, and the right one is to be named", async () => {
    const place = freshRoot();
    const { holdfast, session } = await inWorkspace({}, place);
    await session.close();
    await holdfast.close();
    const error = await told(inWorkspace({}, { ...place, root: freshRoot().root }));
    expect(error.code).toBe("WORKSPACE_FOREIGN");
    expect(error.message).toContain("or to nobody yet");
    expect(error.tryThis).toContain("Name the folder that the session works in");
  });

  test("a folder that this process itself uses is not said to be another process's", async () => {
    const place = freshRoot();
    const { holdfast, session } = await inWorkspace({}, place);
    const error = await told(inWorkspace({}, { ...place, store: `${place.store}2` }));
    expect(error.code).toBe("WORKSPACE_BUSY");
    expect(error.message).toContain("or by another Holdfast in this one");
    await session.close();
    await holdfast.close();
    const next = await inWorkspace({}, { ...place, store: `${place.store}2` });
    await next.session.close();
    await next.holdfast.close();
  });

  test("what a fork left behind is named as a folder where it is one, and can be made again when that is gone", async () => {
    const place = freshRoot();
    const state = { broken: false };
    const removeTree = (path: string) => {
      if (state.broken && path.endsWith("-fork")) throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
      realHost.removeTree(path);
    };
    const port = { ...refusingDisk((text) => state.broken && text === "1"), removeTree };
    const { root, session, run } = await work({ workspace: { root: place.root, port } }, place);
    const { callId: after } = await run(({ files }) => files.writeText("f", "1"));
    await run(({ files }) => files.writeText("f", "2"));
    const forking = () => session.fork({ after, as: "f", workspace: `${root}-fork` });
    state.broken = true;
    const error = await told(forking());
    state.broken = false;
    expect(error.code).toBe("FORK_LEFT_BEHIND");
    expect(error.tryThis).toContain("If the details name a folder, remove it");
    expect((await told(forking())).code).toBe("FILE_EXISTS");
    rmSync(`${root}-fork`, { recursive: true });
    await (await forking()).close();
  });

  test("a record inside a call's commit is not said to be missing, and the next that will do is named", async () => {
    const inner = writes("inner", () => {});
    const outer = writes("outer", async (_, call) => void (await call.run({ name: "inner", input: {} })));
    const { session, holdfast } = await opened(new MemoryDisk(), { tools: [inner, outer] });
    await session.runTool({ name: "outer", input: {} });
    const records = await collect(session.read());
    const closed = records.find(({ kind }) => kind === "call-closed");
    const error = await told(holdfast.fork("s", { as: "f", after: closed?.seq as number }));
    expect(error.code).toBe("FORK_POINT_UNKNOWN");
    expect(error.message).toContain("inside the commit of a call");
    expect(error.tryThis).toContain("`next`");
    await (await holdfast.fork("s", { as: "f", after: error.details["next"] as number })).close();
    await session.close();
  });

  test("a point whose state needs what was dropped is not said to lack a checkpoint alone", async () => {
    const late = "a-canary-nobody-knew-of";
    const note = writes<string>("note", (text, call) => call.dispatch(steps.added(text)));
    const { holdfast, session } = await opened(new MemoryDisk(), { tools: [note], slices: [steps] });
    const calls = [];
    for (const input of ["a", late, "c"]) calls.push((await session.runTool({ name: "note", input })).callId);
    await session.close();
    holdfast.registerSecret(late);
    await holdfast.dropSecrets("s");
    const again = await holdfast.open("s");
    const error = await told(again.fork({ after: calls[1] as string, as: "f" }));
    expect(error.code).toBe("CHECKPOINT_UNKNOWN");
    expect(error.message).toContain("or something that it needs is gone");
    await again.close();
  });

  test("a request without items is not to be repaired, but to be given one", async () => {
    const asking = async () => {
      for await (const _ of scripted([{ text: "ok" }]).ask({ items: [] }, { signal: new AbortController().signal }));
    };
    const error = await told(asking());
    expect(error.code).toBe("REQUEST_MALFORMED");
    expect(error.tryThis).toContain("A request without items needs one.");
  });

  test("a compressed session that was cut off is not only to be looked for", async () => {
    writeFileSync(join(at.folder, "cut.jsonl.gz"), gzipSync('{"type":"user"}\n'.repeat(99)).subarray(0, 30));
    const { code, err } = await at.run("doctor", "cut.jsonl.gz");
    expect([code, err]).toEqual([3, expect.stringMatching(/TRANSCRIPT_UNREADABLE: .*\ntry: .*compressed/)]);
  });

  test("a result that is too large is not to be let in by an option that no kernel has", () => {
    const data = { type: "file", mediaType: "application/pdf", bytes: new Uint8Array(33 * 1024 * 1024) } as const;
    const making = () => toolResult([data]);
    expect(making).toThrow(expect.objectContaining({ code: "VALUE_TOO_LARGE" }));
    expect(ERROR_CODES.VALUE_TOO_LARGE.tryThis).toContain("opened with `openJournal`");
  });

  test("a file that is too large to be read at once can be read in parts, and the remedy says so", async () => {
    const place = freshRoot();
    writeFileSync(join(place.root, "log"), "0123456789");
    const { holdfast, session } = await inWorkspace({ workspace: { root: place.root, limits: { file: 4 } } }, place);
    const error = await told(session.files.read("log"));
    expect(error.code).toBe("FILE_TOO_LARGE");
    expect(error.tryThis).toContain("`readStream`");
    const parts = [];
    for await (const part of session.files.readStream("log")) parts.push(part);
    expect(Buffer.concat(parts).toString()).toBe("0123456789");
    await session.close();
    await holdfast.close();
  });

  test("a driver that nobody asked for is not said to be asked for, nor to be left where it is", async () => {
    const enclosure = { driver: "overlay" } as unknown as Enclosure;
    const opening = vi.spyOn(overlayDriver, "open").mockResolvedValueOnce(enclosure);
    const drivers = new Drivers("auto");
    await drivers.open({} as never, "first");
    opening.mockRejectedValueOnce(new Error("no more mounts"));
    const error = await told(drivers.open({} as never, "second"));
    opening.mockRestore();
    expect([error.code, error.details["refused"]]).toEqual(["EXEC_NO_DRIVER", "no more mounts"]);
    expect(error.message).not.toContain("asked for");
    expect(error.tryThis).toContain('Set `exec.driver` to "portable"');
  });

  test("a command that a remedy names is one that is accepted as it stands there", async () => {
    const refused: string[] = [];
    for (const [code, { tryThis }] of Object.entries(ERROR_CODES))
      for (const [, name = "", rest = ""] of tryThis.matchAll(/`holdfast (\w+)([^`]*)`/g)) {
        const body = await COMMANDS.find((one) => one.name === name)?.load();
        const args = rest.split(" ").filter((word) => word !== "");
        try {
          parseArgs({ args, options: parseOptions(body as CommandBody), allowPositionals: true });
        } catch (error) {
          refused.push(`${code}: ${name}${rest}: ${String(error)}`);
        }
      }
    expect(refused).toEqual([]);
  });
});
