//! `castellan import kit`: an installation of the kit is taken over and given back, without a moment in which an agent's
//! settings register no guard or two.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use serde_json::Value as Json;

use crate::rig::{LIMIT, status};

/// A user rule in the kit's form, with its fields, tags and words.
const TEAM_RULES: &str = r#"- required_engine_version: 0.58.0

- list: team_shells
  items: [Bash]

- macro: team_runs_bash
  condition: tool.name in (team_shells)

- rule: Deny the team's word
  desc: The team forbids it.
  condition: team_runs_bash and tool.input_command contains team-word and not agent.cwd = "/nowhere"
  output: Falco blocked %tool.input_command for the team
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
"#;

/// The plugin's configuration.
const PLUGIN: &str =
    "plugins:\n  - name: coding_agent\n    init_config:\n      mode: enforcement\n      http_port: 2802\n";

/// The kit's hook, which denies like the kit does without its service.
const INTERCEPTOR: &str = "#!/bin/sh\nexit 2\n";

/// Settings of Claude Code with the kit's hook and a hook of the user's.
const CLAUDE: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": "/usr/bin/true" }] }],
    "PreToolUse": [
      { "matcher": "", "hooks": [{ "type": "command", "command": "KIT", "timeout": 30 }] }
    ]
  }
}
"#;

const CODEX: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"KIT"}]}]}}"#;

/// A home with castellan and its daemon, and a kit in the folder `name` whose hook line is `line`.
fn kit(name: &str, line: &str) -> Result<Home> {
    let home = Home::with_castellan("kit", ENFORCE, RULES)?;
    let dir = home.user().join(name);
    let interceptor = dir.join("bin/claude-interceptor");
    home.write(&interceptor, INTERCEPTOR)?;
    fs::set_permissions(&interceptor, fs::Permissions::from_mode(0o755))?;
    home.write(&dir.join("rules/user/team.yaml"), TEAM_RULES)?;
    home.write(&dir.join("rules/default/own.yaml"), "- macro: kits_own\n  condition: tool.name = Bash\n")?;
    home.write(&dir.join("config/falco.coding_agents_plugin.yaml"), PLUGIN)?;
    home.write(&claude(&home), &CLAUDE.replace("KIT", line))?;
    home.write(&home.codex().join("hooks.json"), &CODEX.replace("KIT", line))?;
    home.start_daemon()?;
    Ok(home)
}

const LINE: &str = "$HOME/.prempti/bin/claude-interceptor";

fn claude(home: &Home) -> PathBuf {
    home.user().join(".claude/settings.json")
}

fn import(home: &Home, arguments: &[&str]) -> Result<Finished> {
    terminal::run_castellan(home, &[&["import", "kit", "--yes"][..], arguments].concat())
}

/// Returns the user's files and castellan's configuration and rules, without castellan's backups.
fn files(home: &Home) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![home.user(), home.codex(), home.castellan().join("config")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && !entry.path().display().to_string().contains("castellan-backup") {
                found.insert(entry.path(), fs::read(entry.path())?);
            }
        }
    }
    Ok(found)
}

/// The files of a folder.
fn below(files: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let is_below = |(file, _): &(&PathBuf, &Vec<u8>)| file.starts_with(folder);
    files.iter().filter(is_below).map(|(file, text)| (file.clone(), text.clone())).collect()
}

/// The guards that a settings text registers for tool calls: the kit's, castellan's.
fn guards(text: &str) -> Result<(usize, usize)> {
    let settings: Json = serde_json::from_str(text).with_context(|| format!("not whole: {text:?}"))?;
    let groups = settings["hooks"]["PreToolUse"].as_array().context("no hooks")?;
    let count = |name: &str| groups.iter().filter(|group| group.to_string().contains(name)).count();
    Ok((count("claude-interceptor"), count("castellan-hook")))
}

fn guards_of(file: &Path) -> Result<(usize, usize)> {
    guards(&fs::read_to_string(file)?)
}

/// Reads the settings without pause while `change` runs. Exactly one guard is registered at any time; where it is
/// castellan's, it judges by the imported rules. Returns the changes of the guard that were seen.
fn watched(home: &Home, change: impl FnOnce() -> Result<()>) -> Result<usize> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers = [claude(home), home.codex().join("hooks.json")].map(|file| {
            let is_over = &is_over;
            scope.spawn(move || -> Result<usize> {
                let (mut changes, mut last) = (0, None);
                loop {
                    // The last look comes after the change.
                    let is_last = is_over.load(Ordering::SeqCst);
                    let now = guards_of(&file)?;
                    ensure!(now == (1, 0) || now == (0, 1), "{}: {now:?}", file.display());
                    if last.replace(now).is_some_and(|last| last != now) {
                        changes += 1;
                        let done = judge(home, &bash("echo team-word"))?;
                        ensure!(now == (1, 0) || understood(&done) == "deny", "{done:?}");
                    }
                    if is_last {
                        return Ok(changes);
                    }
                }
            })
        });
        let done = change();
        is_over.store(true, Ordering::SeqCst);
        let mut changes = 0;
        for reader in readers {
            changes += reader.join().map_err(|_| anyhow::anyhow!("a reader failed"))??;
        }
        done.map(|()| changes)
    })
}

#[test]
fn a_kit_is_taken_over_and_given_back_to_the_byte() -> Result<()> {
    for (name, line) in [
        (".prempti", LINE),
        (".coding-agents-kit", "\\\"${HOME}/.coding-agents-kit/bin/claude-interceptor\\\" --agent x"),
    ] {
        let home = kit(name, line)?;
        fs::create_dir(home.user().join(name).join("run"))?;
        let service = UnixListener::bind(home.user().join(name).join("run/broker.sock"))?;
        let unit = home.user().join(".config/systemd/user/guard.service");
        home.write(&unit, &format!("[Service]\nExecStart=%h/{name}/bin/run\n"))?;
        let before = files(&home)?;
        assert_eq!(understood(&judge(&home, &bash("echo team-word"))?), "defer");

        let dry = home.run_castellan(&["import", "kit", "--dry-run"])?;
        for part in [
            "castellan replaces",
            "Deny the team's word",
            "rules/default",
            "http_port",
            "nothing was changed",
        ] {
            assert!(dry.stdout.contains(part), "{part}: {dry:?}");
        }
        assert_eq!(files(&home)?, before);

        let changes = watched(&home, || {
            let done = import(&home, &[])?;
            ensure!(done.code == Some(0), "{done:?}");
            for part in ["--undo", "still runs", "systemctl --user disable --now guard.service"] {
                ensure!(done.stdout.contains(part), "{part}: {done:?}");
            }
            Ok(())
        })?;
        assert_eq!(changes, 2, "the hooks were exchanged once in each file");
        assert_eq!(guards_of(&claude(&home))?, (0, 1));
        assert!(fs::read_to_string(claude(&home))?.contains("/usr/bin/true"));
        let state = status(&home)?;
        assert_eq!(
            (&state["mode"], &state["pending"]),
            (&Json::from("enforce"), &serde_json::json!([])),
            "{state}"
        );
        assert_eq!(understood(&judge(&home, &bash("echo team-word"))?), "deny");
        assert_eq!(
            understood(&judge(&home, &bash("echo forbidden"))?),
            "deny",
            "castellan's rules are in force too"
        );
        assert_eq!(understood(&judge(&home, &bash("echo hello"))?), "allow", "the kit's default action");
        let records = home.records()?;
        ensure!(
            records.iter().any(|record| record.to_string().contains("Deny the team's word")),
            "{records:?}"
        );
        assert_eq!(below(&files(&home)?, &home.user().join(name)), below(&before, &home.user().join(name)));
        let again = import(&home, &[])?;
        ensure!(again.code == Some(7) && again.stderr.contains("imported before"), "{again:?}");

        let changes = watched(&home, || {
            let done = import(&home, &["--undo"])?;
            ensure!(done.code == Some(0), "{done:?}");
            Ok(())
        })?;
        assert_eq!(changes, 2);
        assert_eq!(files(&home)?, before);
        assert_eq!(understood(&judge(&home, &bash("echo team-word"))?), "defer");
        let again = import(&home, &["--undo"])?;
        ensure!(again.code == Some(7) && again.stderr.contains("nothing was imported"), "{again:?}");
        drop(service);
    }
    Ok(())
}

/// A home that cannot be taken over, the exit code and a part of the message.
type Refused = (&'static str, fn(&Home) -> Result<()>, i32, &'static str);

const REFUSED: &[Refused] = &[
    (
        "an edited hook line",
        |home| home.write(&claude(home), &CLAUDE.replace("KIT", &format!("{LINE} || true"))),
        7,
        "does more than start it",
    ),
    (
        "two installations",
        |home| Ok(fs::create_dir(home.user().join(".coding-agents-kit"))?),
        7,
        "two installations",
    ),
    (
        "a rule that does not load",
        |home| {
            home.write(&home.user().join(".prempti/rules/user/z.yaml"), "- rule: x\n  desc: d\n  condition: tool.name =\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n")
        },
        1,
        "rules/user/z.yaml:3",
    ),
    (
        "a field that castellan lacks",
        |home| {
            home.write(&home.user().join(".prempti/rules/user/z.yaml"), "- rule: x\n  desc: d\n  condition: session.missing = x\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n")
        },
        1,
        "rules/user/z.yaml:3",
    ),
    (
        "a rule that Falco skips without a word",
        |home| {
            home.write(&home.user().join(".prempti/rules/user/z.yaml"), "- rule: x\n  desc: d\n  condition: session.missing = x\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n  skip-if-unknown-filter: true\n")
        },
        1,
        "rules/user/z.yaml:",
    ),
    (
        "a rule of another source",
        |home| {
            home.write(&home.user().join(".prempti/rules/user/z.yaml"), "- rule: x\n  desc: d\n  condition: evt.type = open\n  output: o\n  priority: CRITICAL\n  source: syscall\n")
        },
        1,
        "rules/user/z.yaml:",
    ),
    (
        "an unreadable rule file",
        |home| Ok(symlink("nothing", home.user().join(".prempti/rules/user/z.yaml"))?),
        1,
        "rules/user/z.yaml",
    ),
    (
        "bytes that are no text",
        |home| {
            Ok(fs::write(home.user().join(".prempti/rules/user/z.yaml"), b"- list: a\n  items: [\xff]\n")?)
        },
        1,
        "rules/user/z.yaml:2",
    ),
    (
        "a definition of the kit's own rules",
        |home| {
            home.write(&home.user().join(".prempti/rules/user/z.yaml"), "- rule: x\n  desc: d\n  condition: kits_own\n  output: o\n  priority: CRITICAL\n  source: coding_agent\n")
        },
        1,
        "copy its definition",
    ),
    (
        "a name of castellan's own rules",
        |home| {
            home.write(
                &home.user().join(".prempti/rules/user/z.yaml"),
                "- macro: names_all_files\n  condition: tool.name = never\n",
            )
        },
        1,
        "castellan has a macro `names_all_files` too",
    ),
    (
        "a name of the user's own rules",
        |home| {
            home.write(
                &home.user().join(".prempti/rules/user/z.yaml"),
                &TEAM_RULES.replace("Deny the team's word", "Test deny"),
            )
        },
        1,
        "castellan has a rule `Test deny` too",
    ),
    (
        "a mode without a counterpart",
        |home| {
            home.write(
                &home.user().join(".prempti/config/falco.coding_agents_plugin.yaml"),
                &PLUGIN.replace("enforcement", "sometimes"),
            )
        },
        7,
        "`mode` is none of",
    ),
    (
        "a hook in a file that castellan does not edit",
        |home| home.write(&home.user().join(".claude/settings.local.json"), &CLAUDE.replace("KIT", LINE)),
        7,
        "settings.local.json",
    ),
    (
        "a dangling settings file",
        |home| {
            fs::remove_file(claude(home))?;
            Ok(symlink("nothing.json", claude(home))?)
        },
        7,
        "symlink to nothing",
    ),
    (
        "a hook that is not there",
        |home| Ok(fs::rename(home.bin().join("castellan-hook"), home.bin().join("x"))?),
        7,
        "missing or not executable",
    ),
    (
        "a hook that does not answer",
        |home| {
            let hook = home.bin().join("castellan-hook");
            fs::remove_file(&hook)?;
            Ok(symlink("/bin/true", hook)?)
        },
        7,
        "the hooks were left as they were",
    ),
    (
        "edits that wait",
        |home| {
            home.write(&home.castellan().join("config/rules/user/more.yaml"), "- list: more\n  items: [a]\n")
        },
        7,
        "castellan apply",
    ),
];

#[test]
fn what_cannot_be_taken_over_stays_as_it_is() -> Result<()> {
    for (what, change, code, part) in REFUSED {
        let home = kit(".prempti", LINE)?;
        change(&home)?;
        let before = files(&home)?;
        let done = import(&home, &[])?;
        assert_eq!(done.code, Some(*code), "{what}: {done:?}");
        assert!(format!("{}{}", done.stdout, done.stderr).contains(part), "{what}: {done:?}");
        assert_eq!(files(&home)?, before, "{what}");
        assert!(!home.castellan().join("state/import-kit.json").exists(), "{what}");
    }
    Ok(())
}

#[test]
fn nobody_but_a_person_takes_over_or_gives_back() -> Result<()> {
    let home = kit(".prempti", LINE)?;
    let before = files(&home)?;
    let alone = |arguments: &[&str]| -> Result<Finished> {
        let mut command = home.command(&home.bin().join("castellan"));
        command.arg("--home").arg(home.castellan()).args(["import", "kit", "--yes"]).args(arguments);
        Running::start(&mut command)?.finish(LIMIT)
    };
    let done = alone(&[])?;
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_eq!(files(&home)?, before);
    assert_eq!(import(&home, &[])?.code, Some(0));
    let imported = files(&home)?;
    let done = alone(&["--undo"])?;
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_eq!(files(&home)?, imported);
    // Without a daemon nothing is taken over or given back.
    assert_eq!(terminal::run_castellan(&home, &["stop"])?.code, Some(0));
    assert_eq!(import(&home, &["--undo"])?.code, Some(3));
    assert_eq!(files(&home)?, imported);
    Ok(())
}

#[test]
fn half_a_kit_and_other_settings_are_taken_over() -> Result<()> {
    // The folder is gone, and the hooks are still there.
    let home = kit(".prempti", LINE)?;
    fs::remove_dir_all(home.user().join(".prempti"))?;
    let done = import(&home, &[])?;
    assert!(done.code == Some(0) && done.stdout.contains("there are no user rules"), "{done:?}");
    assert_eq!(guards_of(&claude(&home))?, (0, 1));
    let imported = files(&home)?;
    let done = import(&home, &["--undo"])?;
    assert!(done.code == Some(7) && done.stderr.contains("would guard nothing"), "{done:?}");
    assert_eq!(files(&home)?, imported);

    // The hooks are gone.
    let home = kit(".prempti", LINE)?;
    fs::write(claude(&home), "{}")?;
    fs::write(home.codex().join("hooks.json"), "{}")?;
    let done = import(&home, &[])?;
    assert!(done.code == Some(0) && done.stdout.contains("`castellan install`"), "{done:?}");
    assert_eq!(fs::read_to_string(claude(&home))?, "{}");
    assert_eq!(understood(&judge(&home, &bash("echo team-word"))?), "deny");

    // castellan is registered beside the kit, in a settings file behind a symlink.
    let home = kit(".prempti", LINE)?;
    let real = home.user().join("dotfiles/claude.json");
    home.write(&real, &fs::read_to_string(claude(&home))?)?;
    fs::remove_file(claude(&home))?;
    symlink(&real, claude(&home))?;
    home.run_castellan(&["install", "claude"])?;
    assert_eq!(guards_of(&real)?, (1, 1));
    let before = files(&home)?;
    assert_eq!(import(&home, &[])?.code, Some(0));
    assert_eq!(guards_of(&real)?, (0, 1));
    assert_eq!(fs::read_link(claude(&home))?, real);
    assert_eq!(import(&home, &["--undo"])?.code, Some(0));
    assert_eq!(files(&home)?, before);
    Ok(())
}

#[test]
fn changes_after_the_import_are_not_lost() -> Result<()> {
    let home = kit(".prempti", LINE)?;
    assert_eq!(import(&home, &[])?.code, Some(0));
    // A change of castellan's configuration survives, and the keys of the import do not.
    let set = terminal::run_castellan(&home, &["config", "set", "undo.mode", "off", "--yes"])?;
    assert_eq!(set.code, Some(0), "{set:?}");
    // A change of the settings stops the undo.
    let imported = fs::read_to_string(claude(&home))?;
    fs::write(claude(&home), imported.replace("opus", "haiku"))?;
    let done = import(&home, &["--undo"])?;
    assert!(done.code == Some(7) && done.stderr.contains("was changed since the import"), "{done:?}");
    assert_eq!(guards_of(&claude(&home))?, (0, 1));
    fs::write(claude(&home), imported)?;
    assert_eq!(import(&home, &["--undo"])?.code, Some(0));
    assert_eq!(guards_of(&claude(&home))?, (1, 0));
    let config = fs::read_to_string(home.castellan().join("config/config.toml"))?;
    assert!(config.contains("off") && !config.contains("kit") && !config.contains("default ="), "{config}");
    Ok(())
}
