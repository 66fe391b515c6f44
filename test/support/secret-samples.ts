import { SeededRandom } from "../../src/index.ts";
import { type Alphabet, SECRET_SHAPES } from "../../src/records/secrets/shapes.ts";
import { between } from "./chance.ts";

/** A made-up secret of a known shape: nobody's, drawn from a seed. */
export interface SecretSample {
  readonly shape: string;
  /** As it is written. */
  readonly text: string;
  /** What of it must not be found afterwards, where the rest of it may stay: the password of an address. */
  readonly secret: string;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const LETTERS: Readonly<Record<Alphabet, string>> = {
  letters: UPPER + LOWER + DIGITS,
  word: `${UPPER}${LOWER}${DIGITS}_`,
  hex: "0123456789abcdef",
  capitals: `${UPPER}234567`,
  base64: UPPER + LOWER + DIGITS,
  dotted: UPPER + LOWER + DIGITS,
};

function draw(random: SeededRandom, letters: string, length: number): string {
  return Array.from({ length }, () => letters[between(random, 0, letters.length)] ?? "x").join("");
}

/** Has what chance gives a token of this length: digits, capitals and small letters. */
function token(random: SeededRandom, alphabet: Alphabet, length: number): string {
  const made = draw(random, LETTERS[alphabet], length);
  if (alphabet === "hex" || alphabet === "capitals" || length < 3) return made;
  return `a7Z${made.slice(3)}`;
}

/** Those whose rest has a form of its own, or that begin before their head. */
const FORMED: Readonly<Record<string, (random: SeededRandom, head: string) => string>> = {
  "cloudflare-origin-key": (random, head) => `${head}${token(random, "hex", 24)}-${token(random, "hex", 146)}`,
  "telegram-bot-token": (random, head) => `${draw(random, "123456789", 9)}${head}${token(random, "word", 33)}`,
  "sendgrid-key": (random, head) => `${head}${token(random, "word", 22)}.${token(random, "word", 43)}`,
  "airtable-token": (random, head) => `${head}${token(random, "letters", 14)}.${token(random, "hex", 64)}`,
  "postman-key": (random, head) => `${head}${token(random, "hex", 24)}-${token(random, "hex", 34)}`,
  "dynatrace-token": (random, head) => `${head}${token(random, "capitals", 24)}.${token(random, "capitals", 64)}`,
  "mailchimp-key": (random, head) => `${token(random, "hex", 32)}${head}${between(random, 1, 20)}`,
  "terraform-cloud-token": (random, head) => `${token(random, "letters", 14)}${head}${token(random, "word", 64)}`,
  "azure-client-secret": (random, head) => `${token(random, "letters", 3)}${head}${token(random, "word", 34)}`,
};

/** One sample of each known shape, and of each form that is told by what stands around it. */
export function secretSamples(seed: string): readonly SecretSample[] {
  const random = new SeededRandom(seed);
  const shaped = SECRET_SHAPES.map(({ name, heads, rest, least, most }): SecretSample => {
    const head = heads[between(random, 0, heads.length)] ?? "";
    const text = FORMED[name]?.(random, head) ?? `${head}${token(random, rest, Math.min(most ?? least, least))}`;
    return { shape: name, text, secret: text };
  });
  const around = (shape: string, text: (secret: string) => string, secret: string) => ({
    shape,
    text: text(secret),
    secret,
  });
  const jwt = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded({ sub: token(random, "letters", 12) })}.${token(random, "word", 43)}`;
  const lines = Array.from({ length: 6 }, () => token(random, "base64", 64));
  const basic = Buffer.from(`deploy:${token(random, "letters", 18)}`).toString("base64");
  const discord = `M${token(random, "letters", 23)}.${token(random, "letters", 6)}.${token(random, "word", 30)}`;
  return [
    ...shaped,
    around("json-web-token", (secret) => secret, jwt),
    around(
      "private-key",
      (key) => `-----BEGIN RSA PRIVATE KEY-----\n${key}\n-----END RSA PRIVATE KEY-----`,
      lines.join("\n"),
    ),
    around("url-password", (word) => `postgres://app:${word}@db.internal:5432/main`, token(random, "letters", 16)),
    around("bearer-token", (secret) => `Bearer ${secret}`, token(random, "word", 40)),
    around("basic-credentials", (secret) => `Basic ${secret}`, basic),
    around("discord-bot-token", (secret) => secret, discord),
    around("assigned-password", (secret) => `password=${secret}`, token(random, "letters", 14)),
    around("assigned-api-key", (secret) => `API_KEY=${secret}`, token(random, "letters", 32)),
    around("aws-secret-access-key", (secret) => `aws_secret_access_key = ${secret}`, token(random, "letters", 40)),
    around("azure-account-key", (secret) => `AccountKey=${secret}`, `${token(random, "letters", 86)}==`),
  ];
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** What secrets come in. */
export const CARRIERS: Readonly<Record<string, (secret: string) => string>> = {
  prose: (secret) => `Use this one until Friday: ${secret}, then we rotate it.`,
  json: (secret) => JSON.stringify({ id: 7, note: secret, tags: ["a"] }),
  "json in json": (secret) => JSON.stringify({ body: JSON.stringify({ lines: `first\n${secret}\nlast` }) }),
  environment: (secret) => `NODE_ENV=production\nSETTING=${secret}\nPORT=80\n`,
  address: (secret) => `https://api.example.com/v1/things?page=2&k=${encodeURIComponent(secret)}&sort=up`,
  header: (secret) => `GET / HTTP/1.1\r\nHost: example.com\r\nX-Custom: ${secret}\r\nAccept: */*\r\n\r\n`,
  code: (secret) => `const client = connect("${secret}", { retries: 3 });`,
  log: (secret) =>
    `\u001b[31m2026-11-15T10:00:00Z ERROR\u001b[0m refused for \u001b[1m${secret}\u001b[0m after 3 tries`,
};
