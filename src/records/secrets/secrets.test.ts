import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { secretSamples } from "../../../test/support/secret-samples.ts";
import { Redactor } from "../redact.ts";
import { exact, roughLetters } from "./letters.ts";
import { namesSecret } from "./names.ts";
import { SecretScanner } from "./scanner.ts";

const samples = secretSamples("samples of the pieces").map(({ text }) => text);
const REGISTERED = ["hunter2!", "b:hunting", "a/b c@d:e", "://secret9", '="quoted', "zzz1y2x3"];
const PIECES =
  'password=|token: |Bearer |Basic |://u:|://|@|:|=|sk-|eyJ|\\n|;|<|,|/|X_PW=|A_TOKEN=|%3A%2F%2F|%3A|%3D|%3a%2f%2f|%3a|%3d|%40|%20|]|a1|-----END|"|\' | |pwd=a1b2c3d4|[redacted:x]|-----BEGIN PRIVATE KEY-----|12345678|:AA|-us1|8Q~|example|true|(|&|process.|a.b1|Cookie: |Set-Cookie: a=|; b=|-|&sig=|?Signature=|%26sig%3D|://q7Gk29sLq0Zx81Vb44Tn@|--token |--db-password |","|"name":"API_KEY"|"value":"|value: |<password>|</password>|>|&gt;|\\u003e|é|ÿ|\u00a0'.split(
    "|",
  );
/** Secrets, halves of them, what stands around them, and chance, one after the other. */
const narrowText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...samples, ...REGISTERED, ...PIECES),
      fc.tuple(fc.constantFrom(...samples), fc.nat(40)).map(([text, from]) => text.slice(from)),
      fc.string({ unit: fc.constantFrom(..."abXY019_-./%=:@ \\\"'[]".split("")) }),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join(""));

describe("one look", () => {
  const redactor = new Redactor(REGISTERED);

  test("[REDACT-4] is enough, whatever stands beside a secret", () => {
    fc.assert(
      fc.property(narrowText, (text) => {
        const once = redactor.text(text);
        expect(redactor.text(once)).toBe(once);
      }),
      { numRuns: 5_000 },
    );
  });

  test("[REDACT-1] [REDACT-2] hides the same whether a text has letters of one byte or of two", () => {
    fc.assert(
      fc.property(narrowText, fc.constantFrom("€", "鍵", "\ud83d\ude00", "\ud800"), (text, wide) => {
        expect(redactor.text(`${text} ${wide}`)).toBe(`${redactor.text(`${text} `)}${wide}`);
        expect(redactor.text(`${wide} ${text}`)).toBe(`${wide}${redactor.text(` ${text}`)}`);
      }),
      { numRuns: 5_000 },
    );
  });

  test("[REDACT-2] leaves no letter of a registered value, whatever it is part of", () => {
    const sign = /[§¶©®µ¿]/;
    const values = ["§a1 ¶,©;®&µ", "¿/§b2:¶@©", "1§2¶3©4"];
    const all = new Redactor(values);
    fc.assert(
      fc.property(narrowText, fc.constantFrom(...values), narrowText, (before, value, after) => {
        expect(all.text(before + value + after)).not.toMatch(sign);
      }),
      { numRuns: 5_000 },
    );
  });

  test("[REDACT-1] keeps what stands between two secrets to the letter, however far apart they are", () => {
    const scanner = new SecretScanner({ shapes: true });
    const between = fc.oneof(
      fc.string({ unit: "binary", maxLength: 600 }),
      fc.nat(1_200).map((length) => "x ".repeat(length).slice(0, length)),
      fc.constantFrom("a", "ab", "abc", "é".repeat(70_000), "€".repeat(70_000)),
    );
    fc.assert(
      fc.property(fc.array(between, { maxLength: 12 }), (gaps) => {
        const text = gaps.join(' pwd="a1b2c3d4" ');
        let expected = "";
        let from = 0;
        scanner.find(text, (found) => {
          expected += text.slice(from, found.from) + found.mark.text;
          from = found.to;
        });
        expect(new Redactor().text(text)).toBe(expected + text.slice(from));
      }),
      { numRuns: 300 },
    );
  });
});

describe("what stands beside something hidden", () => {
  const redactor = new Redactor(["hunter22", "://secret9", "correct horse, battery", "battery staple!"]);
  const github = `ghp_${"a1B2".repeat(9)}`;
  const telegram = `:AA${"aB1_".repeat(8)}x`;

  test.each([
    ["a word begins there", "hunter22A_TOKEN=a1b2c3d4", "[redacted:secret]A_TOKEN=[redacted:assigned-secret]"],
    ["a lead does", `hunter2212345678${telegram}`, "[redacted:secret][redacted:telegram-bot-token]"],
    ["too short a lead does not", `hunter221234567${telegram}`, `[redacted:secret]1234567${telegram}`],
    [
      "an address goes on in which another began and was hidden",
      `://${github}://secret9,pwd=a1/b2c3d4,x:word-1@`,
      "://[redacted:github-token][redacted:secret],pwd=[redacted:assigned-secret],x:[redacted:url-password]@",
    ],
    [
      "what is hidden of a user does not make it too long",
      `://${github}${"a1".repeat(120)}[redacted:x]uu:word-1@`,
      "://[redacted:github-token][redacted:x]uu:[redacted:url-password]@",
    ],
    [
      "nor short enough",
      `://${"u".repeat(255)},${github}[redacted:x]uu:word-1@`,
      `://${"u".repeat(255)},[redacted:github-token][redacted:x]uu:word-1@`,
    ],
    ["of a value that is none the rest may be one", "pwd='1pwd=a1b2c3d4 ", "pwd='1pwd=[redacted:assigned-secret] "],
    ["and is looked at by itself", "pwd='x1pwd=abcdefgh ", "pwd='x1pwd=abcdefgh "],
    [
      "a text that begins in it is hidden to its end",
      "password=1correct horse, battery",
      "password=[redacted:assigned-secret][redacted:secret]",
    ],
    ["and one that begins in that", "a correct horse, battery staple!.", "a [redacted:secret][redacted:secret]."],
    ["a value that runs into one ends with it", "pwd=a1b2c3d4hunter22", "pwd=[redacted:assigned-secret]"],
  ])("[REDACT-1] [REDACT-4] %s", (_what, text, kept) => {
    expect(redactor.text(text)).toBe(kept);
    expect(redactor.text(kept)).toBe(kept);
    expect(redactor.text(`€ ${text} €`)).toBe(`€ ${kept} €`);
  });
});

describe("names", () => {
  /** As a pattern says it, which takes several times as long. */
  const NAME =
    /(?:password|passwd|passphrase|pwd|secret|credentials?|(?:api|secret|access|private|signing|encryption|account|master)[_.-]?keys?|(?:api|auth|access|refresh|bearer|session|id|security|deploy|bot)[_.-]?token|connection[_.-]?string|(?:amz|goog|oss)[_.-]?signature)$/i;
  const ENVIRONMENT_NAME = /(?<![\w.-])[A-Z][A-Z0-9_]{0,56}_(?:TOKEN|PASS|PW|KEY_BASE|AUTH)$/;

  test("[REDACT-1] that say they are secret are those, and no others", () => {
    const word = fc.constantFrom(
      ..."api API secret Access private master auth id bot Token TOKEN key KEY keys connection string pwd PassWord amz Goog Signature _TOKEN _PASS _PW _KEY_BASE _AUTH pass A Ab 1 _ . - é € x".split(
        " ",
      ),
    );
    const long = fc.nat(70).map((length) => "A".repeat(length));
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 8, arbitrary: word }, long), { maxLength: 5 }), (words) => {
        const name = words.join("");
        const says = namesSecret(exact(name, roughLetters(name)), name.length, 0);
        expect({ name, says }).toEqual({ name, says: NAME.test(name) || ENVIRONMENT_NAME.test(name) });
      }),
      { numRuns: 5_000 },
    );
  });
});
