//! Credentials that tell by their own shape: what their issuers begin them with, what they
//! are made of and how long they are, as the issuers document it. Where an issuer says only
//! how they begin, the length is what they issue, with room.

use super::Secret;
use super::random::{has_digit, is_random};

/// What a token is made of behind its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Letters and digits.
    Alnum,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`: base64 for URLs.
    Url,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Letters, digits, `+`, `/`, `=`, `_` and `-`: either base64.
    Base64,
    /// Digits and `a` to `f`.
    Hex,
    /// Upper case letters and digits.
    Upper,
}

impl Of {
    const fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// A kind of token: what it is called, how it begins, what it is made of behind that, and
/// how many of these there are at least and at most.
struct Shape {
    kind: &'static str,
    prefix: &'static str,
    of: Of,
    least: usize,
    most: usize,
}

const fn shape(kind: &'static str, prefix: &'static str, of: Of, least: usize, most: usize) -> Shape {
    Shape { kind, prefix, of, least, most }
}

/// More than any token has.
const ANY: usize = 4096;

/// The shapes, in the order of their first two bytes; of several with one beginning the
/// longer prefix first. The source is the issuer's documentation named beside it.
const SHAPES: &[Shape] = &[
    // Square: "Access tokens" (developer.squareup.com).
    shape("Square access token", "EAAA", Of::Url, 60, 64),
    // age: the recipient format of the specification (C2SP), Bech32 in upper case.
    shape("age private key", "AGE-SECRET-KEY-1", Of::Upper, 58, 58),
    shape("age private key", "AGE-SECRET-KEY-PQ-1", Of::Upper, 58, ANY),
    // AWS: "IAM identifiers, unique ID prefixes" (IAM User Guide); ids of long-lived keys, of
    // temporary keys, bearer tokens, context-specific credentials.
    shape("AWS access key id", "AKIA", Of::Upper, 16, 16),
    shape("AWS access key id", "ASIA", Of::Upper, 16, 16),
    shape("AWS access key id", "ABIA", Of::Upper, 16, 16),
    shape("AWS access key id", "ACCA", Of::Upper, 16, 16),
    // Google: "API keys", 39 characters; "OAuth 2.0" for ya29 and GOCSPX.
    shape("Google API key", "AIza", Of::Url, 35, 36),
    shape("Google OAuth secret", "GOCSPX-", Of::Url, 28, 40),
    shape("Google OAuth token", "ya29.", Of::Dotted, 30, ANY),
    // Atlassian: "Manage API tokens"; Bitbucket app passwords.
    shape("Atlassian token", "ATATT3", Of::Base64, 100, ANY),
    shape("Atlassian token", "ATCTT3", Of::Base64, 100, ANY),
    shape("Bitbucket app password", "ATBB", Of::Alnum, 32, 36),
    // Fly.io: "Access tokens".
    shape("Fly.io token", "FlyV1 fm", Of::Base64, 60, ANY),
    // New Relic: "API keys", user keys.
    shape("New Relic key", "NRAK-", Of::Upper, 27, 27),
    // Postman: "API keys".
    shape("Postman API key", "PMAK-", Of::Url, 59, 59),
    // SendGrid: "API keys", two parts of 22 and 43.
    shape("SendGrid API key", "SG.", Of::Dotted, 66, 66),
    // Twilio: "API keys", the SID of a key pair.
    shape("Twilio API key", "SK", Of::Hex, 32, 32),
    // Anthropic: "API keys"; OpenAI: "API keys", project, service account, admin, user;
    // OpenRouter: "Authentication". What else begins with sk- and is long.
    shape("Anthropic API key", "sk-ant-", Of::Url, 32, ANY),
    shape("OpenRouter API key", "sk-or-v1-", Of::Hex, 64, 64),
    shape("OpenAI API key", "sk-proj-", Of::Url, 40, ANY),
    shape("OpenAI API key", "sk-svcacct-", Of::Url, 40, ANY),
    shape("OpenAI API key", "sk-admin-", Of::Url, 40, ANY),
    shape("OpenAI API key", "sk-", Of::Alnum, 32, 128),
    // Stripe: "API keys", secret and restricted, live and test; webhook secrets.
    shape("Stripe key", "sk_live_", Of::Alnum, 16, 250),
    shape("Stripe key", "sk_test_", Of::Alnum, 16, 250),
    shape("Stripe key", "rk_live_", Of::Alnum, 16, 250),
    shape("Stripe key", "rk_test_", Of::Alnum, 16, 250),
    shape("Stripe webhook secret", "whsec_", Of::Base64, 24, 250),
    // Databricks: "Personal access tokens".
    shape("Databricks token", "dapi", Of::Hex, 32, 34),
    // Docker: "Access tokens", of persons and organisations.
    shape("Docker token", "dckr_pat_", Of::Url, 24, 64),
    shape("Docker token", "dckr_oat_", Of::Url, 24, 64),
    // DigitalOcean: "Personal access tokens", OAuth and refresh tokens.
    shape("DigitalOcean token", "dop_v1_", Of::Hex, 64, 64),
    shape("DigitalOcean token", "doo_v1_", Of::Hex, 64, 64),
    shape("DigitalOcean token", "dor_v1_", Of::Hex, 64, 64),
    // Doppler: "Auth token formats".
    shape("Doppler token", "dp.pt.", Of::Alnum, 40, 48),
    shape("Doppler token", "dp.st.", Of::Dotted, 40, 80),
    shape("Doppler token", "dp.ct.", Of::Alnum, 40, 48),
    // Dynatrace: "Access tokens", parts of 24 and 64.
    shape("Dynatrace token", "dt0c01.", Of::Dotted, 89, 89),
    // Figma: "Personal access tokens".
    shape("Figma token", "figd_", Of::Url, 38, 64),
    // GitHub: "Token formats" (About authentication to GitHub); fine-grained ones have 22,
    // `_` and 59.
    shape("GitHub token", "ghp_", Of::Alnum, 36, 255),
    shape("GitHub token", "gho_", Of::Alnum, 36, 255),
    shape("GitHub token", "ghu_", Of::Alnum, 36, 255),
    shape("GitHub token", "ghs_", Of::Dotted, 36, ANY),
    shape("GitHub token", "ghr_", Of::Alnum, 36, 255),
    shape("GitHub token", "github_pat_", Of::Word, 50, 255),
    // GitLab: "Token prefixes" (Token overview): personal, OAuth, deploy, runner, trigger,
    // CI job, feed, incoming mail, agent, SCIM, feature flags.
    shape("GitLab token", "glpat-", Of::Dotted, 20, 320),
    shape("GitLab token", "gloas-", Of::Dotted, 20, 320),
    shape("GitLab token", "gldt-", Of::Dotted, 20, 320),
    shape("GitLab token", "glrt-", Of::Dotted, 20, 320),
    shape("GitLab token", "glptt-", Of::Dotted, 20, 320),
    shape("GitLab token", "glcbt-", Of::Dotted, 20, 320),
    shape("GitLab token", "glft-", Of::Dotted, 20, 320),
    shape("GitLab token", "glimt-", Of::Dotted, 20, 320),
    shape("GitLab token", "glagent-", Of::Dotted, 20, 320),
    shape("GitLab token", "glsoat-", Of::Dotted, 20, 320),
    shape("GitLab token", "glffct-", Of::Dotted, 20, 320),
    // Grafana: "Service accounts", 32, `_`, a checksum of 8; "Cloud access policies".
    shape("Grafana token", "glsa_", Of::Word, 41, 41),
    shape("Grafana token", "glc_", Of::Base64, 40, ANY),
    // Groq: "API keys".
    shape("Groq API key", "gsk_", Of::Alnum, 48, 64),
    // Hugging Face: "User access tokens", organisations' old ones.
    shape("Hugging Face token", "hf_", Of::Alnum, 34, 40),
    shape("Hugging Face token", "api_org_", Of::Alnum, 34, 40),
    // HashiCorp Vault: "Tokens", service, batch and recovery.
    shape("Vault token", "hvs.", Of::Url, 24, ANY),
    shape("Vault token", "hvb.", Of::Url, 24, ANY),
    shape("Vault token", "hvr.", Of::Url, 24, ANY),
    // Linear: "Personal API keys".
    shape("Linear API key", "lin_api_", Of::Alnum, 40, 48),
    shape("Linear API key", "lin_oauth_", Of::Alnum, 40, 64),
    // LangSmith: "API keys".
    shape("LangSmith API key", "lsv2_pt_", Of::Word, 40, 64),
    shape("LangSmith API key", "lsv2_sk_", Of::Word, 40, 64),
    // Netlify: "Personal access tokens".
    shape("Netlify token", "nfp_", Of::Alnum, 36, 40),
    // npm: "Access tokens".
    shape("npm token", "npm_", Of::Alnum, 36, 40),
    // Notion: "Integration tokens", new and old.
    shape("Notion token", "ntn_", Of::Alnum, 44, 50),
    shape("Notion token", "secret_", Of::Alnum, 43, 43),
    // NuGet: "API keys".
    shape("NuGet API key", "oy2", Of::Alnum, 43, 43),
    // Airtable: "Personal access tokens", 14 and 64.
    shape("Airtable token", "pat", Of::Dotted, 79, 79),
    // Perplexity: "API keys".
    shape("Perplexity API key", "pplx-", Of::Alnum, 48, 64),
    // PlanetScale: "Service tokens", passwords.
    shape("PlanetScale token", "pscale_tkn_", Of::Dotted, 32, 64),
    shape("PlanetScale token", "pscale_pw_", Of::Dotted, 32, 64),
    // Pulumi: "Access tokens".
    shape("Pulumi token", "pul-", Of::Hex, 40, 40),
    // PyPI: "API tokens", macaroons: all begin with the location in base64.
    shape("PyPI token", "pypi-AgE", Of::Url, 50, ANY),
    // Replicate: "API tokens".
    shape("Replicate token", "r8_", Of::Alnum, 37, 40),
    // RubyGems: "API key".
    shape("RubyGems API key", "rubygems_", Of::Hex, 48, 48),
    // Supabase: "API keys", personal tokens and secret keys.
    shape("Supabase token", "sbp_", Of::Hex, 40, 40),
    shape("Supabase key", "sb_secret_", Of::Url, 20, 64),
    // Shopify: "Access tokens".
    shape("Shopify token", "shpat_", Of::Hex, 32, 32),
    shape("Shopify token", "shpca_", Of::Hex, 32, 32),
    shape("Shopify token", "shppa_", Of::Hex, 32, 32),
    shape("Shopify token", "shpss_", Of::Hex, 32, 32),
    // Sentry: "Auth tokens", of organisations and users.
    shape("Sentry token", "sntrys_", Of::Base64, 60, ANY),
    shape("Sentry token", "sntryu_", Of::Hex, 64, 64),
    // Square, as above.
    shape("Square token", "sq0atp-", Of::Url, 22, 43),
    shape("Square secret", "sq0csp-", Of::Url, 40, 50),
    // Tailscale: "Keys".
    shape("Tailscale key", "tskey-", Of::Url, 24, 80),
    // Tavily: "API keys".
    shape("Tavily API key", "tvly-", Of::Url, 28, 64),
    // xAI: "API keys".
    shape("xAI API key", "xai-", Of::Alnum, 70, 100),
    // Slack: "Tokens" (docs.slack.dev): bot, user, legacy, refresh, configuration, app.
    shape("Slack token", "xapp-", Of::Url, 30, 255),
    shape("Slack token", "xoxa-", Of::Url, 20, 255),
    shape("Slack token", "xoxb-", Of::Url, 20, 255),
    shape("Slack token", "xoxc-", Of::Url, 20, 255),
    shape("Slack token", "xoxd-", Of::Url, 20, 255),
    shape("Slack token", "xoxe-", Of::Url, 20, 255),
    shape("Slack token", "xoxe.xoxb-", Of::Url, 20, 255),
    shape("Slack token", "xoxe.xoxp-", Of::Url, 20, 255),
    shape("Slack token", "xoxp-", Of::Url, 20, 255),
    shape("Slack token", "xoxr-", Of::Url, 20, 255),
    shape("Slack token", "xoxs-", Of::Url, 20, 255),
    // JSON Web Token: RFC 7519; header and payload are objects, `{"` in base64.
    shape("JSON Web Token", "eyJ", Of::Dotted, 40, ANY),
];

/// For every pair of bytes whether a shape begins with it, a bit each.
const PAIRS: [u64; 1024] = {
    let mut pairs = [0; 1024];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        let pair = ((prefix[0] as usize) << 8) | prefix[1] as usize;
        pairs[pair / 64] |= 1 << (pair % 64);
        at += 1;
    }
    pairs
};

/// No shape.
const NONE: u8 = u8::MAX;

/// The first shape of each pair of bytes, and behind each shape the next one, in the order
/// of the table.
const CHAINS: ([u8; 256], [u8; SHAPES.len()]) = {
    assert!(SHAPES.len() < NONE as usize);
    let (mut first, mut next) = ([NONE; 256], [NONE; SHAPES.len()]);
    let mut at = SHAPES.len();
    while at > 0 {
        at -= 1;
        let prefix = SHAPES[at].prefix.as_bytes();
        let chain = chain(prefix[0], prefix[1]);
        next[at] = first[chain];
        #[expect(clippy::cast_possible_truncation, reason = "below NONE")]
        let here = at as u8;
        first[chain] = here;
    }
    (first, next)
};

const fn chain(first: u8, second: u8) -> usize {
    (first.wrapping_mul(31) ^ second) as usize
}

/// The shapes that begin with these two bytes, and a few others.
fn beginning(first: u8, second: u8) -> impl Iterator<Item = &'static Shape> {
    let mut at = CHAINS.0[chain(first, second)];
    std::iter::from_fn(move || {
        let shape = SHAPES.get(usize::from(at))?;
        at = CHAINS.1[usize::from(at)];
        Some(shape)
    })
}

/// Whether a token may begin with these two bytes.
pub(super) fn may_begin(first: u8, second: u8) -> bool {
    let pair = (usize::from(first) << 8) | usize::from(second);
    PAIRS[pair / 64] & (1 << (pair % 64)) != 0
        // Telegram's bots have their number before the secret.
        || first.is_ascii_digit() && second.is_ascii_digit()
}

/// Reads a token that may begin at `at`, where a word does.
pub(super) fn read(text: &str, at: usize, found: &mut Vec<Secret>) {
    let rest = &text.as_bytes()[at..];
    if rest[0].is_ascii_digit() {
        telegram(text, at, found);
        return;
    }
    for shape in beginning(rest[0], rest[1]) {
        let Some(body) = rest.strip_prefix(shape.prefix.as_bytes()) else { continue };
        let mut length = body.iter().take_while(|byte| shape.of.has(**byte)).count();
        // The full stop of a sentence is none of the token.
        while length > 0 && body[length - 1] == b'.' {
            length -= 1;
        }
        let start = at + shape.prefix.len();
        if length < shape.least || length > shape.most || !is_good(shape, &text[start..start + length]) {
            continue;
        }
        found.push(Secret::shaped(shape.kind, at, start + length));
        if shape.kind == "AWS access key id" {
            aws_secret(text, start + length, found);
        }
        return;
    }
}

/// What more can be asked of a body than its letters and its length.
fn is_good(shape: &Shape, body: &str) -> bool {
    let part = |lengths: &[usize]| {
        let parts: Vec<usize> = body.split('.').map(str::len).collect();
        parts == lengths
    };
    match shape.prefix {
        "eyJ" => return is_web_token(body),
        "SG." => return part(&[22, 43]) && is_random(body),
        "pat" => return part(&[14, 64]) && is_random(body),
        "dt0c01." => return part(&[24, 64]) && is_random(body),
        // Numbers of the workspace stand before the secret.
        _ if shape.kind == "Slack token" => return has_digit(body) && body.contains('-') && is_random(body),
        _ => {}
    }
    // Short prefixes are words of other things too.
    let needs_digit = matches!(shape.prefix, "sk-" | "oy2" | "EAAA" | "SK" | "tskey-" | "secret_");
    (!needs_digit || has_digit(body)) && is_random(body)
}

/// Header, payload and signature, or the five parts of an encrypted one.
fn is_web_token(body: &str) -> bool {
    let parts: Vec<&str> = body.split('.').collect();
    let is_whole = match parts[..] {
        [header, payload, signature] => {
            header.len() >= 12 && payload.len() >= 8 && payload.starts_with("eyJ") && signature.len() >= 20
        }
        [header, key, ..] => parts.len() == 5 && header.len() >= 12 && key.len() + parts[3].len() >= 20,
        _ => false,
    };
    is_whole && is_random(parts[parts.len() - 1])
}

/// The secret that is written down behind the id of its key: 40 of base64, alone.
fn aws_secret(text: &str, from: usize, found: &mut Vec<Secret>) {
    /// How far behind it is looked for, in bytes.
    const NEAR: usize = 200;
    let bytes = text.as_bytes();
    let is_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut at = from;
    while at < bytes.len() && at < from + NEAR {
        let length = bytes[at..].iter().take_while(|byte| is_of(**byte)).count();
        if length == 40 && is_random(&text[at..at + 40]) && has_digit(&text[at..at + 40]) {
            found.push(Secret::shaped("AWS secret access key", at, at + 40));
            return;
        }
        at += length.max(1);
    }
}

/// Telegram: "Bot API, authorizing your bot": the bot's number, `:`, 35 characters, which
/// begin with `AA`.
fn telegram(text: &str, at: usize, found: &mut Vec<Secret>) {
    let rest = &text.as_bytes()[at..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(8..=10).contains(&digits) || !rest[digits..].starts_with(b":AA") {
        return;
    }
    let start = at + digits + 1;
    let length = text.as_bytes()[start..].iter().take_while(|byte| Of::Url.has(**byte)).count();
    if length == 35 && is_random(&text[start..start + length]) {
        found.push(Secret::shaped("Telegram bot token", at, start + length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_prefixes_the_longer_comes_first() {
        for (at, shape) in SHAPES.iter().enumerate() {
            for before in &SHAPES[..at] {
                let is_hidden = shape.prefix.starts_with(before.prefix) && shape.prefix != before.prefix;
                assert!(!is_hidden || before.of != shape.of, "{} hides {}", before.prefix, shape.prefix);
            }
        }
    }
}
