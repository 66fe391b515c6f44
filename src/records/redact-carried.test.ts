import { describe, expect, test } from "vitest";
import { CARRIERS } from "../../test/support/secret-samples.ts";
import type { Json } from "../base/json.ts";
import { KNOWN_SHAPES, Redactor } from "./redact.ts";

const TOKEN = "q7Gk29sLq0Zx81Vb44TnPw3e";
const PASSWORD = "h7nter2-of-old";
const HEX = "9f2c7b1e04d8a6533ce1f0b27a945d8860c3e7f1b2a49d5e7f8c016d3b4a2957";
/** What stands before a secret, the secret, and what stands behind it. */
type Told = readonly [before: string, secret: string, behind: string];

/** JSON in JSON and its like; as an address would write it, few of these are ever written. */
const { address: _, ...CARRIED } = CARRIERS;
const everywhere = Object.entries({ nothing: (text: string) => text, ...CARRIED });

function hidesNothingElse(told: readonly Told[]): void {
  for (const [before, secret, behind] of told) {
    const text = `${before}${secret}${behind}`;
    const kept = KNOWN_SHAPES.text(text);
    expect(kept).toMatch(/\[redacted:[\w-]+\]/);
    expect(kept.replace(/\[redacted:[\w-]+\]/, "")).toBe(`${before}${behind}`);
    for (const [carrier, carry] of everywhere) {
      const carried = KNOWN_SHAPES.text(carry(text));
      expect({ carrier, text, carried: carried.includes(secret) ? carried : "hidden" }).toEqual({
        carrier,
        text,
        carried: "hidden",
      });
      expect(KNOWN_SHAPES.text(carried)).toBe(carried);
    }
  }
}

function staysIn(texts: readonly string[]): void {
  for (const text of texts)
    for (const [, carry] of everywhere) expect(KNOWN_SHAPES.text(carry(text))).toBe(carry(text));
}

test("[REDACT-4] [REDACT-21] [REDACT-23] what is left of a dash that was hidden is looked at as if it stood alone", () => {
  const redactor = new Redactor(["hunter2-"]);
  for (const [text, kept] of [
    [`hunter2-Cookie: a=b; c=${TOKEN}`, "[redacted:secret]Cookie: a=b; c=[redacted:cookie]"],
    [`hunter2---token ${TOKEN}`, "[redacted:secret]--token [redacted:assigned-secret]"],
    [`hunter2----token ${TOKEN}`, `[redacted:secret]---token ${TOKEN}`],
  ] as const) {
    expect(redactor.text(text)).toBe(kept);
    expect(redactor.text(kept)).toBe(kept);
  }
});

describe("cookies", () => {
  test("[REDACT-21] lose their values in headers, wherever these are written", () => {
    hidesNothingElse([
      ["Cookie: sid=", TOKEN, "\nAccept: */*"],
      ["cookie: theme=dark; connect.sid=", `s%3A${TOKEN}.x/y+z`, "; lang=en"],
      ["Set-Cookie: sid=", TOKEN, "; Path=/; Domain=app1.acme.com; Max-Age=3600; HttpOnly"],
      ["set-cookie: __Host-id=", `a=1&t=${TOKEN}`, "; Expires=Wed, 21 Oct 2026 07:28:00 GMT"],
      ["curl -H 'Cookie: JSESSIONID=", "0A1B2C3D4E5F", "' https://host/x"],
      ["curl --cookie sid=", TOKEN, " https://host/x"],
      ['{"cookie":"sid=', TOKEN, '"}'],
      ['{"headers": {"Set-Cookie": ["sid=', TOKEN, '; Path=/"]}}'],
      ["{ 'set-cookie': [ 'sid=", TOKEN, "; Path=/' ] }"],
      ['document.cookie = "sid=', TOKEN, '"'],
      ["https://host/x?h=Cookie%3A%20sid%3D", TOKEN, "&page=2"],
      ["h=Cookie%3A+theme%3Ddark%3B+sid%3D", TOKEN, "%3B+lang%3Den"],
      ["h=cookie%3A%20sid%3D", `s%3A${TOKEN}.x%2Fy%2Bz`, "%0D%0AAccept%3A%20%2A"],
      ["h=Set-Cookie%3A%20sid%3D", TOKEN, "%3B%20Path%3D%2F%3B%20Domain%3Dapp1.acme.com"],
    ]);
    // Everything between two of them goes with them.
    expect(KNOWN_SHAPES.text(`Cookie: lang=en; a=${TOKEN}; b=dark; c=${TOKEN}; d=light`)).toBe(
      "Cookie: lang=en; a=[redacted:cookie]; d=light",
    );
  });

  test("[REDACT-21] lose them in fields of these names, too", () => {
    const headers = (value: string) => ({
      Cookie: `theme=dark; sid=${value}`,
      "set-cookie": [`sid=${value}; Path=/`, "lang=en; Path=/"],
      host: "app1.acme.com",
    });
    expect(KNOWN_SHAPES.json({ headers: headers(TOKEN) })).toEqual({ headers: headers("[redacted:cookie]") });
    const har = (value: string) => ({ headers: [{ name: "Cookie", value: `sid=${value}` }] });
    expect(KNOWN_SHAPES.json(har(TOKEN))).toEqual(har("[redacted:cookie]"));
    expect(KNOWN_SHAPES.json({ cookie: `a=${TOKEN}` })).toEqual({ cookie: "a=[redacted:cookie]" });
  });

  test("[REDACT-21] [REDACT-3] are not seen in what is said about them", () => {
    staysIn([
      "Cookie: a small baked good, made of 200 g of flour",
      "Cookie: theme=dark; lang=en",
      "Set-Cookie: lang=en; Path=/; Domain=app1.acme.com; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
      "Set-Cookie: sid=<session-id-1>; Path=/",
      "Cookie: sid=${SESSION_1}; theme=dark",
      "Cookie: sid=your-session-id-1",
      "  readonly cookie: string; readonly cookie2?: Cookie2;",
      "const cookie: Cookie = parse(header1);",
      "const cookie = serialize(name, value1, { maxAge: 3600 });",
      'res.setHeader("Set-Cookie", "sid=" + id1);',
      "the cookie has expires=2026-10-21T07:28:00Z in it",
      "cookies: 12345678ab",
      "h=Cookie%3A%20theme%3Ddark%3B%20lang%3Den&page=12345678ab",
      "h=Cookie%3A%20a%20small%20baked%20good%20of%20200g1234567",
      "h=Cookie%3A%20sid%3D%3Csession-id-1%3E",
      "h=Set-Cookie%3A%20lang%3Den%3B%20Domain%3Dapp1.acme.com%3B%20Expires%3DWed%2C%2021%20Oct%202026",
    ]);
    for (const fields of [{ cookie: "theme=dark" }, { cookie: "see chapter 12 of v1=manual" }, { cookies: 3 }])
      expect(KNOWN_SHAPES.json(fields as Json)).toBe(fields);
  });
});

describe("addresses", () => {
  test("[REDACT-25] are read alike whether they escape with small letters or with capitals", () => {
    const mixed = (text: string) => text.replace(/%3A%2F%2F/g, "%3a%2F%2f").replace(/%3D/g, "%3d");
    const small = (text: string) => text.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());
    for (const [before, secret, behind] of [
      ["h=Cookie%3A%20sid%3D", `s%3A${TOKEN}.x%2Fy%2Bz`, "%0D%0AAccept%3A%20%2A"],
      ["h=Cookie%3A+theme%3Ddark%3B+sid%3D", TOKEN, "%3B+lang%3Den"],
      ["next=https%3A%2F%2Fhost%2Ff%3Fa%3D1%26sig%3D", `${TOKEN}%252F`, "%26se%3D2026"],
      ["next=https%3A%2F%2Fhost%2Ff%3FSignature%3D", TOKEN, " x"],
      ["remote=https%3A%2F%2F", TOKEN, "%40host%2Fx"],
      ["remote=https%3A%2F%2Fuser%3A", "pa%3Ass%2Dword1", "%40host%2Fx"],
      ["q=password%3D", "a1b2c3d4", "&page=2"],
      ["q=%22api_key%22%3A%20%22", "a1b2c3d4%22", "&page=2"],
      ["next=https%3A%2F%2F", `hooks.slack.com%2Fservices%2FT0A1B2C3D%2FB0A1B2C3D%2F${TOKEN}`, "&x=1"],
    ] as const)
      for (const written of [String, small, mixed]) {
        const told = KNOWN_SHAPES.text(`${written(before)}${written(secret)}${written(behind)}`);
        expect(told).toMatch(/\[redacted:[\w-]+\]/);
        expect(told.replace(/\[redacted:[\w-]+\]/, "")).toBe(`${written(before)}${written(behind)}`);
      }
    for (const text of [
      "https%3a%2f%2fu%3a%40host",
      "https%3a%2f%2fu%3a%7bword%7d%40host",
      "https%3a%2f%2fu%3aa%2fb%40host",
      "https%3a%2f%2fsome-user-01%40host",
      "h=Cookie%3a%20sid%3d%3csession-id-1%3e",
    ])
      expect(KNOWN_SHAPES.text(text)).toBe(text);
  });

  test("[REDACT-22] lose the signature that opens them", () => {
    const hex = "0123456789abcdef".repeat(4);
    hidesNothingElse([
      ["https://a.blob.core.windows.net/c/f?sv=2024-01-01&sig=", `${TOKEN}%2F${TOKEN}%3D`, "&se=2026-10-21#L1"],
      ["https://host/f?sig=", TOKEN, " and so on"],
      ["SharedAccessSignature sr=host&amp;sig=", TOKEN, "&amp;se=17"],
      ['{"url":"https://host/f?a=1\\u0026sig=', TOKEN, '\\u0026b=2"}'],
      ["https://d1.cloudfront.net/x?Expires=17&Signature=", `${TOKEN}~${TOKEN}__`, "&Key-Pair-Id=K2"],
      ["https://host/x?signature=", hex, "&timestamp=17"],
      ["https://b.s3.amazonaws.com/k?X-Amz-Date=20261021T072800Z&X-Amz-Signature=", hex, "&x-id=GetObject"],
      ["https://b.s3.amazonaws.com/k?X-Amz-Security-Token=", `IQoJb3JpZ2lu${TOKEN}%2F%2F`, "&x-id=GetObject"],
      ["https://storage.googleapis.com/b/k?X-Goog-Signature=", hex, "&x=1"],
      ['{"fields":{"X-Amz-Signature":"', hex, '"}}'],
      ["next=https%3A%2F%2Fhost%2Ff%3Fa%3D1%26sig%3D", `${TOKEN}%252F`, "%26se%3D2026"],
      ["next=https%3A%2F%2Fhost%2Ff%3FSignature%3D", TOKEN, " x"],
    ]);
  });

  test("[REDACT-22] lose a user that is nothing but a token", () => {
    hidesNothingElse([
      ["git clone https://", TOKEN, "@git.host/owner/repo.git and go on"],
      ["https://", "0123456789abcdef0123456789abcdef01234567", "@github.com/owner/repo"],
      ["git+https://", `u_${TOKEN}-x`, "@host:8443/x?y=1"],
      ["remote=https%3A%2F%2F", TOKEN, "%40host%2Fx"],
    ]);
  });

  test("[REDACT-22] [REDACT-3] keep users, and what is called alike and opens nothing", () => {
    staysIn([
      "https://user@host/x",
      "ssh://git@github.com/owner/repo.git",
      "amqp://service-account-name-01@broker.internal",
      "postgres://myverylongserviceaccount2024@db.internal/app",
      "amqp://eu1-service-account-v2-main@broker.internal",
      "https://web2serviceaccountname@host/x",
      "https://first.last1985@mail.internal/x",
      "https://unpkg.com/@scope/package@1.2.3/dist/x.js",
      "https://host/@0123456789abcdef0123456789abcdef01234567",
      "https://${TOKEN_1}@host/x",
      "https://<token-1>@host/x",
      "https://host/f?sig=1&v=2",
      "https://host/f?signature=required&v=2",
      "https://host/f?sig=<signature>&v=2",
      "https://host/f?pgpsig=q7Gk29sLq0Zx81Vb44TnPw3e&v=2",
      "https%3A%2F%2Fsome-user-01%40host",
      "const ok = verify(body, sig=header_v1);",
      "if (a &&signature === expected1) return;",
      '{"type":"thinking","signature":"RXJ2AkYICBgCIkDn0Y2mZ3a9hJ4o"}',
    ]);
  });
});

describe("commands", () => {
  test("[REDACT-23] lose what they are given behind flags of secrets", () => {
    hidesNothingElse([
      ["deploy --token ", TOKEN, " --region eu-west-1"],
      ["deploy --token=", TOKEN, " --region eu-west-1"],
      ['deploy --token "', TOKEN, '" --force'],
      ["mysql --user root --password ", PASSWORD, " db1"],
      ["tool --db-password '", PASSWORD, "' x"],
      ["tool --api-key=", TOKEN, "; echo done"],
      ["tool --api-key ", TOKEN, "\n"],
      ["az storage --account-key ", `${TOKEN}/${TOKEN}==`, " x"],
      ["tool --client-secret ", TOKEN, ""],
      ['{"args":["deploy","--token","', TOKEN, '"]}'],
      ["['deploy', '--password', '", PASSWORD, "', 'x']"],
      ['ENTRYPOINT ["run", "--pass", "', PASSWORD, '"]'],
      ["cast send --private-key ", `0x${HEX}`, " --rpc-url http://x"],
      ["cast send --private-key=", HEX, ""],
      ['["cast", "send", "--private-key", "', `0x${HEX}`, '"]'],
      ["tool --private-key '", `${TOKEN}${TOKEN}/+AA=`, "' x"],
      ["tool --wallet-private-key ", `${TOKEN}${TOKEN}${TOKEN}`, " x"],
    ]);
  });

  test("[REDACT-23] lose it in lists of arguments, also where the list is known and the flag is new", () => {
    const args = (secret: string) => ({ argv: ["deploy", "--token", secret, "--force", "--password", secret, "x1"] });
    expect(KNOWN_SHAPES.json(args(TOKEN))).toEqual(args("[redacted:assigned-secret]"));
    const known = ["deploy", "--tag", TOKEN];
    expect(KNOWN_SHAPES.json(known)).toBe(known);
    expect(KNOWN_SHAPES.json(["deploy", "--token", TOKEN], known)).toEqual([
      "deploy",
      "--token",
      "[redacted:assigned-secret]",
    ]);
    const keys = (key: string) => ["cast", "--private-key", key, "--private-key", "keys/id_ed25519-of-old"];
    expect(KNOWN_SHAPES.json(keys(`0x${HEX}`))).toEqual(keys("[redacted:assigned-secret]"));
    const open = ["tool", "--token-limit", "q7Gk29sLq0Zx81", "--password", "$PASSWORD_1", "--token", "--force-v2-now"];
    expect(KNOWN_SHAPES.json(open)).toBe(open);
    expect(new Redactor({ shapes: false }).json(args(TOKEN))).toEqual(args(TOKEN));
  });

  test("[REDACT-23] [REDACT-3] keep everything behind other flags, and words about flags", () => {
    staysIn([
      "tool --token-limit 5000000k --max-token 4096tokens",
      "aws s3 ls --starting-token q7Gk29sLq0Zx81Vb44 --next-token q7Gk29sLq0Zx81Vb44",
      "docker login --password-stdin registry1.internal/v2/x",
      "docker build --secret id=npmrc2file,src=.npmrc .",
      "ssh-tool --private-key keys/id_ed25519-x --credentials creds2-x.json",
      "ssh-tool --private-key build/keys2026/ProductionSigningKeys/ReleaseKey01OfTheHouse",
      "ssh-tool --private-key /run/secrets/ProductionSigningKeys2026ReleaseKey01OfTheHouse",
      "ssh-tool --private-key id_ed25519_production_2026_of_the_house_that_we_built",
      "ssh-tool --private-key ProductionSigningKeys2026ReleaseKey01OfTheHouse",
      "ssh-tool --private-key ProductionSigningKeys2026ReleaseKey01OfTheHouseThatWeBuiltForOurselves.pem",
      `gpg-tool --signing-key ${HEX}`,
      "tool --private-key q7Gk29sLq0Zx81",
      "tool --token <token1234> --password $PASSWORD_1 --api-key ${API_KEY_1} --pass xxxxxxxx1",
      "tool --token your-token-123 --password changeme123",
      "pass `--token` or `--password`, as in version 2024-10-21b of the guide",
      "Use --password argon2id if you must, and --token bearer1",
      'parser.add_argument("--token", help="the token of v1.2.3-beta")',
      'program.option("--password <password>", "what opens it since v1.2.3-beta")',
      "type Options = { token: number; password?: string; apiKey?: string }",
      "the rest--token q7Gk29sLq0Zx81Vb44 of it, and ----token q7Gk29sLq0Zx81Vb44",
      "give --token, v1.2.3-beta4 or later, or the `--password` 2024-10-21b-style",
    ]);
  });
});

describe("names beside values", () => {
  test("[REDACT-24] hide the value in lists of settings, and in markup", () => {
    hidesNothingElse([
      ['[{"name":"API_KEY","value":"', TOKEN, '"}]'],
      ['{\n  "name": "DB_PASSWORD",\n      "value": "', PASSWORD, '"\n}'],
      ["{'Key': 'GITHUB_TOKEN', 'Value': '", TOKEN, "'}"],
      ["env:\n  - name: API_KEY\n    value: ", TOKEN, "\n"],
      ["env:\n  - name: API_KEY\n    value: '", TOKEN, "'\n"],
      ['<add key="Password" value="', PASSWORD, '"/>'],
      ['<input type="password" value="', PASSWORD, '">'],
      ["<password>", PASSWORD, "</password>"],
      ["<password>", "p4ss,word&amp;(x)", "</password>"],
      ["<ns:db.Password>", PASSWORD, "</ns:db.Password>"],
      ["<apiKey>", TOKEN, "</apiKey>"],
      ["\\u003cpassword\\u003e", PASSWORD, "\\u003c/password\\u003e"],
      ["<password><![CDATA[", PASSWORD, "]]></password>"],
      ["<db:Password><![CDATA[", "h7nter<2>&of-old", "]]></db:Password>"],
      ["\\u003cpassword\\u003e\\u003c![CDATA[", PASSWORD, "]]\\u003e\\u003c/password\\u003e"],
    ]);
  });

  test("[REDACT-24] hide it in fields, whichever stands first, also where the value is known and the name is new", () => {
    const env = (secret: string) => [
      { name: "API_KEY", value: secret },
      { value: secret, type: "plain", name: "db_password" },
      { Key: "SESSION_TOKEN", Value: secret },
      { name: "REGION", value: "eu-west-1a" },
    ];
    expect(KNOWN_SHAPES.json(env(TOKEN))).toEqual(env("[redacted:assigned-secret]"));
    const known = { name: "ETAG", value: TOKEN };
    expect(KNOWN_SHAPES.json(known)).toBe(known);
    expect(KNOWN_SHAPES.json({ name: "API_KEY", value: TOKEN }, known)).toEqual({
      name: "API_KEY",
      value: "[redacted:assigned-secret]",
    });
    expect(new Redactor({ shapes: false }).json(env(TOKEN))).toEqual(env(TOKEN));
  });

  test("[REDACT-24] [REDACT-3] keep values beside other names, and markup about secrets", () => {
    staysIn([
      '[{"name":"REGION","value":"eu-west-1a"},{"name":"KEY_COUNT","value":"q7Gk29sLq0Zx81"}]',
      '{"name":"API_KEY","value":"${API_KEY_1}"}',
      '{"name":"API_KEY","valueFrom":{"secretKeyRef":{"name":"db-2-access","key":"v1-password"}}}',
      'output "db" {\n  description = "Name of the secret"\n  value       = "prod-db-2"\n}',
      "kind: Secret\nvalue: prod-db-20",
      "<password>changeme123</password> <password>${DB_PASSWORD_1}</password> <password></password>",
      '<label for="password">Password1</label>',
      '<input type="password" name="v1-field" placeholder="your password, 8 to 20">',
      "if (user.password>limit12345) return;",
      "<b>password>limit12345</b>",
      "usage: login <password>v1.2.3-beta4 or later",
      "of this type; password, value: v1.2.3-beta4",
      "const f = (password) => password1234;",
      "type A = Map<Secret, Password>; const b: Promise<password> = load1234();",
      "<token>q7Gk29sLq0Zx81Vb44TnPw3e</token>",
      "<password><![CDATA[changeme123]]></password> <password><![CDATA[]]></password> <password><![CDATA[${DB_1}]]></password>",
      "<password><![CDATA[what opens it since v1.2.3-beta]]></password>",
      "<summary><![CDATA[q7Gk29sLq0Zx81Vb44TnPw3e]]></summary>",
      "<password><![CDATA[v1.2.3-beta4 or later, and no end",
    ]);
    const fields = [
      { name: "password", value: 12 },
      { name: "token", value: "q7Gk29sLq0Zx81" },
      { name: ["API_KEY"], value: "q7Gk29sLq0Zx81" },
    ];
    expect(KNOWN_SHAPES.json(fields)).toBe(fields);
  });
});
