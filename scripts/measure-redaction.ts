/**
 * Measures what redaction finds, what it takes for a secret and is none, and how long it takes: `npm run measure:redaction`.
 * `-- --megabytes 50` is the default size of the clean corpus.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createHoldfast, defineTool, Redactor } from "../src/index.ts";
import { sqlite } from "../src/stores/sqlite/entry.ts";
import { cleanDocuments } from "../test/support/clean-corpus.ts";
import { CARRIERS, secretSamples } from "../test/support/secret-samples.ts";

const { values } = parseArgs({
  options: { megabytes: { type: "string", default: "50" }, seeds: { type: "string", default: "20" } },
});
const redactor = new Redactor();

/** Time of the processor, not of the wall: others may be at work on the same machine. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function recall(): void {
  const missed = new Map<string, number>();
  let all = 0;
  let shapes = 0;
  for (let seed = 0; seed < Number(values.seeds); seed += 1) {
    const samples = secretSamples(`measured ${seed}`);
    shapes = samples.length;
    for (const { shape, text, secret } of samples)
      for (const [carrier, carry] of Object.entries(CARRIERS)) {
        all += 1;
        const kept = redactor.text(carry(text));
        const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
        if (forms.some((form) => kept.includes(form)))
          missed.set(`${shape} in ${carrier}`, (missed.get(`${shape} in ${carrier}`) ?? 0) + 1);
      }
  }
  const misses = [...missed.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `recall: ${(100 * (1 - misses / all)).toFixed(3)} % of ${all} (${shapes} shapes x ${Object.keys(CARRIERS).length} carriers x ${values.seeds} seeds)`,
  );
  for (const [what, count] of missed) console.log(`  missed ${count}: ${what}`);
}

function falsePositives(): void {
  let documents = 0;
  let bytes = 0;
  let hit = 0;
  let ms = 0;
  for (const { kind, text } of cleanDocuments("measured", Number(values.megabytes) * 1_000_000)) {
    documents += 1;
    bytes += text.length;
    const begun = cpuMs();
    const kept = redactor.text(text);
    ms += cpuMs() - begun;
    if (kept === text) continue;
    hit += 1;
    if (hit <= 10) console.log(`  ${kind}: ${/.{0,40}\[redacted:[^\]]*\].{0,20}/.exec(kept)?.[0] ?? ""}`);
  }
  console.log(
    `false positives: ${hit} of ${documents} documents (${((100 * hit) / documents).toFixed(4)} %), ${(bytes / 1e6).toFixed(1)} MB at ${(bytes / 1000 / ms).toFixed(0)} MB/s`,
  );
}

const HOSTILE: Readonly<Record<string, string>> = {
  "one letter": "a",
  heads: "ghp_",
  "short heads": "sk-",
  "keys without an end": "-----BEGIN RSA PRIVATE KEY-----",
  "half tokens": "eyJ",
  addresses: "a://b:c",
  assignments: "password=",
  "endings of names": "ord:",
  dots: "M.aaaaaa.",
  escapes: "\\n%3D",
  "addresses in addresses": "%3A%2F%2Fa%3A",
  "assignments end to end": "password=a1b2",
  "quoted assignments": "password='a1",
  "credentials in base 64": "Basic QWxh",
  "marks alone": ":",
  "dots alone": ".",
  "short heads inside a word": "SKc",
  "heads with many neighbours": " dp.st.",
  "secrets end to end": "pwd=a1b2c3d4 ",
  "passwords of addresses": "a://b:c1@",
  "letters of two scripts": "é€sk-",
  "secrets in two scripts": "€pwd=a1b2c3d4 ",
  "secrets beside each other": "pwd=a1b2c3d4,",
  "names before a placeholder": `${"pwd=".repeat(29)}example1 `,
  "names before a word of a language": `${"pwd=".repeat(29)}1true `,
  "names of an environment": "A_TOKEN=a1b2c3d4 ",
  "assignments in addresses": "pwd%3Da1b2c3d4 ",
  "fields of variables": "pwd=ab.c1d2e ",
  "passwords in addresses in addresses": "%3A%2F%2Fa%3Ab1%40",
  "secrets in the users of addresses": "://pwd=a1/b2c3d4,",
  "halves of keys": "-us1",
  "cookies without an end": "Cookie: a=b; ",
  "cookies in cookies": "ookie= a=ookie=;",
  cookies: "Cookie: a=b1c2d3e4\n",
  "signatures in addresses in addresses": "%26sig%3Da1",
  "tokens of addresses": "://a1b2c3d4e5-",
  "flags without a value": "--token ",
  "flags with a value": "--token a1b2c3d4 ",
  "names beside values": 'name="API_KEY" value="a1b2c3d4" ',
  "gaps before a value": `${" ".repeat(60)}value:`,
  tags: "<password>a1b2c3d4</password>",
  "data of tags": "<password><![CDATA[a1b2c3d4]]></password>",
  "cookies in addresses": "Cookie%3A%20a%3Da1b2c3d4%3B%20",
  "cookies in cookies of addresses": "ookie%3A+a%3Dookie%3A%3B",
  "heads that end in dots": "SG.",
  prose: "the quick brown fox has no secrets at all; ",
};

function hostile(): void {
  for (const [name, piece] of Object.entries(HOSTILE)) {
    const text = `${piece.repeat(Math.ceil(10_000_000 / Buffer.byteLength(piece)))}.eyJ-----END`; // bytes as they are kept
    redactor.text(text.slice(0, 100_000));
    const begun = cpuMs();
    redactor.text(text);
    console.log(`10 MB of ${name}: ${(cpuMs() - begun).toFixed(0)} ms`);
  }
}

const CALLS = 300;
const ROUNDS = 6;

/** What looking for secrets adds to a durable call with a kilobyte of arguments and eight of output, in turns with and without. */
async function shareOfACall(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redaction-"));
  const output = "src/base/json.ts:12: export function parse(text: string) { return read(text); }\n".repeat(100);
  const search = defineTool({ name: "search", access: "read", run: () => output });
  const input = {
    pattern: "export function",
    paths: Array.from({ length: 24 }, (_, nth) => `src/rooms/room-${nth}/entry.ts`),
  };
  const taken = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const how of ["with", "without"] as const) {
      const holdfast = await createHoldfast({
        store: sqlite(join(folder, `${how}-${round}.db`), { durability: "process" }),
        tools: [search],
        secrets: { shapes: how === "with" },
      });
      const session = await holdfast.open("measured");
      for (let nth = 0; nth < 20; nth += 1) await session.runTool({ name: "search", input });
      const begun = cpuMs();
      for (let nth = 0; nth < CALLS; nth += 1) await session.runTool({ name: "search", input });
      taken[how].push((cpuMs() - begun) / CALLS);
      await session.close();
      await holdfast.close();
    }
  rmSync(folder, { recursive: true });
  const [on, off] = [Math.min(...taken.with), Math.min(...taken.without)];
  console.log(
    `a call: ${on.toFixed(3)} ms with, ${off.toFixed(3)} ms without: ${((100 * (on - off)) / on).toFixed(1)} % of it`,
  );
}

recall();
falsePositives();
hostile();
await shareOfACall();
