//! Files that change what a reading command shows or starts: lists of ignored files, and settings of git. The autonomous
//! profile allows the command only without them.

use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::Verdict;
use castellan_policy::Profile;
use castellan_trial::{Asked, Case, Laid, Trial};
use serde_json::{Map, Value as Json, json};

fn input(json: Json) -> Map<String, Json> {
    let Json::Object(input) = json else { panic!("{json}") };
    input
}

/// The way in which a file came into the project.
#[derive(Debug, Clone, Copy)]
enum From {
    Session,
    Project,
}

fn is_allowed(command: &str, from: From, path: &str, text: &str) -> bool {
    let config = Config { settings: Profile::Autonomous.settings(), ..Config::default() };
    let compiled = compile(&shipped_rules(), &config);
    let mut case = Case::new("Bash", input(json!({ "command": command })));
    match from {
        From::Project => drop(case.files.insert(path.to_owned(), Laid::Text(text.to_owned()))),
        From::Session => {
            let written = json!({ "file_path": format!("{}/{path}", case.cwd), "content": text });
            case.earlier.push(Asked { tool: "Write".to_owned(), input: input(written) });
        }
    }
    Trial::new(&compiled.policy).judge(&case).unwrap().decision.verdict == Verdict::Allow
}

#[test]
fn a_search_is_understood_without_lists_that_show_secrets() {
    for (from, path, text, expected) in [
        (From::Session, ".ignore", "target\n", true),
        (From::Session, ".gitignore", "dist\n!.env.example\n!src/a.rs\n", true),
        (From::Session, ".ignore", "!.env\n", false),
        (From::Session, ".rgignore", "!.*\n", false),
        (From::Session, ".gitignore", "a\n!.env*\n", false),
        (From::Session, "src/.ignore", "!*\n", false),
        (From::Session, ".git/info/exclude", "!.env\n", false),
        (From::Project, ".ignore", "!.env\n", false),
        (From::Project, ".gitignore", "!.env.example\n", true),
    ] {
        assert_eq!(is_allowed("rg KEY", from, path, text), expected, "{from:?} {path} {text}");
    }
}

#[test]
fn a_look_at_a_repository_is_understood_without_programs_in_its_settings() {
    for (from, text, expected) in [
        (From::Project, "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n", true),
        (From::Project, "[core]\n\tpager = less\n\thooksPath = .husky\n", true),
        (From::Project, "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n[alias]\n\tx = !x\n", true),
        (From::Project, "[core]\n\tpager = ./x\n", false),
        (From::Project, "[pager]\n\tdiff = ./x\n", false),
        (From::Project, "[diff]\n\texternal = ./x\n", false),
        (From::Project, "[diff \"x\"]\n\ttextconv = ./x\n", false),
        (From::Project, "[core]\n\tfsmonitor = ./x\n", false),
        (From::Project, "[gpg]\n\tprogram = ./x\n", false),
        (From::Project, "[include]\n\tpath = ../x\n", false),
        (From::Project, "[core\n", false),
        (From::Session, "[core]\n\tpager = ./x\n", false),
        (From::Session, "[diff \"x\"]\n\ttextconv = ./x\n", false),
    ] {
        for command in ["git log -p", "git diff --ext-diff", "git status"] {
            assert_eq!(is_allowed(command, from, ".git/config", text), expected, "{from:?} {command} {text}");
        }
    }
}

#[test]
fn a_look_at_other_files_is_not_understood() {
    for (command, expected) in [
        ("git diff ..main", true),
        ("git diff main...HEAD", true),
        ("git diff ./a.rs", true),
        ("git diff /dev/null ../a", false),
        ("git diff ~/a a", false),
        ("git diff --no-index a ~/b", false),
        ("git difftool", false),
        ("git grep -O'sh -c x' a", false),
        ("git grep -Osh a", false),
        ("git -c core.pager=./x log", false),
        ("git web--browse a", false),
    ] {
        assert_eq!(is_allowed(command, From::Session, "b.txt", "b"), expected, "{command}");
    }
}
