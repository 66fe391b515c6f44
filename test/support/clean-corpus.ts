import { SeededRandom } from "../../src/index.ts";
import { between } from "./chance.ts";

/**
 * Texts of the kinds that agents read all day, without any secret, and full of what looks like one: hashes, ids, base 64,
 * long names, settings whose values are left open. Each document is about two kilobytes.
 */
export function* cleanDocuments(
  seed: string,
  bytes: number,
): Generator<{ readonly kind: string; readonly text: string }> {
  const random = new SeededRandom(seed);
  const kinds = Object.keys(KINDS);
  for (let made = 0; made < bytes; ) {
    const kind = kinds[between(random, 0, kinds.length)] ?? "prose";
    const write = KINDS[kind];
    const lines: string[] = [];
    for (let length = 0; write !== undefined && length < 2_000; ) {
      const line = write(random);
      lines.push(line);
      length += line.length + 1;
    }
    const text = lines.join("\n");
    made += text.length;
    yield { kind, text };
  }
}

const WORDS =
  "account after agent answer array based basic bearer before branch broker budget build cache call change chunk clean client cluster code column commit config context cookie core count cursor data default deploy desk detail digest disk display docker edge entry error event fetch field file filter folder format frame gateway graph group handler hash header history host image index input item journal kernel key label ledger level limit line list local lock logger memory merge message method mode model module monitor name network node object offset option order output owner package page parser part password path pattern pipeline policy pool port prefix process project prompt proxy query queue range rate reader record region register release render repair report request reset resource response result retry risk role root route runner sample scan schema scope script search secret section segment server service session setting shape signal slice snapshot source span stack stage state store stream string style suffix switch system table target task template test thread ticket time token tool trace tree turn type update user value vendor version view wait window worker write zone".split(
    " ",
  );
const HEX = "0123456789abcdef";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const one = <T>(random: SeededRandom, of: readonly T[]): T => of[between(random, 0, of.length)] as T;
const word = (random: SeededRandom) => one(random, WORDS);
const words = (random: SeededRandom, count: number) => Array.from({ length: count }, () => word(random));
const run = (random: SeededRandom, letters: string, length: number) =>
  Array.from({ length }, () => letters[between(random, 0, letters.length)]).join("");
const hex = (random: SeededRandom, length: number) => run(random, HEX, length);
const camel = (random: SeededRandom) =>
  words(random, between(random, 2, 5))
    .map((part, at) => (at === 0 ? part : (part[0] ?? "").toUpperCase() + part.slice(1)))
    .join("");
const uuid = (random: SeededRandom) => [8, 4, 4, 4, 12].map((length) => hex(random, length)).join("-");
const path = (random: SeededRandom) =>
  `src/${words(random, between(random, 1, 4)).join("/")}.${one(random, ["ts", "py", "go", "md"])}`;
const day = (random: SeededRandom) =>
  `2026-${String(between(random, 10, 13))}-${String(between(random, 10, 29))}T10:${between(random, 10, 60)}:${between(random, 10, 60)}.${between(random, 100, 1000)}Z`;

const KINDS: Readonly<Record<string, (random: SeededRandom) => string>> = {
  prose: (random) =>
    `${words(random, 14).join(" ")}, ${one(random, ["risk-averse", "task-based", "desk-bound", "basic", "bearer"])} ${words(random, 6).join(" ")}.`,
  typescript: (random) =>
    one(random, [
      () =>
        `export interface ${camel(random)} { readonly password: string; readonly apiKey?: string; readonly ${word(random)}: number }`,
      () =>
        `const ${camel(random)} = await ${camel(random)}(${camel(random)}.${word(random)}, { token: ${camel(random)}, limit: ${between(random, 1, 999)} });`,
      () => `  if (options.password === undefined) throw new Error("${word(random)} needs a password");`,
      () =>
        `  const secret = process.env["${words(random, 2).join("_").toUpperCase()}_SECRET"] ?? config.${word(random)}Secret;`,
      () => `  password = ${camel(random)}(${word(random)});  // ${words(random, 5).join(" ")}`,
      () => `import { ${camel(random)}, type ${camel(random)} } from "./${words(random, 2).join("-")}.ts";`,
      () => `  readonly accessToken: ${camel(random)}Token<${camel(random)}>;`,
    ])(),
  python: (random) =>
    one(random, [
      () =>
        `def ${words(random, 3).join("_")}(self, password: str, api_key: Optional[str] = None) -> ${camel(random)}:`,
      () => `    secret_key = os.environ.get("SECRET_KEY", "")`,
      () => `    self.${word(random)}_token = self.${words(random, 3).join("_")}_v${between(random, 1, 9)}`,
      () =>
        `    return ${words(random, 3).join("_")}(${word(random)}=${between(random, 1, 9999)}, key="${words(random, 2).join("-")}")`,
    ])(),
  log: (random) =>
    `${day(random)} INFO [${word(random)}-${between(random, 1, 64)}] ${word(random)}=${between(random, 1, 99999)} request_id=${uuid(random)} took ${between(random, 1, 4000)}ms ${words(random, 4).join(" ")}`,
  json: (random) =>
    JSON.stringify({
      id: `${word(random)}_${run(random, BASE64.slice(0, 62), 24)}`,
      object: word(random),
      created: between(random, 1, 2 ** 30),
      etag: hex(random, 32),
      next_page_token: run(random, BASE64.slice(0, 62), 40),
      usage: { max_tokens: between(random, 1, 9999), key: word(random) },
      password: null,
      secret: "",
    }),
  lockfile: (random) =>
    `"node_modules/@${word(random)}/${words(random, 2).join("-")}": { "version": "${between(random, 0, 9)}.${between(random, 0, 99)}.${between(random, 0, 99)}", "integrity": "sha512-${run(random, BASE64, 86)}==" },`,
  commits: (random) =>
    `commit ${hex(random, 40)}\nAuthor: ${camel(random)} <${word(random)}@example.com>\n\n    ${words(random, 8).join(" ")} (#${between(random, 1, 9999)})\n\nindex ${hex(random, 7)}..${hex(random, 7)} 100644`,
  diff: (random) =>
    `@@ -${between(random, 1, 900)},7 +${between(random, 1, 900)},9 @@ ${camel(random)}\n-  ${camel(random)}.${word(random)}(${word(random)});\n+  ${camel(random)}.${word(random)}(${word(random)}, ${word(random)});`,
  picture: (random) => `iVBORw0KGgo${run(random, BASE64, 400)}`,
  minified: (random) =>
    `function ${run(random, "abcdefghij", 1)}(${run(random, "klmnop", 1)}){return ${camel(random)}.${run(random, "abc", 2)}["${word(random)}"]=${run(random, HEX, 6)},sk-${between(random, 1, 9)}?${camel(random)}:${camel(random)}}`,
  settings: (random) =>
    one(random, [
      () => `${words(random, 2).join("_").toUpperCase()}_TOKEN=\${${word(random).toUpperCase()}}`,
      () => `password: changeme  # ${words(random, 4).join(" ")}`,
      () => `API_KEY=your-api-key-here`,
      () => `secret: <${words(random, 2).join("-")}>`,
      () => `DATABASE_URL=postgres://user:password@localhost:5432/${word(random)}`,
      () => `  privateKey: /etc/ssl/private/${word(random)}${between(random, 1, 9)}.pem`,
      () => `${word(random)}.secret-key-ref.name=${words(random, 2).join("-")}`,
      () => `auth: { type: bearer, token: "{{ ${word(random)}.token }}" }`,
    ])(),
  addresses: (random) =>
    `https://${word(random)}.example.com/${words(random, 2).join("/")}?id=${uuid(random)}&page=${between(random, 1, 99)}&cursor=${run(random, BASE64.slice(0, 62), 30)}#L${between(random, 1, 999)}`,
  table: (random) =>
    `| ${uuid(random)} | ${hex(random, 64)} | ${word(random)} | ${between(random, 1, 99999)} | ${path(random)} |`,
  trace: (random) =>
    `    at ${camel(random)} (file:///srv/app/${path(random)}:${between(random, 1, 999)}:${between(random, 1, 99)})`,
  html: (random) =>
    `<input type="password" name="${word(random)}" placeholder="Enter your ${word(random)} password" autocomplete="current-password"><a href="/${word(random)}?t=${between(random, 1, 99999)}">${words(random, 3).join(" ")}</a>`,
  identifiers: (random) =>
    `sk-${words(random, 6).join("-")} hf_${words(random, 4).join("_")} npm_config_${words(random, 4).join("_")} pat${camel(random)} key-${words(random, 3).join("-")} AKIA${word(random).toUpperCase()} eyJ${word(random)}.${word(random)}`,
  usage: (random) =>
    `${words(random, 2).join(" ")} --password <password> --token TOKEN --api-key $API_KEY ${words(random, 3).join(" ")}`,
};
