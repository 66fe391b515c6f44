import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json } from "../base/json.ts";
import { workspacePart } from "../files/host/part.ts";
import type { AnyPart } from "../state/part.ts";
import { KERNEL_PARTS } from "./kernel-parts.ts";

const PARTS: readonly AnyPart[] = [...KERNEL_PARTS, workspacePart];
const ODD: readonly Json[] = [
  null,
  7,
  "x",
  true,
  [],
  [7],
  [{}],
  {},
  { paths: 7 },
  { steps: [{}] },
  [{ path: "../out" }],
];

/** A value of its own that is plain data, or a refusal with a code. */
function answered(work: () => unknown): string {
  try {
    const value = work();
    return checkJson(value).ok ? "data" : "no data";
  } catch (error) {
    return HoldfastError.is(error) ? error.code : String(error);
  }
}

describe.each(PARTS.map((part) => [part.name, part] as const))("the part %s", (_, part) => {
  const decode = (data: Json) => answered(() => part.encode(part.decode(data) as never));
  const REFUSED = /^(data|[A-Z]+(_[A-Z]+)+)$/;

  test("[SNAP-3] takes its own initial value, and no change of it is none", () => {
    expect(part.encode(part.decode(part.encode(part.initial as never)) as never)).toEqual(
      part.encode(part.initial as never),
    );
    expect(part.change(part.initial as never, part.initial as never)).toBeUndefined();
  });

  test("[SNAP-4] whatever somebody else's data says, it is refused by a code or becomes plain data", () => {
    for (const data of ODD) expect([data, decode(data)]).toEqual([data, expect.stringMatching(REFUSED)]);
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        fc.pre(checkJson(data).ok); // anything else is refused where it is parsed
        expect(decode(data as Json)).toMatch(REFUSED);
      }),
      { numRuns: 100 },
    );
  });
});

describe("what a session did in its workspace, as data", () => {
  const digest = `sha256-${"a".repeat(64)}`;
  const file = { kind: "file", digest, size: 1, mode: 0o644 };
  const touched = { path: "d/f", now: file, was: { kind: "absent" }, since: "s.3" };
  const binding = { mode: "host", workspace: "w" };

  test.each<readonly [string, Json, string]>([
    ["a path that leads out", { paths: [{ ...touched, path: "../f" }] }, "FILE_BAD_PATH"],
    ["a path that is not plain", { paths: [{ ...touched, path: "d//f" }] }, "FILE_BAD_PATH"],
    ["no path", { paths: [{ ...touched, path: "" }] }, "FILE_BAD_PATH"],
    ["an entry of no kind", { paths: [{ ...touched, now: { kind: "pipe" } }] }, "SNAPSHOT_CORRUPT"],
    ["no list", { paths: {} }, "SNAPSHOT_CORRUPT"],
  ])("[SNAP-4] [SEC-4] with %s is refused", (_, data, code) => {
    expect(() => workspacePart.decode(data)).toThrow(expect.objectContaining({ code }));
  });

  test("[SNAP-8] is read back equal, and chosen paths are taken from it alone", () => {
    const then = workspacePart.decode({ binding, paths: [touched, { ...touched, path: "e" }] } as Json);
    expect(workspacePart.encode(then)).toEqual({ binding, paths: [touched, { ...touched, path: "e" }] });
    const now = workspacePart.decode({
      paths: [
        { ...touched, path: "d/new" },
        { ...touched, path: "kept" },
      ],
    } as Json);
    const picked = workspacePart.encode(workspacePart.pick?.(now, then, ["d"]) ?? now) as {
      paths: readonly { path: string }[];
    };
    expect(picked.paths.map(({ path }) => path)).toEqual(["d/f", "kept"]);
    expect(() => workspacePart.pick?.(now, then, ["../d"])).toThrow(expect.objectContaining({ code: "FILE_BAD_PATH" }));
  });

  test("[SNAP-9] the change from one to the other, and back, is data that makes it", () => {
    const empty = workspacePart.initial;
    const full = workspacePart.decode({ paths: [touched] } as Json);
    const [there, back] = [workspacePart.change(empty, full), workspacePart.change(full, empty)];
    expect(workspacePart.encode(workspacePart.apply(empty, there?.delta ?? null))).toEqual(workspacePart.encode(full));
    expect(workspacePart.encode(workspacePart.apply(full, back?.delta ?? null))).toEqual({ paths: [] });
    expect(workspacePart.accept?.(full, empty)).toEqual(empty);
    expect(workspacePart.accept?.(empty, full)).toEqual(full);
  });
});
