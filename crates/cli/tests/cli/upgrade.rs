//! Shipped rules of a new castellan: written to disk at once and applied when a person is present, but never together
//! with edits that nobody has reviewed.

use serde_json::{Value as Json, json};

use crate::home::Home;

const PACK: &str = "user/.config/castellan/rules/default/10-secrets.yaml";
const MANIFEST: &str = "user/.config/castellan/rules/default/.shipped";
const OWN: &str = "user/.config/castellan/rules/user/mine.yaml";

/// A pack of an earlier castellan, with its SHA-256.
const OLD: (&str, &str) = ("# old\n", "51b504a673e6f1060fcf27c4f9b7908f1a51646255dcdfadbef91d7a03e1d5a6");

fn pending(home: &Home) -> Json {
    serde_json::from_str::<Json>(&home.run(&["status", "--json"]).stdout).unwrap()["pending"].clone()
}

/// Returns a home with the pack of an earlier castellan in force; `None` if the test cannot act as a person.
fn outdated() -> Option<(Home, String)> {
    let home = Home::new();
    home.run_ok(&["install", "--no-agents"]);
    let new = home.read(PACK);
    let line = |line: &str| match line.strip_suffix(" 10-secrets.yaml") {
        Some(_) => format!("{} 10-secrets.yaml\n", OLD.1),
        None => format!("{line}\n"),
    };
    home.write(MANIFEST, home.read(MANIFEST).lines().map(line).collect::<String>());
    home.write(PACK, OLD.0);
    let done = home.run_as_person(&["apply", "--yes"])?;
    assert_eq!((done.code, pending(&home)), (Some(0), json!([])), "{done:?}");
    Some((home, new))
}

#[test]
fn updated_rules_wait_for_a_person() {
    let Some((home, new)) = outdated() else { return };
    let done = home.run(&["install", "--no-agents"]);
    assert_eq!((done.code, home.read(PACK)), (Some(6), new), "{done:?}");
    assert!(done.stdout.contains("rules updated"), "{done:?}");
    assert!(
        done.stderr.contains("not in force yet: castellan apply (this needs a person at a terminal)"),
        "{done:?}"
    );
    let waiting = json!(["default/10-secrets.yaml"]);
    assert_eq!(pending(&home), waiting);
    assert!(
        home.run(&["status"])
            .stdout
            .contains("not in force until `castellan apply`: default/10-secrets.yaml")
    );
    assert!(home.run_ok(&["start"]).contains("default/10-secrets.yaml"));

    let done = home.run_as_person(&["install", "--no-agents"]).unwrap();
    assert_eq!((done.code, pending(&home)), (Some(0), json!([])), "{done:?}");
    assert!(done.stdout.contains("rules applied  default/10-secrets.yaml"), "{done:?}");
    let done = home.run_ok(&["install", "--no-agents"]);
    assert!(done.starts_with("nothing to do"), "{done}");
}

#[test]
fn a_start_brings_updated_rules_but_does_not_apply_them() {
    let Some((home, new)) = outdated() else { return };
    let restarted = home.run_as_person(&["restart"]).unwrap();
    assert_eq!(home.read(PACK), new);
    assert!(restarted.stdout.contains("not in force until `castellan apply`"), "{restarted:?}");
    let done = home.run_as_person(&["install", "--no-agents"]).unwrap();
    assert_eq!((done.code, pending(&home)), (Some(0), json!([])), "{done:?}");
}

/// A pack that was shipped as a rule file before it became built in.
const RETIRED: (&str, &str) =
    ("user/.config/castellan/rules/default/80-self.yaml", include_str!("80-self.yaml"));

/// Installs over an earlier castellan's home with that pack in force, changed by `edit`. Checks whether the pack
/// remains, and that nothing is pending.
fn check_retired(edit: fn(&str) -> String, stays: bool) {
    let home = Home::new();
    home.run_ok(&["install", "--no-agents"]);
    let text = edit(RETIRED.1);
    home.write(RETIRED.0, &text);
    let Some(done) = home.run_as_person(&["apply", "--yes"]) else { return };
    assert_eq!((done.code, pending(&home)), (Some(0), json!([])), "{done:?}");
    let hash = "c9dc8d0df1a4d36010dda442deadda5319a532ffbbd2cd41632a80c019bbccf7";
    home.write(MANIFEST, format!("{}{hash} 80-self.yaml\n", home.read(MANIFEST)));
    let done = home.run_as_person(&["install", "--no-agents"]).unwrap();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!((home.path(RETIRED.0).exists(), pending(&home)), (stays, json!([])), "{done:?}");
}

#[test]
fn a_pack_that_is_built_in_by_now_goes_without_an_apply() {
    check_retired(str::to_owned, false);
    check_retired(|text| format!("{text}# mine\n"), true);
}

#[test]
fn an_install_applies_no_edit_that_nobody_has_seen() {
    let check = |file: &str, text: &str| {
        let Some((home, _)) = outdated() else { return };
        home.write(file, text);
        let done = home.run_as_person(&["install", "--no-agents"]).unwrap();
        assert_eq!(done.code, Some(6), "{file}: {done:?}");
        assert!(done.stderr.contains("edited files wait until somebody looks"), "{file}: {done:?}");
        assert!(!pending(&home).as_array().unwrap().is_empty(), "{file}");
    };
    check(OWN, "- list: mine\n  items: []\n");
    check("user/.config/castellan/config.toml", "version = 1\nmode = \"monitor\"\n");
    check("user/.config/castellan/rules/default/11-filesystem.yaml", "");
    // Not a shipped pack, even if the file that lists them names it.
    check("user/.config/castellan/rules/default/99-more.yaml", "- list: more\n  items: []\n");
}
