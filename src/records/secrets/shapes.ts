/** Which characters the rest of a secret is made of. */
export type Alphabet = "letters" | "word" | "hex" | "capitals" | "base64" | "dotted";

/**
 * A secret as its issuer writes it: a head that nothing else begins with, and a rest of one alphabet. Lengths are those that
 * issuers document, taken as a least: tokens grow with the years, and half a secret must not stay behind.
 */
export interface SecretShape {
  readonly name: string;
  readonly heads: readonly string[];
  readonly rest: Alphabet;
  readonly least: number;
  readonly most?: number;
  /** Words begin like this too, so it counts only where a word begins. */
  readonly atWordStart?: true;
  /** What chance makes of this many characters has digits and letters of both cases; what people write rarely has. */
  readonly mixed?: "digits" | "cases";
  /** The rest, where it has a form of its own that only begins with that. Bounded in length, so that it cannot be made slow. */
  readonly form?: RegExp;
  /** What stands before the head and belongs to the secret. */
  readonly before?: Lead;
}

export interface Lead {
  readonly of: "letters" | "digits" | "smallHex" | "client";
  readonly least: number;
  readonly most: number;
}

const shape = (
  name: string,
  heads: string,
  rest: Alphabet,
  least: number,
  more: Omit<SecretShape, "name" | "heads" | "rest" | "least"> = {},
): SecretShape => ({ name, heads: heads.split(" "), rest, least, ...more });

const word = { atWordStart: true } as const;

export const SECRET_SHAPES: readonly SecretShape[] = [
  // code hosts
  shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "letters", 36),
  shape("github-fine-grained-token", "github_pat_", "word", 60),
  shape("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-", "word", 20),
  shape("bitbucket-token", "ATBB ATCTT3", "word", 28, { ...word, mixed: "cases" }),
  shape("atlassian-token", "ATATT3", "base64", 60),
  shape("sourcegraph-token", "sgp_", "word", 40, { mixed: "digits" }),
  shape("circleci-token", "CCIPAT_ CCIPRJ_", "word", 40),
  shape("buildkite-token", "bkua_", "hex", 40),
  // clouds
  shape("aws-access-key-id", "AKIA ASIA ABIA ACCA", "capitals", 16, { ...word, most: 16 }),
  shape("google-api-key", "AIza", "word", 35, { ...word, most: 35 }),
  shape("google-oauth-secret", "GOCSPX-", "word", 28),
  shape("google-oauth-token", "ya29.", "word", 30, word),
  shape("google-refresh-token", "1//0", "word", 30, { ...word, mixed: "cases" }),
  shape("alibaba-access-key", "LTAI", "letters", 20, { ...word, most: 24, mixed: "cases" }),
  shape("tencent-secret-id", "AKID", "letters", 32, { ...word, most: 36, mixed: "cases" }),
  shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "hex", 64),
  shape("cloudflare-origin-key", "v1.0-", "hex", 24, { ...word, form: /[0-9a-f]{24}-[0-9a-f]{146}/y }),
  shape("heroku-key", "HRKU-", "word", 36),
  shape("flyio-token", "fo1_ fm1_ fm2_", "base64", 40, word),
  shape("render-key", "rnd_", "letters", 32, word),
  shape("netlify-token", "nfp_", "letters", 36, word),
  shape("vercel-blob-token", "vercel_blob_rw_", "word", 30),
  shape("supabase-key", "sbp_ sb_secret_", "word", 30, { ...word, mixed: "digits" }),
  shape("planetscale-token", "pscale_pw_ pscale_tkn_ pscale_oauth_", "word", 32),
  shape("databricks-token", "dapi", "hex", 32, word),
  shape("hashicorp-vault-token", "hvs. hvb. hvr.", "word", 24, word),
  shape("terraform-cloud-token", ".atlasv1.", "word", 60, { before: { of: "letters", least: 14, most: 14 } }),
  shape("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "dotted", 40, word),
  shape("pulumi-token", "pul-", "hex", 40, word),
  shape("tailscale-key", "tskey-", "word", 20, word),
  shape("openshift-token", "sha256~", "word", 43),
  shape("azure-client-secret", "8Q~ 7Q~ 6Q~", "word", 31, {
    mixed: "cases",
    before: { of: "client", least: 3, most: 3 },
  }),
  // models
  shape("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", "word", 40, word),
  shape("anthropic-key", "sk-ant-", "word", 40, word),
  shape("openrouter-key", "sk-or-v1-", "hex", 64, word),
  shape("secret-key", "sk-", "word", 32, { ...word, mixed: "digits" }),
  shape("huggingface-token", "hf_ api_org_", "letters", 34, word),
  shape("replicate-token", "r8_", "letters", 37, word),
  shape("groq-key", "gsk_", "letters", 48, word),
  shape("perplexity-key", "pplx-", "letters", 40, word),
  shape("xai-key", "xai-", "letters", 70, word),
  shape("nvidia-key", "nvapi-", "word", 60, word),
  shape("tavily-key", "tvly-", "word", 30, { ...word, mixed: "digits" }),
  shape("langsmith-key", "lsv2_pt_ lsv2_sk_", "word", 40),
  // packages
  shape("npm-token", "npm_", "letters", 36, word),
  shape("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", "word", 50),
  shape("rubygems-key", "rubygems_", "hex", 48),
  shape("crates-token", "cio", "letters", 32, { ...word, most: 32, mixed: "cases" }),
  shape("docker-token", "dckr_pat_ dckr_oat_", "word", 27),
  shape("clojars-token", "CLOJARS_", "letters", 60),
  shape("artifactory-key", "AKCp", "letters", 65, { ...word, mixed: "cases" }),
  // messages and mail
  shape("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe. xapp-", "dotted", 20),
  shape("slack-webhook", "hooks.slack.com/services/", "base64", 40),
  shape("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", "base64", 60),
  shape("telegram-bot-token", ":AA", "word", 32, {
    most: 34,
    mixed: "cases",
    before: { of: "digits", least: 8, most: 10 },
  }),
  shape("sendgrid-key", "SG.", "word", 20, { ...word, form: /[\w-]{20,24}\.[\w-]{39,50}/y }),
  shape("mailgun-key", "key-", "hex", 32, { ...word, most: 32 }),
  shape("brevo-key", "xkeysib- xsmtpsib-", "word", 64),
  shape("twilio-key", "SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKa SKb SKc SKd SKe SKf", "hex", 31, {
    ...word,
    most: 31,
  }),
  // money
  shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", "letters", 20, word),
  shape("stripe-webhook-secret", "whsec_", "base64", 32, word),
  shape("square-token", "sq0atp- sq0csp- sq0idp-", "word", 22),
  shape("shopify-token", "shpat_ shpss_ shpca_ shppa_", "hex", 32),
  shape("shippo-token", "shippo_live_ shippo_test_", "hex", 40),
  shape("easypost-key", "EZAK EZTK", "letters", 54, word),
  // products
  shape("linear-key", "lin_api_ lin_oauth_", "letters", 32),
  shape("notion-token", "ntn_ secret_", "letters", 43, { ...word, mixed: "cases" }),
  shape("airtable-token", "pat", "letters", 14, { ...word, form: /[A-Za-z0-9]{14}\.[0-9a-f]{64}/y }),
  shape("figma-token", "figd_", "word", 38, word),
  shape("postman-key", "PMAK-", "hex", 24, { form: /[0-9a-f]{24}-[0-9a-f]{34}/y }),
  shape("newrelic-key", "NRAK- NRII- NRIQ-", "word", 24),
  shape("grafana-token", "glsa_ glc_", "base64", 32, word),
  shape("sentry-token", "sntrys_ sntryu_", "base64", 50),
  shape("dynatrace-token", "dt0c01. dt0s16. dt0s02.", "capitals", 20, { form: /[A-Z2-7]{20,26}\.[A-Z2-7]{60,66}/y }),
  shape("onepassword-token", "ops_eyJ", "word", 100),
  shape("dropbox-token", "sl.", "word", 120, word),
  shape("facebook-token", "EAA", "letters", 90, { ...word, mixed: "cases" }),
  shape("mailchimp-key", "-us", "hex", 1, {
    ...word,
    most: 2,
    form: /\d{1,2}(?!\w)/y,
    before: { of: "smallHex", least: 32, most: 32 },
  }),
  shape("age-secret-key", "AGE-SECRET-KEY-1", "letters", 58),
];
