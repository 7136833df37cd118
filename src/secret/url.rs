//! Credentials in URLs: `scheme://user:password@host` (RFC 3986, 3.2.1), and the addresses
//! that let anybody who has them write into a channel.

use super::Secret;
use super::random::{has_digit, is_random, is_stand_in, is_tried};

/// Reads the URL whose `:` is at `at`.
pub(super) fn read(text: &str, at: usize, found: &mut Vec<Secret>) {
    let Some(rest) = text[at..].strip_prefix("://") else { return };
    let has_scheme = at > 0 && text.as_bytes()[at - 1].is_ascii_alphanumeric();
    if !has_scheme {
        return;
    }
    let start = at + 3;
    user_info(text, start, rest, found);
    webhook(text, start, rest, found);
}

fn user_info(text: &str, start: usize, rest: &str, found: &mut Vec<Secret>) {
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<' | '>' | '|' | '\\' | ',');
    let whole = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    // The last `@`: people forget to encode the one in a password.
    let Some((user_info, host)) = whole.rsplit_once('@') else { return };
    let Some((user, password)) = user_info.split_once(':') else { return };
    if is_password(user, password, host) {
        let start = start + user.len() + 1;
        debug_assert!(text[start..].starts_with(password), "offsets");
        found.push(Secret::named("password in a URL", start, start + password.len()));
    }
}

/// Whether a password is meant to be one: what every manual writes is none.
fn is_password(user: &str, password: &str, host: &str) -> bool {
    let is_code = password.starts_with(['$', '{', '%', '[', '(', '*', ':', '#'])
        || password.contains(['{', '}', '(', ')', '$'])
        || password.starts_with("...");
    let is_example = ["example.", "foo", "bar.", "host"].iter().any(|word| host.starts_with(word))
        || host.contains("example.");
    password.chars().count() >= 6
        && !is_code
        && !is_example
        && !is_stand_in(password)
        && !password.eq_ignore_ascii_case(user)
        && !is_tried(password)
        && (has_digit(password) || password.len() >= 12)
}

/// Slack: "Incoming webhooks"; Discord: "Webhooks", execute.
fn webhook(text: &str, start: usize, rest: &str, found: &mut Vec<Secret>) {
    let kinds = [
        ("Slack webhook", "hooks.slack.com/services/", 24),
        ("Slack webhook", "hooks.slack.com/workflows/", 24),
        ("Discord webhook", "discord.com/api/webhooks/", 60),
        ("Discord webhook", "discordapp.com/api/webhooks/", 60),
    ];
    for (kind, prefix, least) in kinds {
        let Some(path) = rest.strip_prefix(prefix) else { continue };
        let is_of = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_');
        let length = path.bytes().take_while(|byte| is_of(byte)).count();
        if length >= least && is_random(&path[..length]) {
            let from = start + prefix.len();
            debug_assert!(text.len() >= from + length, "offsets");
            found.push(Secret::shaped(kind, from, from + length));
        }
    }
}
