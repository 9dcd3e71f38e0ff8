//! `castellan install` and `castellan uninstall`: written files, repeated runs, and no loss of user data.

use std::fs;
use std::os::unix::fs::symlink;

use crate::home::{Done, Home};

const CLAUDE: &str = "user/.claude/settings.json";
const CODEX: &str = "user/.codex/hooks.json";

/// Possible user settings. Claude Code itself does not read those with comments.
const SETTINGS: &[&str] = &[
    "{}",
    "{}\n",
    "",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {}\r\n}\r\n",
    "\u{feff}{\"a\":1}",
    "{ // mine\n  \"b\": [1, 2,], /* two */\n  \"a\": null, }\n// end",
    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"/opt/other\"}]}]}}\n",
];

fn person(home: &Home, arguments: &[&str]) -> Option<Done> {
    let done = home.run_as_person(arguments)?;
    assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    Some(done)
}

#[test]
fn a_second_install_changes_nothing() {
    let home = Home::new();
    home.write(CLAUDE, "{\n  \"model\": \"opus\"\n}\n");
    home.write(CODEX, "{}");
    let first = home.run_ok(&["install"]);
    for part in [
        "defaults written",
        "Claude Code guarded",
        "Codex guarded",
        "daemon started",
        "undo: castellan uninstall",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(first.contains("/hooks"), "{first}");
    // The install stores the user whose agents are guarded: the daemon takes no path from the environment.
    let layout = home.read("user/.local/share/castellan/layout");
    let user = format!("user={}\n", home.user().display());
    assert!(layout.starts_with("castellan-layout 2\n") && layout.ends_with(&user), "{layout}");
    let files = home.agent_files();
    let second = home.run_ok(&["install"]);
    assert!(second.starts_with("nothing to do: everything is in place\n"), "{second}");
    assert_eq!(home.agent_files(), files);
    let backups = fs::read_dir(home.user().join(".claude")).unwrap().count() - 1;
    assert_eq!(backups, 1);
}

#[test]
fn an_uninstall_gives_back_every_byte() {
    let home = Home::new();
    for settings in SETTINGS {
        home.write(CLAUDE, settings);
        home.write(CODEX, settings);
        let before = home.agent_files();
        let installed = home.run(&["install"]);
        assert!(home.read(CLAUDE).contains("castellan-hook"), "{settings:?}: {installed:?}");
        if person(&home, &["uninstall"]).is_none() {
            return;
        }
        assert_eq!(home.agent_files(), before, "{settings:?}");
        assert_eq!(home.run(&["status"]).code, Some(3));
    }
}

#[test]
fn files_that_install_made_are_deleted() {
    let home = Home::new();
    home.write("user/.codex/mine", "");
    home.run_ok(&["install", "claude", "codex"]);
    assert!(home.path(CLAUDE).exists() && home.path(CODEX).exists());
    let Some(done) = person(&home, &["uninstall", "--purge"]) else { return };
    assert!(!home.path(CLAUDE).exists() && !home.path(CODEX).exists(), "{done:?}");
    // An empty folder would say that the agent is on this machine.
    assert!(!home.user().join(".claude").exists() && home.path("user/.codex/mine").exists(), "{done:?}");
    for dir in [".local/share/castellan", ".config/castellan", ".local/state/castellan"] {
        assert!(!home.user().join(dir).exists(), "{dir}");
    }
}

/// What `--keep-rules` and `--keep-log` do not name goes with `--purge`.
#[test]
fn a_purge_keeps_what_its_options_name_and_nothing_else() {
    const RULE: &str = ".config/castellan/rules/user/mine.yaml";
    const LOG: &str = ".local/state/castellan/log";
    const ALL: [&str; 6] = [
        RULE,
        ".config/castellan/config.toml",
        ".local/state/castellan/last-good",
        LOG,
        ".local/state/castellan/journal",
        ".local/share/castellan/run",
    ];
    for (options, kept) in [
        (&["--keep-rules"][..], &ALL[..3]),
        (&["--keep-log"], &ALL[3..4]),
        (&["--keep-rules", "--keep-log"], &ALL[..4]),
    ] {
        let home = Home::new();
        home.run_ok(&["install", "claude"]);
        home.write(&format!("user/{RULE}"), "- required_engine_version: 1\n");
        for path in ALL {
            assert!(home.user().join(path).exists(), "{path}");
        }
        let words = [&["uninstall", "--purge"], options].concat();
        let dry = home.run_ok(&[&words[..], &["--dry-run"]].concat());
        let Some(done) = person(&home, &words) else { return };
        for path in ALL {
            assert_eq!(home.user().join(path).exists(), kept.contains(&path), "{options:?} {path}");
        }
        // The kept ones are named, and the dry run says the same.
        for text in [&dry, &done.stdout] {
            let left = text.split_once("left in place:").unwrap().1;
            assert_eq!(left.contains("configuration, rules"), kept.contains(&RULE), "{text}");
            assert_eq!(left.contains("log "), kept.contains(&LOG), "{text}");
        }
        // A next installation goes on with the rules in force, and the user's rule is not applied yet, as before. With the log
        // alone, castellan takes the rules for deleted by somebody.
        let next = home.run(&["install", "claude"]);
        let needs = match kept.contains(&RULE) {
            true => "error: edited files wait until somebody looks",
            false => "error: no rules are in force",
        };
        assert!(next.code == Some(6) && next.stderr.starts_with(needs), "{next:?}");
    }
    let home = Home::new();
    for option in ["--keep-rules", "--keep-log"] {
        assert_eq!(home.run(&["uninstall", option]).code, Some(2), "without --purge nothing is deleted");
    }
}

#[test]
fn uninstall_says_what_is_left() {
    let home = Home::new();
    home.write(CLAUDE, "{}");
    home.run_ok(&["install", "claude"]);
    let Some(done) = person(&home, &["uninstall"]) else { return };
    for part in ["configuration, rules", "log", "backup", "castellan uninstall --purge"] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    assert!(home.user().join(".config/castellan/rules").exists());
}

#[test]
fn while_hooks_are_left_the_daemon_goes_on() {
    let home = Home::new();
    home.write(CODEX, "{}");
    home.run_ok(&["install", "claude", "codex"]);
    home.write(CODEX, home.read(CODEX).trim_end().trim_end_matches('}'));
    let Some(done) = home.run_as_person(&["uninstall"]) else { return };
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains("Codex may still be registered"), "{}", done.stderr);
    assert!(!home.path(CLAUDE).exists());
    assert!(home.run(&["status", "--json"]).stdout.contains("\"running\": true"));
}

#[test]
fn a_linked_file_stays_linked() {
    let home = Home::new();
    home.write("user/dotfiles/claude.json", "{}\n");
    fs::create_dir_all(home.user().join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", home.path(CLAUDE)).unwrap();
    home.run_ok(&["install", "claude"]);
    assert!(home.read("user/dotfiles/claude.json").contains("castellan-hook"));
    assert!(fs::symlink_metadata(home.path(CLAUDE)).unwrap().is_symlink());
    if person(&home, &["uninstall", "claude"]).is_some() {
        assert_eq!(home.read("user/dotfiles/claude.json"), "{}\n");
        assert!(fs::symlink_metadata(home.path(CLAUDE)).unwrap().is_symlink());
    }
}

#[test]
fn a_file_that_is_not_json_is_left_as_it_is() {
    let home = Home::new();
    let broken = "{\n  \"model\": opus\n}\n";
    home.write(CLAUDE, broken);
    home.write(CODEX, "{}");
    let done = home.run(&["install"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    assert_eq!(home.read(CLAUDE), broken);
    assert!(home.read(CODEX).contains("castellan-hook"));
    for part in ["Claude Code is not guarded", "ROOT/user/.claude/settings.json", "line 2", "mend the file"] {
        assert!(home.masked(&done.stderr).contains(part), "{part}: {}", done.stderr);
    }
    assert!(done.stdout.contains("Codex guarded"), "{}", done.stdout);
}

#[test]
fn a_file_that_the_agent_does_not_read_guards_nobody() {
    let home = Home::new();
    home.write(CLAUDE, "{ // mine\n}\n");
    let done = home.run(&["install", "claude"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains("reads no comments"), "{}", done.stderr);
}

#[test]
fn a_dry_run_changes_nothing() {
    let home = Home::new();
    home.write(CLAUDE, "{}");
    let files = home.agent_files();
    let done = home.run_ok(&["install", "--dry-run"]);
    assert!(done.starts_with("would be done:\n") && done.contains("Claude Code guarded"), "{done}");
    assert_eq!(home.agent_files(), files);
    assert!(!home.castellan_home().exists());
}

#[test]
fn a_dry_uninstall_changes_nothing_and_needs_no_person() {
    let home = Home::new();
    home.write(CLAUDE, "{}");
    home.run_ok(&["install", "claude", "codex", "--launchers"]);
    let files = home.agent_files();
    let parts = ["Claude Code no longer guarded", CODEX, "launcher removed", "daemon stopped"];
    let purged = ["config/castellan/rules", "state/castellan/log", "castellan/run"];
    for (arguments, parts) in [
        (&["uninstall", "--dry-run"][..], &parts[..]),
        (&["uninstall", "--purge", "--dry-run"], &[&parts[..], &purged].concat()),
        (&["uninstall", "codex", "--dry-run"], &[CODEX]),
    ] {
        let done = home.run_ok(arguments);
        assert!(done.starts_with("would be done:\n"), "{done}");
        for part in parts {
            assert!(done.contains(part), "{part}: {done}");
        }
    }
    assert_eq!(home.agent_files(), files);
    assert!(home.run(&["status", "--json"]).stdout.contains("\"running\": true"));
    assert!(home.bin().join("castellan-claude").exists() && home.castellan_home().exists());
    let only = home.run_ok(&["uninstall", "codex", "--dry-run"]);
    assert!(!only.contains("daemon stopped") && !only.contains("Claude"), "{only}");
}

#[test]
fn agents_own_variables_are_honoured() {
    let home = Home::new();
    let (claude, codex) = (home.path("elsewhere/claude"), home.path("elsewhere/codex"));
    let home = home.with_variable("CLAUDE_CONFIG_DIR", claude).with_variable("CODEX_HOME", codex);
    home.run_ok(&["install", "claude", "codex"]);
    assert!(home.read("elsewhere/claude/settings.json").contains("castellan-hook"));
    assert!(home.read("elsewhere/codex/hooks.json").contains("castellan-hook"));
    assert!(!home.path(CLAUDE).exists());
}

#[test]
fn with_a_home_of_its_own_everything_lies_below_it() {
    let home = Home::new();
    let dir = home.path("all").display().to_string();
    let done = home.run_ok(&["--home", &dir, "install", "claude"]);
    assert!(done.contains(&format!("undo: castellan --home {dir} uninstall claude")), "{done}");
    assert!(home.path("all/config/config.toml").exists() && home.path("all/state/log").exists());
    assert!(!home.user().join(".config").exists() && !home.castellan_home().exists());
    assert!(home.read(CLAUDE).contains(&dir));
}

#[test]
fn launchers_start_the_agent_with_hooks_on() {
    let home = Home::new();
    home.run_ok(&["install", "claude", "codex", "--launchers"]);
    home.write("path/claude", "#!/bin/sh\nprintf '%s\\n' claude \"$@\"\n");
    home.write("path/codex", "#!/bin/sh\nprintf '%s\\n' codex \"$@\"\n");
    let check = |agent: &str, words: &[&str], expected: &str| {
        use std::os::unix::fs::PermissionsExt;

        let program = home.path(&format!("path/{agent}"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut launcher = std::process::Command::new(home.bin().join(format!("castellan-{agent}")));
        launcher.env_clear().env("HOME", home.user()).env("PATH", home.path("path"));
        let output = launcher.args(words).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    };
    check("claude", &["-p", "a b"], "claude\n--settings\n{\"disableAllHooks\":false}\n-p\na b\n");
    // Codex does not run the hooks before a person has trusted them.
    check("codex", &["-p", "a b"], "");
    let trusts = "--dangerously-bypass-hook-trust";
    check("codex", &[trusts, "a b"], &format!("codex\n-c\nfeatures.hooks=true\n{trusts}\na b\n"));
    if person(&home, &["uninstall"]).is_some() {
        assert!(
            !home.bin().join("castellan-claude").exists() && !home.bin().join("castellan-codex").exists()
        );
    }
}

/// Files of Codex that cannot be parsed and never contained castellan's name.
const NOT_OURS: &[(&str, &[u8])] = &[
    ("cut off", b"{"),
    ("a list", b"[]"),
    ("text", b"hello"),
    ("null", b"null"),
    ("hooks of another shape", b"{\"hooks\": 7}"),
    ("a group of another shape", b"{\"hooks\": {\"PreToolUse\": 7}}"),
    ("a key twice", b"{\"hooks\": {}, \"hooks\": 7"),
    ("not UTF-8", b"{\"hooks\": \"\xff\"}"),
    ("zeros", &[0; 64]),
    ("another guard's", b"{\"hooks\": {\"PreToolUse\": [{\"command\": \"/opt/castellan/other\""),
    ("a merge that was not finished", b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n"),
];

#[test]
fn uninstall_claims_nothing_of_a_broken_file_that_never_named_castellan() {
    for (name, bytes) in NOT_OURS {
        let home = Home::new();
        home.run_ok(&["install", "claude"]);
        home.write("user/.codex/hooks.json", bytes);
        let Some(done) = home.run_as_person(&["uninstall"]) else { return };
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{name}");
        assert_eq!(fs::read(home.path("user/.codex/hooks.json")).unwrap(), *bytes, "{name}");
        // A file with castellan's name may still register its hook.
        let ours = [bytes, &b"castellan-hook"[..]].concat();
        home.write("user/.codex/hooks.json", ours);
        let Some(done) = home.run_as_person(&["uninstall", "codex"]) else { return };
        assert!(done.code != Some(0) && done.stderr.contains("may still be registered"), "{name}: {done:?}");
    }
}

#[test]
fn what_a_killed_install_left_is_removed_and_three_backups_stay() {
    let home = Home::new();
    home.write("user/.claude/settings.json", "{\"model\": \"x\"}");
    home.run_ok(&["install"]);
    let left =
        ["user/.claude", "user/.codex", "user/.config/castellan", "user/.local/share/castellan/run", "bin"];
    for dir in left {
        home.write(&format!("{dir}/.castellan-AbC123.tmp"), "half");
        home.write(&format!("{dir}/.tmpAbC123"), "somebody else's");
    }
    for timeout in 0..4 {
        let changed = home.read("user/.claude/settings.json").replace("600", &timeout.to_string());
        home.write("user/.claude/settings.json", changed);
        home.run_ok(&["install"]);
    }
    for dir in left {
        assert!(!home.path(&format!("{dir}/.castellan-AbC123.tmp")).exists(), "{dir}");
        assert!(home.path(&format!("{dir}/.tmpAbC123")).exists(), "{dir}");
    }
    let names = fs::read_dir(home.path("user/.claude")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().contains("castellan-backup")).count(), 3);
}

#[test]
fn hooks_for_generated_settings_are_only_printed() {
    let home = Home::new();
    home.write(CLAUDE, r#"{"model": "x"}"#);
    let before = home.agent_files();
    let printed = home.run(&["install", "claude", "--print"]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    assert!(home.masked(&printed.stderr).contains("Claude Code reads `ROOT/user/.claude/settings.json`"));
    let settings: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    assert!(settings["hooks"]["PreToolUse"].is_array() && settings["model"].is_null(), "{settings}");
    assert_eq!(home.agent_files(), before);
    assert!(!home.castellan_home().exists());
    // They are what an install writes.
    home.write("other", &printed.stdout);
    home.write(CLAUDE, &printed.stdout);
    assert!(home.run_ok(&["install", "claude"]).contains("daemon started"));
    assert_eq!(home.read(CLAUDE), printed.stdout);
    assert_eq!(home.run(&["status"]).code, Some(0));
}

#[test]
fn settings_that_are_not_this_users_alone_are_left_with_a_remedy() {
    use std::os::unix::fs::PermissionsExt;

    let home = Home::new();
    home.write("store/settings.json", "{}");
    fs::set_permissions(home.path("store"), fs::Permissions::from_mode(0o777)).unwrap();
    fs::create_dir_all(home.user().join(".claude")).unwrap();
    symlink(home.path("store/settings.json"), home.path(CLAUDE)).unwrap();
    let done = home.run(&["install", "claude"]);
    assert_eq!(done.code, Some(6), "{done:?}");
    for part in ["is a symlink to", "which castellan does not write", "`castellan install claude --print`"] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    assert_eq!(home.read("store/settings.json"), "{}");
    fs::set_permissions(home.path("store"), fs::Permissions::from_mode(0o755)).unwrap();
    home.run_ok(&["install", "claude"]);
    assert!(home.read("store/settings.json").contains("castellan-hook"));
    assert!(fs::symlink_metadata(home.path(CLAUDE)).unwrap().is_symlink());
}

#[test]
fn a_home_that_cannot_be_written_has_a_remedy() {
    let home = Home::new();
    // Root writes everywhere, but not below a file.
    home.write("user/.local/share", "");
    let done = home.run(&["install", "claude"]);
    assert_eq!(done.code, Some(7), "{done:?}");
    for part in ["set `XDG_DATA_HOME`", "give `--home`", "`castellan install --print`"] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    assert!(!home.path(CLAUDE).exists());
}
