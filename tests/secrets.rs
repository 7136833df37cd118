//! What is taken for a credential, and what is not. Every value is made up at run time: none
//! stands in this repository.

#![expect(clippy::unwrap_used, reason = "a failed test is to panic")]

use harness_layers::secret::{Values, blot, find, mask, mask_value, seal};
use proptest::prelude::*;

/// A credential: what it is called, a text that holds it, and the part that was drawn.
#[derive(Clone, Debug)]
struct Canary {
    kind: &'static str,
    text: String,
    drawn: String,
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HEX: &str = "abcdef";

/// So many characters, every third a digit, so that no word comes about.
fn draw(seed: u64, letters: &str, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut drawn = String::new();
    for at in 0..length {
        if at % 3 == 2 {
            // Never one after the other.
            drawn.push(char::from(b"0729583614"[(next(5) * 2 + at / 3) % 10]));
        } else {
            drawn.push(char::from(letters.as_bytes()[next(letters.len())]));
        }
    }
    drawn
}

/// One of every kind.
fn canaries(seed: u64) -> Vec<Canary> {
    let mut all = Vec::new();
    let mut add = |kind: &'static str, before: &[&str], letters: &str, length: usize, behind: &str| {
        let drawn = draw(seed + all.len() as u64 * 7919, letters, length);
        all.push(Canary { kind, text: [&before.concat(), drawn.as_str(), behind].concat(), drawn });
    };
    for prefix in ["p", "o", "u", "s", "r"] {
        add("GitHub token", &["gh", prefix, "_"], LETTERS, 36, "");
    }
    add("GitHub token", &["github", "_pat_"], LETTERS, 82, "");
    add("GitLab token", &["glp", "at-"], LETTERS, 20, "");
    add("GitLab token", &["gld", "t-"], LETTERS, 20, "");
    add("AWS access key id", &["AK", "IA"], UPPER, 16, "");
    add("AWS access key id", &["AS", "IA"], UPPER, 16, "");
    add("Slack token", &["xox", "b-714035928461-"], LETTERS, 24, "");
    add("Slack token", &["xap", "p-1-A0B1C2D3-"], LETTERS, 40, "");
    add("Slack webhook", &["https://hooks.slack", ".com/services/"], LETTERS, 40, "");
    add("Stripe key", &["sk_", "live_"], LETTERS, 24, "");
    add("Stripe key", &["rk_", "test_"], LETTERS, 24, "");
    add("Stripe webhook secret", &["whs", "ec_"], LETTERS, 32, "");
    add("Google API key", &["AI", "za"], LETTERS, 35, "");
    add("Google OAuth secret", &["GOC", "SPX-"], LETTERS, 28, "");
    add("Google OAuth token", &["ya", "29."], LETTERS, 60, "");
    add("OpenAI API key", &["sk-", "proj-"], LETTERS, 120, "");
    add("OpenAI API key", &["s", "k-"], LETTERS, 48, "");
    add("Anthropic API key", &["sk-", "ant-api03-"], LETTERS, 95, "");
    add("OpenRouter API key", &["sk-", "or-v1-"], HEX, 64, "");
    add("npm token", &["np", "m_"], LETTERS, 36, "");
    add("PyPI token", &["pypi-", "AgE"], LETTERS, 120, "");
    add("RubyGems API key", &["ruby", "gems_"], HEX, 48, "");
    add("Hugging Face token", &["h", "f_"], LETTERS, 34, "");
    add("Twilio API key", &["S", "K"], HEX, 32, "");
    add("DigitalOcean token", &["dop", "_v1_"], HEX, 64, "");
    add("Databricks token", &["da", "pi"], HEX, 32, "");
    add("Docker token", &["dckr", "_pat_"], LETTERS, 27, "");
    add("Shopify token", &["shp", "at_"], HEX, 32, "");
    add("Linear API key", &["lin", "_api_"], LETTERS, 40, "");
    add("Notion token", &["nt", "n_"], LETTERS, 46, "");
    add("Vault token", &["hv", "s."], LETTERS, 90, "");
    add("Grafana token", &["gl", "sa_"], LETTERS, 41, "");
    add("Sentry token", &["sntr", "yu_"], HEX, 64, "");
    add("Supabase token", &["sb", "p_"], HEX, 40, "");
    add("Pulumi token", &["pu", "l-"], HEX, 40, "");
    add("Telegram bot token", &["7140359284", ":AA"], LETTERS, 33, "");
    add("age private key", &["AGE-SECRET", "-KEY-1"], UPPER, 58, "");
    add("Figma token", &["fig", "d_"], LETTERS, 40, "");
    add("Postman API key", &["PM", "AK-"], HEX, 59, "");
    add("New Relic key", &["NR", "AK-"], UPPER, 27, "");
    add("Tailscale key", &["tsk", "ey-auth-"], LETTERS, 40, "");
    add("xAI API key", &["xa", "i-"], LETTERS, 80, "");
    add("Groq API key", &["gs", "k_"], LETTERS, 52, "");
    add("Replicate token", &["r", "8_"], LETTERS, 37, "");
    add("password in a URL", &["postgres://app:"], LETTERS, 14, "@db.internal:5432/app");
    add("password in a URL", &["redis://:"], LETTERS, 14, "@cache.internal");
    add("password", &["Password for the test box: CANARY-"], LOWER, 12, "");
    add("password", &["the admin password is "], LETTERS, 12, "");
    add("password", &["passphrase `"], LETTERS, 12, "` opens it");
    add("password", &["DB_PASSWORD="], LETTERS, 12, "");
    add("password", &["\"password\": \""], LETTERS, 12, "\"");
    add("password", &["**Password:** "], LETTERS, 12, "");
    add("password", &["password:\n  "], LETTERS, 12, "");
    add("API key", &["api_key = \""], LETTERS, 24, "\"");
    add("API key", &["apiKey: '"], HEX, 32, "'");
    add("token", &["token="], LETTERS, 24, "");
    add("token", &["Authorization: Bearer "], LETTERS, 32, "");
    add("credential", &["Authorization: Basic "], LETTERS, 24, "");
    add("secret", &["client-secret: "], LETTERS, 32, "");
    add("secret", &["AccountName=a;AccountKey="], LETTERS, 86, "==;EndpointSuffix=x");
    add("secret", &["SharedAccessKey="], LETTERS, 43, "=");
    add("secret", &["aws_secret_access_key = "], LETTERS, 40, "");
    let first = draw(seed + 1, LETTERS, 22);
    let second = draw(seed + 2, LETTERS, 43);
    all.push(Canary { kind: "SendGrid API key", text: format!("SG.{first}.{second}"), drawn: second });
    let signature = draw(seed + 3, LETTERS, 43);
    let text = ["ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiI3In0x.", &signature].concat();
    all.push(Canary { kind: "JSON Web Token", text, drawn: signature });
    for (label, eol) in [
        ("RSA PRIVATE KEY", "\n"),
        ("PRIVATE KEY", "\r\n"),
        ("OPENSSH PRIVATE KEY", "\\n"),
        ("PGP PRIVATE KEY BLOCK", "\n  "),
    ] {
        let drawn = draw(seed + 4, LETTERS, 64);
        let lines = [
            format!("-----BEGIN {label}-----"),
            drawn.clone(),
            "q7Zk2w==".into(),
            format!("-----END {label}-----"),
        ];
        all.push(Canary { kind: "private key", text: lines.join(eol), drawn });
    }
    all
}

/// Whether six characters in a row of the drawn part are left.
fn leaks(text: &str, drawn: &str) -> bool {
    (0..drawn.len().saturating_sub(5)).any(|at| text.contains(&drawn[at..at + 6]))
}

#[test]
fn every_kind_is_found_and_named() {
    for canary in canaries(11) {
        let found = find(&canary.text);
        let kinds: Vec<_> = found.iter().map(|secret| secret.kind).collect();
        assert_eq!(kinds, [canary.kind], "{:?}", blot(&canary.text));
        assert!(!leaks(&mask(&canary.text), &canary.drawn), "{}", canary.kind);
    }
}

#[test]
fn a_secret_key_behind_the_id_of_its_key_is_found() {
    let (id, secret) = (draw(1, UPPER, 16), draw(2, LETTERS, 40));
    let text = ["Use AK", "IA", &id, " / ", &secret, " for S3."].concat();
    assert_eq!(mask(&text), "Use [masked: AWS access key id] / [masked: AWS secret access key] for S3.");
}

#[test]
fn a_value_is_masked_where_it_stands_alone_too() {
    let value = draw(5, LETTERS, 16);
    let text = format!("Password: {value}\nType {value} twice.");
    assert_eq!(mask(&text), "Password: [masked: password]\nType [masked: password] twice.");
}

#[test]
fn a_key_that_is_cut_off_is_masked_to_its_end() {
    let (one, two) = (draw(6, LETTERS, 64), draw(7, LETTERS, 30));
    let text = format!("-----BEGIN PRIVATE KEY-----\n{one}\n{two}\n\nand so on");
    assert_eq!(mask(&text), "[masked: private key]\n\nand so on");
}

/// What only talks about credentials, stands for one, or is another kind of letters and
/// digits.
#[test]
fn what_is_none_is_left_alone() {
    let example = ["AKIAIOSF", "ODNN7EXAMPLE"].concat();
    let clean = [
        example.as_str(),
        "sk-...",
        "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_<your token here>",
        "token: <token>",
        "export TOKEN=${TOKEN}",
        "TOKEN=$GITHUB_TOKEN",
        "password: changeme",
        "password: hunter2",
        "password = os.environ['DB_PASSWORD_2']",
        "const apiKey = process.env.API_KEY_V2;",
        "api_key: config.auth.apiKey2",
        "token budget: 1500",
        "maxTokens: 150000",
        "password_hash: see users.password",
        "The password for the box is in 1Password.",
        "Password: see the vault entry `box/test-2`",
        "secret: projects/acme/secrets/db-password-2/versions/3",
        "postgres://postgres:postgres@localhost:5432/app",
        "https://user:password@example.com/",
        "postgres://app:${DB_PASSWORD}@db/app",
        "http://localhost:8080/a@b",
        "commit 3f2a9c1b7d4e5f60718293a4b5c6d7e8f9012345",
        "id: 550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "integrity sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "The file starts with `-----BEGIN RSA PRIVATE KEY-----`.",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAzL5p\n-----END PUBLIC KEY-----",
        "render_pass: RenderPass2D, pass: 2",
        "let token = lexer.next_token2();",
        "Bearer tokens are checked in auth/bearer_v2.rs",
        "basic_auth_v2_handler and pass_through_mode_3",
        "The key is `shift-ctrl-f12`.",
        "primary key: user_id_v2, foreign_key: account_id_v2",
        "NextToken: U2FsdGVkX1UprCPzxVbkDeHikDXbDxfgJZ1w2RG1",
        "--client-request-token a8ca07e4-61ec-4399-99f4-19853801bcd5",
        "[masked: GitHub token]",
        "password: [masked: password]",
        "Password for the box: [masked: password #1f0c93aa]",
        "[masked: Slack token #1f0c93aa] and [masked: token #77a0b1c2]",
    ];
    for text in clean {
        let kinds: Vec<_> = find(text).iter().map(|secret| secret.kind).collect();
        assert!(kinds.is_empty(), "{kinds:?} in {text:?}");
    }
}

#[test]
fn nothing_that_is_printed_of_a_finding_has_the_value() {
    let canary = canaries(3).remove(0);
    let printed = format!("{:?} {:?}", find(&canary.text), Values::of(&canary.text));
    assert!(!leaks(&printed, &canary.drawn), "{printed:?}");
}

#[test]
fn a_value_under_a_key_of_its_own_is_masked() {
    let value = draw(9, LETTERS, 20);
    assert_eq!(mask_value("api_key", &value), "[masked: API key]");
    assert_eq!(mask_value("revision", &value), value);
}

#[test]
fn two_of_one_kind_are_told_apart_when_sealed() {
    let text = |seed| ["gh", "p_", &draw(seed, LETTERS, 36)].concat();
    assert_ne!(seal(&text(1)), seal(&text(2)));
    assert_eq!(seal(&text(1)), seal(&text(1)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Wherever it stands, it is found, masked to the last character, and opened again.
    #[test]
    fn it_is_found_anywhere(
        seed in 1_u64..1_000_000,
        before in prop::sample::select(vec![
            "", "Use ", "- ", "\"", "'", "`", "(", "```\n", "a\r\nb\r\n", "title: ", "evidence: '", "> ", "é ", "x\\n", "tags: [a, ",
        ]),
        behind in prop::sample::select(vec!["", " now", "\"", "'", "`", ")", "\n```\n", "\r\nb", ".", ", ", "\\n", "]"]),
    ) {
        for canary in canaries(seed) {
            // An assignment needs its sign before it, a quoted one its own quotes.
            let text = format!("{before}{}{behind}", canary.text);
            let masked = mask(&text);
            prop_assert!(!leaks(&masked, &canary.drawn), "{} in {:?}", canary.kind, blot(&text));
            prop_assert_eq!(mask(&masked), masked.as_ref(), "twice");
            let sealed = seal(&text).into_owned();
            prop_assert!(!leaks(&sealed, &canary.drawn));
            prop_assert_eq!(Values::of(&text).open(sealed), text.as_str());
            prop_assert_eq!(blot(&text).chars().count(), text.chars().count());
        }
    }

    /// No text brings it down.
    #[test]
    fn any_text_can_be_looked_at(text in "(password|token|api_key|://|:|=|@| |\"|-----BEGIN PRIVATE KEY-----|é|\\\\n|\n|[a-zA-Z0-9]{0,12}){0,24}") {
        let found = find(&text);
        prop_assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
        prop_assert!(found.iter().all(|secret| text.get(secret.span.start..secret.span.end).is_some()));
        prop_assert_eq!(Values::of(&text).open(seal(&text).into_owned()), text);
    }
}
