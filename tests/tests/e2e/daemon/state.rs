//! State that survives a killed daemon, and changes that others may make to its file.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, call, judge, understood};
use castellan_tests::terminal;
use castellan_tests::wait::until;
use serde_json::{Value as Json, json};

use super::ways_out::castellan;
use super::{LIMIT, kill, status};

const STRICT: &str = "version = 1\nprofile = \"strict\"\n";

/// Returns the answer to a call that writes a file of the workspace.
fn write(home: &Home, session: &str, name: &str) -> anyhow::Result<String> {
    let file = home.workspace().join(name);
    let mut call = call("Write", &json!({ "file_path": file, "content": "x" }));
    call["session_id"] = session.into();
    call["cwd"] = home.workspace().to_string_lossy().as_ref().into();
    Ok(understood(&judge(home, &call)?))
}

fn trust(home: &Home, arguments: &[&str]) -> anyhow::Result<Option<i32>> {
    let workspace = home.workspace().display().to_string();
    let arguments = [&["trust"], arguments, &[workspace.as_str()]].concat();
    Ok(terminal::run_castellan(home, &arguments)?.code)
}

fn journal(home: &Home) -> PathBuf {
    home.castellan().join("state/journal")
}

fn decided(home: &Home) -> anyhow::Result<Json> {
    let shown: Json = serde_json::from_str(&home.run_castellan(&["trust", "--list", "--json"])?.stdout)?;
    Ok(shown["workspaces"].clone())
}

#[test]
fn trust_needs_a_person_and_outlives_the_daemon() -> anyhow::Result<()> {
    let home = Home::with_castellan("trust", STRICT, RULES)?;
    let workspace = home.workspace().canonicalize()?.display().to_string();
    assert_eq!(write(&home, "a", "1")?, "ask");
    // Without a terminal, like an agent's tool call.
    let refused = castellan(&home, &["trust", &workspace])?;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert_eq!(write(&home, "a", "2")?, "ask");
    assert_eq!(trust(&home, &[])?, Some(0));
    assert_eq!(write(&home, "a", "3")?, "defer");
    assert_eq!(decided(&home)?, json!([{ "workspace": workspace, "trust": "trusted" }]));
    kill(home.start_daemon()?)?;
    assert_eq!(write(&home, "a", "4")?, "defer");
    assert_eq!(write(&home, "b", "5")?, "defer");
    // A denial of trust needs no person.
    assert_eq!(home.run_castellan(&["trust", "--deny", &workspace])?.code, Some(0));
    assert_eq!(write(&home, "b", "6")?, "deny");
    kill(home.start_daemon()?)?;
    assert_eq!(write(&home, "b", "7")?, "deny");
    let refused = castellan(&home, &["trust", "--forget", &workspace])?;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert_eq!(trust(&home, &["--forget"])?, Some(0));
    assert_eq!(write(&home, "b", "8")?, "ask");
    assert_eq!(decided(&home)?, json!([]));

    let records = home.records()?;
    let control = |action: &str, accepted: bool| {
        let is_it = |record: &&Json| {
            record["control"]["action"] == action && record["control"]["accepted"] == accepted
        };
        records.iter().filter(is_it).count()
    };
    assert_eq!(
        (control("trust", false), control("trust_resolved", true), control("trust_denied", true)),
        (2, 2, 1)
    );
    let told = format!("trust_required {workspace}");
    // Once for each session that a daemon saw there before a decision.
    assert_eq!(records.iter().filter(|record| record["session"]["message"] == told.as_str()).count(), 2);
    Ok(())
}

#[test]
fn only_a_workspace_by_its_real_path_is_trusted() -> anyhow::Result<()> {
    let home = Home::with_castellan("trust-paths", STRICT, RULES)?;
    home.start_daemon()?;
    let workspace = home.workspace().canonicalize()?;
    std::fs::create_dir(workspace.join("inside"))?;
    let link = home.user().join("link");
    std::os::unix::fs::symlink(&workspace, &link)?;
    let run = |path: &Path| terminal::run_castellan(&home, &["trust", &path.display().to_string()]);
    for none in [Path::new("/"), &home.user(), &home.workspace().join("missing"), Path::new("/dev/null")] {
        assert_ne!(run(none)?.code, Some(0), "{}", none.display());
    }
    assert_eq!(decided(&home)?, json!([]));
    // Every path to the workspace means the workspace.
    for way in [workspace.join("inside/../inside"), link.join("inside")] {
        assert_eq!(run(&way)?.code, Some(0));
        assert_eq!(decided(&home)?, json!([{ "workspace": workspace, "trust": "trusted" }]));
    }
    assert_eq!(write(&home, "a", "1")?, "defer");
    Ok(())
}

/// Damages the state while no daemon runs, and checks the result.
fn check_damage(name: &str, damage: impl FnOnce(&Path), kept: bool) -> anyhow::Result<()> {
    let home = Home::with_castellan(&format!("state-{name}"), STRICT, RULES)?;
    let daemon = home.start_daemon()?;
    assert_eq!(trust(&home, &[])?, Some(0));
    assert_eq!(write(&home, "a", "1")?, "defer");
    kill(daemon)?;
    damage(&journal(&home));
    assert_eq!(write(&home, "a", "2")?, if kept { "defer" } else { "ask" }, "{name}");
    let status = status(&home);
    assert_eq!(status["failures"], u32::from(!kept), "{name}: {status}");
    assert_eq!(
        home.castellan().join("state/journal.damaged").symlink_metadata().is_ok(),
        !kept && name != "missing"
    );
    // The state is valid again.
    assert_eq!(trust(&home, &[])?, Some(0));
    kill(home.start_daemon()?)?;
    assert_eq!(write(&home, "b", "3")?, "defer", "{name}");
    assert_eq!(journal(&home).metadata()?.permissions().mode() & 0o777, 0o600);
    Ok(())
}

#[test]
fn a_state_that_cannot_be_read_trusts_nobody_and_says_so() -> anyhow::Result<()> {
    let append = |path: &Path, text: &[u8]| {
        let mut bytes = std::fs::read(path).unwrap();
        bytes.extend(text);
        std::fs::write(path, bytes).unwrap();
    };
    check_damage("whole", |_| {}, true)?;
    check_damage("torn", |path| append(path, b"{\"trust\":{\"work"), true)?;
    check_damage("missing", |path| std::fs::remove_file(path).unwrap(), false)?;
    check_damage("garbage", |path| append(path, b"garbage\n"), false)?;
    let huge = |path: &Path| {
        std::fs::File::options().write(true).open(path).unwrap().set_len(100 * 1024 * 1024).unwrap();
    };
    check_damage("huge", huge, false)?;
    let writable = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
    };
    check_damage("writable", writable, false)
}

#[test]
fn a_state_that_is_removed_while_the_daemon_runs_is_written_again() -> anyhow::Result<()> {
    let home = Home::with_castellan("state-removed", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    assert_eq!(trust(&home, &[])?, Some(0));
    std::fs::remove_file(journal(&home))?;
    let again = until(LIMIT, || Ok((status(&home)["failures"] == 1).then_some(())))?;
    assert!(again.is_some(), "{}", status(&home));
    kill(daemon)?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    assert_eq!(decided(&home)?.as_array().map(Vec::len), Some(1));
    Ok(())
}
