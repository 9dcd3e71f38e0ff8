//! `castellan settings render`, in temporary homes.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use crate::home::{Done, Home};

const PLAN: &str =
    "castellan_plan: 1\ncommands:\n  - cargo test *\n  - ./gen.sh --all\nhosts: ['*.example.org']\n";
const FILES: &[(&str, &[&str])] = &[
    ("claude", &[".claude/settings.json"]),
    ("codex", &[".codex/config.toml", ".codex/rules/castellan.rules"]),
    ("gemini", &[".gemini/settings.json", ".gemini/castellan.toml"]),
];

/// The starts of lines with a rule for a path, of Claude Code and of Codex.
const PATH_RULES: &[&str] = &["      \"Edit(/", "\"/"];

fn home() -> Home {
    let home = Home::new();
    home.write("plan.yaml", PLAN);
    home
}

fn render(home: &Home, agent: &str, more: &[&str]) -> Done {
    let (repo, plan) = (home.repo().display().to_string(), home.path("plan.yaml").display().to_string());
    let words =
        ["settings", "render", "--agent", agent, "--work-dir", &repo, "--sandbox", "off", "--plan", &plan];
    home.run(&[&words[..], more].concat())
}

fn render_ok(home: &Home, agent: &str, more: &[&str]) -> String {
    let done = render(home, agent, more);
    assert_eq!(done.code, Some(0), "{agent} {more:?}: {done:?}");
    done.stdout
}

/// Renders, which must fail with a message that has these parts and leave the file as it is.
fn refused(home: &Home, agent: &str, more: &[&str], file: &str, parts: &[&str]) {
    let before = fs::read(home.repo().join(file)).ok();
    let done = render(home, agent, more);
    assert_eq!(done.code, Some(7), "{done:?}");
    for part in parts {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    assert_eq!(fs::read(home.repo().join(file)).ok(), before, "{file}");
}

/// The rendered texts with the names of this home replaced.
#[test]
fn each_agents_settings_look_so() {
    let home = home();
    for (agent, _) in FILES {
        let printed = render_ok(&home, agent, &["--print"]);
        let text =
            printed.replace(home.path("").to_str().unwrap().trim_end_matches('/'), "/root-of-the-test");
        // Which secrets of the system exist depends on the machine.
        let is_systems = |line: &str| line.starts_with("\"/") && line.ends_with("= \"deny\"");
        let mut lines: Vec<&str> = text.lines().filter(|line| !is_systems(line)).collect();
        // The order of the rules for paths depends on the real name of the root.
        for start in PATH_RULES {
            for rules in lines.chunk_by_mut(|a, b| a.starts_with(start) && b.starts_with(start)) {
                rules.sort_unstable();
            }
        }
        let text = lines.join("\n");
        insta::assert_snapshot!(format!("settings_{agent}"), text);
        assert!(!home.repo().join(".claude").exists(), "`--print` writes nothing");
    }
}

#[test]
fn the_same_values_give_the_same_bytes_and_other_values_replace_them() {
    let home = home();
    for (agent, files) in FILES {
        render_ok(&home, agent, &[]);
        let read = || files.iter().map(|file| home.read(&format!("repo/{file}"))).collect::<Vec<_>>();
        let first = read();
        let mode = fs::metadata(home.repo().join(files[0])).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        for more in [&[][..], &["--merge"], &["--force"]] {
            render_ok(&home, agent, more);
            assert_eq!(read(), first, "{agent} {more:?}");
        }
        home.write("plan.yaml", "castellan_plan: 1\ncommands: [make]\n");
        render_ok(&home, agent, &[]);
        home.write("plan.yaml", PLAN);
        render_ok(&home, agent, &[]);
        assert_eq!(read(), first, "{agent}");
    }
}

#[test]
fn an_edited_file_is_merged_or_replaced_only_on_demand() {
    let home = home();
    for (agent, files) in FILES {
        render_ok(&home, agent, &[]);
        for file in *files {
            let ours = home.read(&format!("repo/{file}"));
            let edited = match file.rsplit('.').next() {
                Some("json") => ours.replacen('{', "{\n  \"model\": \"mine\",", 1),
                Some(_) | None => format!("# mine\n{ours}"),
            };
            home.write(&format!("repo/{file}"), &edited);
            refused(&home, agent, &[], file, &["--merge", "--force", "--print", file]);
            render_ok(&home, agent, &["--merge"]);
            let merged = home.read(&format!("repo/{file}"));
            assert!(merged.contains("mine"), "{file}: {merged}");
            render_ok(&home, agent, &["--merge"]);
            assert_eq!(home.read(&format!("repo/{file}")), merged, "{file}");
            // The merged file is the person's.
            refused(&home, agent, &[], file, &["--merge"]);
            render_ok(&home, agent, &["--force"]);
            assert_eq!(home.read(&format!("repo/{file}")), ours, "{file}");
        }
    }
}

/// Without its record, a text of another version of castellan is nobody's.
#[test]
fn a_file_of_another_version_is_replaced_only_if_castellan_knows_it() {
    let home = home();
    render_ok(&home, "claude", &[]);
    let ours = home.read("repo/.claude/settings.json");
    let other = ours.replace("Bash(castellan stop *)", "Bash(castellan halt *)");
    assert_ne!(other, ours);
    home.write("repo/.claude/settings.json", &other);
    refused(&home, "claude", &[], ".claude/settings.json", &["was edited since"]);
    let records = home.castellan_home().join("state/rendered");
    let records =
        if records.exists() { records } else { home.user().join(".local/state/castellan/rendered") };
    let record = fs::read_dir(records).unwrap().next().unwrap().unwrap().path();
    fs::write(record, castellan_event::sha256_hex(&other)).unwrap();
    render_ok(&home, "claude", &[]);
    assert_eq!(home.read("repo/.claude/settings.json"), ours);
}

#[test]
fn a_merge_beside_a_persons_file_allows_nothing_more() {
    let home = home();
    home.write(
        "repo/.claude/settings.json",
        "{\"permissions\": {\"allow\": [\"Bash(make)\"], \"defaultMode\": \"acceptEdits\"}}",
    );
    home.write("repo/.gemini/settings.json", "{\"ui\": {}}");
    render_ok(&home, "claude", &["--merge"]);
    let merged: Json = serde_json::from_str(&home.read("repo/.claude/settings.json")).unwrap();
    assert_eq!(merged["permissions"]["allow"], serde_json::json!(["Bash(make)"]));
    assert_eq!(merged["permissions"]["defaultMode"], "default");
    assert_eq!(merged["permissions"].get("additionalDirectories"), None);
    render_ok(&home, "gemini", &["--merge"]);
    let policy = home.read("repo/.gemini/castellan.toml");
    assert!(policy.contains("decision = \"deny\"") && !policy.contains("decision = \"allow\""), "{policy}");
}

#[test]
fn bad_files_are_refused_and_stay() {
    let home = home();
    let file = ".claude/settings.json";
    let name = format!("repo/{file}");
    home.write(&name, "{ // mine\n}");
    refused(&home, "claude", &["--merge"], file, &["line 1", "comments"]);
    home.write(&name, "{\"permissions\": 7}");
    refused(&home, "claude", &["--merge"], file, &["must be an object"]);
    home.write(&name, "{\"permissions\": {\"deny\": {}}}");
    refused(&home, "claude", &["--merge"], file, &["`permissions.deny` must be a list"]);
    home.write(&name, b"{}\xff");
    refused(&home, "claude", &["--merge"], file, &["UTF-8"]);
    let large = fs::File::create(home.repo().join(file)).unwrap();
    large.set_len(100 * 1024 * 1024).unwrap();
    let done = render(&home, "claude", &["--merge"]);
    assert!(done.code == Some(7) && done.stderr.contains("more than"), "{done:?}");
    fs::remove_file(home.repo().join(file)).unwrap();
    home.write("repo/.codex/config.toml", "model = \n");
    refused(&home, "codex", &["--merge"], ".codex/config.toml", &["line 1", "not valid TOML"]);
    // No file of an agent is changed if one of them is refused.
    assert!(!home.repo().join(".codex/rules").exists());
    home.write("repo/.gemini/castellan.toml", "[[rule]\n");
    refused(&home, "gemini", &["--merge"], ".gemini/castellan.toml", &["not valid TOML"]);
    assert!(!home.repo().join(".gemini/settings.json").exists());
}

#[test]
fn a_symlink_a_read_only_file_and_a_folder_are_refused() {
    let home = home();
    home.write("elsewhere/settings.json", "{}");
    fs::create_dir(home.repo().join(".claude")).unwrap();
    symlink(home.path("elsewhere/settings.json"), home.repo().join(".claude/settings.json")).unwrap();
    for how in [&[][..], &["--merge"], &["--force"]] {
        refused(&home, "claude", how, ".claude/settings.json", &["is a symlink"]);
    }
    fs::remove_dir_all(home.repo().join(".claude")).unwrap();
    symlink(home.path("elsewhere"), home.repo().join(".claude")).unwrap();
    refused(&home, "claude", &["--force"], ".claude/settings.json", &["is a symlink"]);
    fs::remove_file(home.repo().join(".claude")).unwrap();
    home.write("repo/.claude/settings.json", "{}");
    let file = home.repo().join(".claude/settings.json");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
    refused(&home, "claude", &["--force"], ".claude/settings.json", &["read-only"]);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let done = render(&home, "claude", &["--force"]);
    assert!(done.code == Some(7) && file.is_dir(), "{done:?}");
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let home = home();
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::set_permissions(work.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let dir = work.path().display().to_string();
    let words = ["settings", "render", "--agent", "claude", "--sandbox", "off", "--work-dir", &dir];
    let done = home.run_without_root(&words);
    fs::set_permissions(work.path(), fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(done) = done {
        assert!(done.code == Some(7) && done.stderr.contains("ermission denied"), "{done:?}");
        assert!(!work.path().join(".claude").exists());
    }
}

#[test]
fn bad_directories_and_plans_are_refused() {
    let home = home();
    let check = |words: &[&str], parts: &[&str]| {
        let words = [&["settings", "render", "--agent", "claude", "--print"], words].concat();
        let done = home.run(&words);
        assert_eq!(done.code, Some(7), "{words:?}: {done:?}");
        assert!(done.stdout.is_empty(), "{words:?}: {}", done.stdout);
        for part in parts {
            assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
        }
    };
    let dir = |name: &str| {
        fs::create_dir_all(home.path(name)).unwrap();
        home.path(name).display().to_string()
    };
    let repo = home.repo().display().to_string();
    check(&["--work-dir", &home.path("none").display().to_string()], &["must exist"]);
    check(&["--work-dir", &dir("a\nb")], &["control character"]);
    check(&["--work-dir", &repo, "--repo", &dir("a*b")], &["pattern"]);
    check(&["--work-dir", &home.user().display().to_string()], &["is a home or holds one"]);
    let plan = |text: &[u8], parts: &[&str]| {
        home.write("bad.yaml", text);
        check(&["--work-dir", &repo, "--plan", &home.path("bad.yaml").display().to_string()], parts);
    };
    plan(b"commands: [", &["bad.yaml"]);
    plan(b"", &["bad.yaml", "empty"]);
    plan(b"castellan_plan: 1\nsteal: yes\n", &["bad.yaml", "line 2"]);
    plan(b"\xff", &["UTF-8"]);
    plan(b"castellan_plan: 1\nexpires: 2001-01-01T00:00:00Z\n", &["expired"]);
    check(&["--work-dir", &repo, "--plan", &home.path("none.yaml").display().to_string()], &["none.yaml"]);
    let name = std::ffi::OsString::from_vec(b"a\xffb".to_vec());
    fs::create_dir(home.path("").join(&name)).unwrap();
    let mut command = Command::new(home.bin().join("castellan"));
    command
        .args(["settings", "render", "--agent", "claude", "--print", "--work-dir"])
        .arg(home.path("").join(name));
    let done = command.env("HOME", home.user()).stdin(Stdio::null()).output().unwrap();
    assert_eq!(done.status.code(), Some(7));
    assert!(String::from_utf8_lossy(&done.stderr).contains("not UTF-8"));
    let done =
        home.run(&["settings", "render", "--agent", "codex", "--auto", "--print", "--work-dir", &repo]);
    assert!(done.code == Some(7) && done.stderr.contains("--auto"), "{done:?}");
}

#[test]
fn what_a_plan_cannot_say_is_left_out_and_said() {
    let home = home();
    home.write(
        "plan.yaml",
        "castellan_plan: 1\ncommands: [\"bash *\", \"cargo * --lib\", \"cargo test *\"]\n",
    );
    let done = render(&home, "claude", &["--print"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains("bash *") && done.stderr.contains("cargo * --lib"), "{}", done.stderr);
    assert!(
        done.stdout.contains("Bash(cargo test *)") && !done.stdout.contains("Bash(bash"),
        "{}",
        done.stdout
    );
}

#[test]
fn an_agent_cannot_render_its_own_settings() {
    let home = home();
    let (repo, plan) = (home.repo().display().to_string(), home.path("plan.yaml").display().to_string());
    let words = ["settings", "render", "--agent", "claude", "--work-dir", &repo, "--plan", &plan];
    let done = home.run_below("claude", &words);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(!home.repo().join(".claude").exists());
    let call = format!("castellan settings render --agent claude --work-dir . --plan {plan}");
    let judged = home.run(&["check", &call]);
    assert_eq!(judged.code, Some(11), "{judged:?}");
    let judged = home.run(&["check", "castellan settings render --agent claude --print"]);
    assert_eq!(judged.code, Some(0), "{judged:?}");
}
