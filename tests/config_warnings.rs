//! What `harness.json` says and does not hold is told, with its place.

use harness_layers::config::{Config, Orphans, parse};
use harness_layers::note::Approval;

fn warnings(text: &str) -> Vec<String> {
    parse(Some(text.as_bytes())).1.iter().map(ToString::to_string).collect()
}

#[test]
fn nothing_is_said_of_a_missing_file_of_nulls_and_of_unknown_keys() {
    assert_eq!(parse(None), (Config::default(), Vec::new()));
    assert_eq!(warnings(r#"{"autoImport": null, "injection": null, "layers": null, "other": [1]}"#), [""; 0]);
}

#[test]
fn malformed_json_has_a_line_and_a_column() {
    for (text, warning) in [
        ("", "1:1: not JSON: expected a value; all settings are at their defaults"),
        (
            "{\n  \"é\": 1,\n}",
            "3:1: not JSON: expected a key in double quotes; all settings are at their defaults",
        ),
        ("{\"é\": 01}", "1:8: not JSON: expected `,` or `}`; all settings are at their defaults"),
        ("[1]", "1:1: expected an object, found an array; all settings are at their defaults"),
    ] {
        assert_eq!(warnings(text), [warning], "{text}");
    }
    let bom = parse(Some("\u{feff}{}".as_bytes())).1;
    assert_eq!(bom[0].help, "save the file without a byte order mark");
}

#[test]
fn a_malformed_value_is_named_and_leaves_the_others_alone() {
    let text = "{\n  \"injection\": {\n    \"maxTokens\": \"300\",\n    \"maxPerKind\": 4\n  },\n  \"remindRefine\": {\"enabled\": \"no\"}\n}";
    let (config, warnings) = parse(Some(text.as_bytes()));
    assert_eq!((config.injection.max_tokens, config.injection.max_per_kind), (1500.0, 4.0));
    assert!(!config.remind_refine.enabled.value);
    assert_eq!(config.to_pi_json()["remindRefine"]["enabled"], "no");
    assert_eq!(config.to_json()["remindRefine"]["enabled"], false);
    let told: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "6:31: `remindRefine.enabled`: expected true or false, found \"no\"; using false",
            "3:18: `injection.maxTokens`: expected a number above 0, found \"300\"; using 1500",
        ]
    );
    assert_eq!(warnings[1].key.as_deref(), Some("injection.maxTokens"));
}

#[test]
fn our_own_keys_stand_in_one_object() {
    let text = r#"{"layers": {"orphans": "none", "projects": {"/srv/a": "a", "/srv/b": "B!", "/srv/c": null},
        "approval": {"online": "pending"}, "repoShare": 0.25, "settleMs": 0, "holdSeconds": 1.5, "lockTimeoutMs": 9e9}}"#;
    let (config, warnings) = parse(Some(text.as_bytes()));
    let own = &config.layers;
    assert_eq!((own.orphans, own.approval_online), (Orphans::None, Approval::Pending));
    assert_eq!(own.projects.iter().collect::<Vec<_>>(), [(&"/srv/a".to_owned(), &"a".to_owned())]);
    assert_eq!((own.repo_share.to_string(), own.settle_ms), ("0.25".to_owned(), 0));
    assert_eq!((own.hold_seconds, own.lock_timeout_ms), (600, 5000));
    let keys: Vec<_> = warnings.iter().filter_map(|warning| warning.key.as_deref()).collect();
    assert_eq!(keys, ["layers.projects./srv/b", "layers.holdSeconds", "layers.lockTimeoutMs"]);
}

#[test]
fn a_key_of_ours_that_nobody_knows_is_told() {
    let (_, warnings) = parse(Some(br#"{"layers": {"orphan": "none", "settleMs": 5}, "mine": 1}"#));
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["1:23: `layers.orphan` is unknown and does nothing"]
    );
    assert!(warnings[0].help.contains("orphans"));
}

/// Every key with its default, as the manual says it.
#[test]
fn the_manual_has_every_key_with_its_default() {
    fn keys(prefix: &str, value: &serde_json::Value, found: &mut Vec<(String, String)>) {
        match value {
            serde_json::Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    let prefix = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                    keys(&prefix, value, found);
                }
            }
            value => found.push((prefix.to_owned(), value.to_string())),
        }
    }
    let manual = include_str!("../docs/config.md");
    let mut found = Vec::new();
    keys("", &Config::default().to_json(), &mut found);
    for (key, default) in found {
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
        let row = row.unwrap_or_else(|| panic!("{key} is not in docs/config.md"));
        assert!(row.contains(&format!("| `{default}` |")), "{row} should give {default}");
    }
}
