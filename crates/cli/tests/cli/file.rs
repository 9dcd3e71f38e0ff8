//! `castellan file check`: components, facts and exit codes.

use std::os::unix::fs::symlink;

use serde_json::{Value as Json, json};

use crate::home::{Done, Home};

/// A workspace with links out of it, in the home of a user with a secret.
fn home() -> Home {
    let home = Home::new();
    for (file, text) in [
        ("repo/.git/HEAD", "ref: refs/heads/main\n"),
        ("repo/src/a.rs", "fn main() {}\n"),
        ("repo/film", "a\0b"),
        ("repo-evil/x", "x"),
        ("outside/plan", "x"),
        ("user/.ssh/id_rsa", "key"),
    ] {
        home.write(file, text);
    }
    for (target, link) in [
        ("../outside", "repo/docs"),
        ("loop", "repo/loop"),
        ("src", "repo/in"),
        ("../repo-evil", "repo/evil"),
    ] {
        symlink(target, home.path(link)).unwrap();
    }
    std::fs::hard_link(home.path("user/.ssh/id_rsa"), home.path("repo/notes")).unwrap();
    home
}

fn run(home: &Home, arguments: &[&str]) -> Done {
    home.run(&[&["file", "check"], arguments].concat())
}

fn json_of(home: &Home, arguments: &[&str]) -> Json {
    serde_json::from_str(&run(home, &[&["--json"], arguments].concat()).stdout).unwrap()
}

#[test]
fn exit_codes_show_the_answer() {
    let home = home();
    let check = |arguments: &[&str], code: i32, start: &str| {
        let done = run(&home, arguments);
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
        assert!(done.stdout.starts_with(start), "{arguments:?}: {}", done.stdout);
    };
    check(&["src/a.rs"], 0, "agent decides ");
    check(&["--write", "src/a.rs"], 0, "agent decides ");
    check(&["--edit", "in/a.rs"], 0, "agent decides ");
    check(&["docs/plan"], 0, "agent decides ");
    check(&["--write", "docs/plan"], 10, "ask ");
    check(&["--edit", "docs/plan"], 10, "ask ");
    check(&["--write", "evil/x"], 10, "ask ");
    check(&["--write", "../repo-evil/x"], 0, "agent decides ");
    check(&["notes"], 10, "ask ");
    check(&["film"], 0, "agent decides ");
    check(&["loop/x"], 0, "agent decides ");
    check(&["--write", "new\nline/"], 0, "agent decides ");
    let strict = home.path("h").display().to_string();
    home.write("h/config/config.toml", "version = 1\nprofile = \"strict\"\n");
    for (arguments, code) in [
        (&["--write", "docs/plan"][..], 11),
        (&["docs/plan"], 10),
        (&["notes"], 11),
        (&["film"], 10),
        (&["src/a.rs"], 0),
    ] {
        let done = home.run(&[&["--home", &strict, "file", "check"], arguments].concat());
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
    }
    assert_eq!(run(&home, &["--read", "--write", "x"]).code, Some(2));
    assert_eq!(run(&home, &[&"x/".repeat(200)]).code, Some(7));
}

#[test]
fn each_component_is_shown() {
    let home = home();
    for (name, arguments) in [
        ("file_symlink", &["--write", "docs/../outside/plan"][..]),
        ("file_hard_link", &["notes"]),
        ("file_plain", &["--edit", "src/a.rs"]),
    ] {
        let shown = home.masked(&run(&home, arguments).stdout);
        // Directories above the test differ by machine, and with them the width of the table.
        let own = shown.lines().filter(|line| !line.starts_with('/'));
        let own: Vec<String> =
            own.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        insta::assert_snapshot!(name, own.join("\n"));
    }
}

#[test]
fn json_has_every_fact() {
    let home = home();
    let repo = home.repo().canonicalize().unwrap();
    let answer = json_of(&home, &["--write", "docs/plan"]);
    assert_eq!((&answer["verdict"], &answer["escape"]), (&json!("ask"), &json!("symlink")));
    assert_eq!((&answer["workspace"], &answer["mode"]), (&json!(repo), &json!("ask")));
    let last = answer["components"].as_array().unwrap().iter().rev().take(2).collect::<Vec<_>>();
    assert_eq!(last[0]["kind"], json!("file"));
    assert_eq!(
        (&last[1]["target"], &last[1]["crosses"]),
        (&json!("../outside"), &json!(["leaves_workspace"]))
    );
    let answer = json_of(&home, &["notes"]);
    let key = home.path("user/.ssh/id_rsa").canonicalize().unwrap();
    assert_eq!((&answer["links"], &answer["other_name"]), (&json!(2), &json!(key)));
    assert_eq!((&answer["scope"], &answer["size"]), (&json!("secret"), &json!(3)));
    assert_eq!(json_of(&home, &["film"])["binary"], json!(true));
    let lost = json_of(&home, &["loop/x"]);
    assert_eq!(lost["real_path"], Json::Null);
    // An agent in a directory of the workspace writes relative paths from there.
    let from = home.path("repo/src").display().to_string();
    let answer = json_of(&home, &["--write", "../docs/plan", "--workspace", &from]);
    assert_eq!((&answer["escape"], &answer["workspace"]), (&json!("symlink"), &json!(repo)));
}
