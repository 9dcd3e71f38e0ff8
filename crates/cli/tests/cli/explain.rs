//! `castellan explain`: the tree of a call's effects.

use serde_json::Value as Json;

use crate::home::Home;

fn explain(home: &Home, arguments: &[&str]) -> String {
    let dir = home.path("h").display().to_string();
    home.run_ok(&[&["--home", &dir, "explain"], arguments].concat())
}

#[test]
fn commands_stand_with_their_effects_and_what_was_not_understood() {
    let home = Home::new();
    let tree = explain(&home, &["--cwd", "/", r#"sudo r''m -r -f "$D"/x | tee /etc/passwd"#]);
    for line in [
        "├─ rm -r -f $D/x  0..22, in sudo",
        "│  ├─ elevate     sudo",
        "│  ├─ delete      $D/x  recursive  force",
        "│  └─ opaque      $D/x  (target: a variable with an unknown value)",
        "└─ tee /etc/passwd  25..40, reads from rm",
        "   └─ write       /etc/passwd  (hijack, system)",
    ] {
        assert!(tree.lines().any(|one| one == line), "no `{line}` in\n{tree}");
    }
}

#[test]
fn json_says_the_same_and_which_rules_fired_on_what() {
    let home = Home::new();
    home.write(
        "h/config/rules/default/10.yaml",
        "- rule: No root\n  desc: d\n  condition: fx.kind = delete and fx.scope = root\n  output: o\n  priority: INFO\n  source: \
         coding_agent\n  tags: [coding_agent_deny]\n",
    );
    std::fs::create_dir_all(home.path("h/config/rules/user")).unwrap();
    std::fs::create_dir_all(home.path("h/state/last-good")).unwrap();
    let json: Json =
        serde_json::from_str(&explain(&home, &["--cwd", "/", "--json", "echo a; rm -rf /"])).unwrap();
    assert_eq!(json["verdict"], "deny");
    assert_eq!(json["commands"][1]["name"], "rm");
    assert_eq!(json["commands"][1]["span"], serde_json::json!([8, 16]));
    let effect = &json["commands"][1]["effects"][0];
    assert_eq!((&effect["kind"], &effect["scope"]), (&"delete".into(), &"root".into()));
    // `/` contains castellan's own files, so the effect has the guard `castellan`.
    assert_eq!(effect["guard"], "castellan");
    let rules = effect["rules"].as_array().unwrap();
    assert!(rules.iter().any(|fired| fired["rule"] == "No root"), "{rules:?}");
}

#[test]
fn control_characters_are_shown_not_obeyed() {
    let home = Home::new();
    let tree = explain(&home, &["--cwd", "/", "cat 'a\u{1b}[2Jb\u{202e}c'"]);
    assert!(!tree.contains(['\u{1b}', '\u{202e}']), "{tree:?}");
}
