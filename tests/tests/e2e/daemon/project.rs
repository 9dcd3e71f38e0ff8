//! A workspace's own files apply in the state that a person trusted. Apart from allow rules, they can only tighten.

use std::fs;
use std::path::PathBuf;

use castellan_tests::home::Home;
use castellan_tests::hook::{RULES, bash, judge, understood};
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

use super::ways_out::castellan;
use super::{kill, status};

/// Opaque calls are deferred, so only rules decide.
const CONFIG: &str = "version = 1\nopaque = \"defer\"\n";

/// Denies one word, and allows another word that the user's rule asks about.
const PROJECT: &str = "version = 1\ndeny = [\"Bash(ls own:*)\"]\nallow = [\"Bash(echo doubtful:*)\", \"Bash(echo forbidden:*)\"]\n";

struct Place {
    home: Home,
    workspace: String,
}

impl Place {
    fn new(name: &str) -> anyhow::Result<Place> {
        let home = Home::with_castellan(name, CONFIG, RULES)?;
        let workspace = home.workspace().canonicalize()?.display().to_string();
        home.start_daemon()?;
        Ok(Place { home, workspace })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.workspace().join(".castellan").join(name)
    }

    fn write(&self, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
        fs::create_dir_all(self.file(""))?;
        Ok(fs::write(self.file("config.toml"), text)?)
    }

    fn judge(&self, command: &str) -> anyhow::Result<String> {
        let mut call = bash(command);
        call["cwd"] = self.workspace.as_str().into();
        Ok(understood(&judge(&self.home, &call)?))
    }

    /// Runs `castellan trust` as a person at a terminal.
    fn trust(&self, arguments: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
        let arguments = [&["trust"], arguments, &[self.workspace.as_str()]].concat();
        let done = terminal::run_castellan(&self.home, &arguments)?;
        Ok((done.code, done.stdout + &done.stderr))
    }

    fn listed(&self) -> anyhow::Result<Json> {
        let done = self.home.run_castellan(&["trust", "--list", "--json"])?;
        Ok(serde_json::from_str::<Json>(&done.stdout)?["workspaces"].clone())
    }
}

/// Returns the answer of `castellan check` in a directory.
fn checked(place: &Place, directory: &str, command: &str) -> anyhow::Result<String> {
    let done = castellan(&place.home, &["check", "--json", "--cwd", directory, command])?;
    let answer: Json = serde_json::from_str(&done.stdout)?;
    Ok(answer["verdict"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn check_answers_in_a_workspace_what_the_hook_does() -> anyhow::Result<()> {
    const COMMANDS: &[&str] = &["ls own", "echo doubtful", "echo forbidden", "ls", "touch x"];
    let place = Place::new("check")?;
    let same = |when: &str, expected: &[&str]| -> anyhow::Result<()> {
        for (command, expected) in COMMANDS.iter().zip(expected) {
            assert_eq!(place.judge(command)?, *expected, "{when}: {command}");
            assert_eq!(checked(&place, &place.workspace, command)?, *expected, "{when}: check {command}");
        }
        Ok(())
    };
    place.write(PROJECT)?;
    fs::create_dir_all(place.file("rules"))?;
    fs::write(place.file("rules/own.yaml"), OWN_RULE)?;
    same("not trusted", &["defer", "ask", "deny", "defer", "defer"])?;
    assert_eq!(place.trust(&["--yes"])?.0, Some(0));
    same("trusted", &["deny", "allow", "deny", "defer", "ask"])?;
    let listed = |cwd: &str| -> anyhow::Result<bool> {
        Ok(place.home.run_castellan(&["rules", "list", "--cwd", cwd])?.stdout.contains("Ask of the project"))
    };
    assert!(listed(&place.workspace)? && !listed("/")?);
    let explained = place.home.run_castellan(&["explain", "--json", "--cwd", &place.workspace, "ls own"])?;
    assert_eq!(serde_json::from_str::<Json>(&explained.stdout)?["verdict"], "deny");
    // Later changes of the files do not apply.
    place.write("version = 1\n")?;
    same("changed", &["deny", "allow", "deny", "defer", "ask"])?;
    // In another directory none of it applies.
    assert_eq!(checked(&place, "/", "ls own")?, "defer");
    assert_eq!(place.trust(&["--deny"])?.0, Some(0));
    same("denied", &["deny"; 5])?;
    let told = place.home.run_castellan(&["rules", "list", "--cwd", &place.workspace])?;
    assert!(told.stderr.contains("this workspace is denied"), "{}", told.stderr);
    let below = format!("{}/below", place.workspace);
    fs::create_dir_all(&below)?;
    assert_eq!(checked(&place, &below, "ls")?, "deny");
    assert_eq!(place.trust(&["--forget"])?.0, Some(0));
    same("forgotten", &["defer", "ask", "deny", "defer", "defer"])
}

const OWN_RULE: &str = "- rule: Ask of the project\n  desc: d\n  condition: cmd.name = touch\n  output: o\n  \
    priority: WARNING\n  source: coding_agent\n  tags: [coding_agent_ask]\n";

#[test]
fn a_projects_files_count_as_they_were_trusted() -> anyhow::Result<()> {
    let place = Place::new("project")?;
    place.write(PROJECT)?;
    // Nobody has trusted the files, so they do not apply.
    assert_eq!(place.judge("ls own")?, "defer");
    assert_eq!(place.judge("echo doubtful")?, "ask");
    let before = status(&place.home)["policy"].clone();
    // Without a terminal no person can trust them.
    assert_eq!(castellan(&place.home, &["trust", &place.workspace])?.code, Some(4));
    assert_eq!(place.judge("ls own")?, "defer");
    let (code, shown) = place.trust(&["--yes"])?;
    assert_eq!(code, Some(0), "{shown}");
    for part in ["deny", "ls own:*", "allow", "echo doubtful:*", "loosens"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(place.judge("ls own")?, "deny");
    // The files lift an ask of the user's rule, but never a deny.
    assert_eq!(place.judge("echo doubtful")?, "allow");
    assert_eq!(place.judge("echo forbidden")?, "deny");
    assert_eq!(
        place.listed()?,
        json!([{ "workspace": place.workspace, "trust": "trusted", "files": "same" }])
    );
    // Later changes of the files do not change that.
    place.write("version = 1\nallow = [\"Bash(ls own:*)\"]\n")?;
    assert_eq!(place.judge("ls own")?, "deny");
    assert_eq!(place.listed()?[0]["files"], "changed");
    fs::remove_dir_all(place.file(""))?;
    assert_eq!(place.judge("ls own")?, "deny");
    assert_eq!(place.listed()?[0]["files"], "changed");
    // After a restart too.
    kill(place.home.start_daemon()?)?;
    assert_eq!(place.judge("ls own")?, "deny");
    // Without the trust only the user's rules apply.
    assert_eq!(place.trust(&["--forget"])?.0, Some(0));
    for (command, expected) in [("ls own", "defer"), ("echo doubtful", "ask"), ("echo forbidden", "deny")] {
        assert_eq!(place.judge(command)?, expected, "{command}");
    }
    assert_eq!(fs::read_dir(place.home.castellan().join("state/projects"))?.count(), 0);

    let records = place.home.records()?;
    let of = |command: &str| {
        let is_it = |record: &&Json| record["call"]["input"]["command"] == command;
        records.iter().filter(is_it).map(|record| record["call"]["policy"].clone()).collect::<Vec<_>>()
    };
    let policies = of("echo forbidden");
    assert_eq!((policies.len(), &policies[1]), (2, &before), "{policies:?}");
    assert_ne!(policies[0], before, "a record names the policy that judged");
    Ok(())
}

#[test]
fn a_person_agrees_to_what_was_shown() -> anyhow::Result<()> {
    let place = Place::new("project-shown")?;
    place.write(PROJECT)?;
    let start = || terminal::start_castellan(&place.home, &["trust", &place.workspace]);
    let mut refused = start()?;
    refused.answer("trust it with these?", "n\n")?;
    assert_eq!(refused.finish()?.code, Some(1));
    assert_eq!(place.listed()?, json!([]));
    // The files are edited while the person reads them.
    let mut late = start()?;
    late.answer("trust it with these?", "")?;
    place.write("version = 1\nallow = [\"Bash(echo doubtful:*)\"]\n")?;
    late.answer("", "y\n")?;
    assert_ne!(late.finish()?.code, Some(0));
    assert_eq!(place.listed()?, json!([]));
    assert_eq!(place.judge("echo doubtful")?, "ask");
    let mut agreed = start()?;
    agreed.answer("trust it with these?", "y\n")?;
    assert_eq!(agreed.finish()?.code, Some(0));
    assert_eq!(place.judge("echo doubtful")?, "allow");
    Ok(())
}

#[test]
fn files_that_make_no_sense_are_not_trusted() -> anyhow::Result<()> {
    let place = Place::new("project-bad")?;
    let check = |part: &str| -> anyhow::Result<()> {
        let (code, shown) = place.trust(&["--yes"])?;
        assert!(code != Some(0) && shown.contains(part), "{part}: {code:?} {shown}");
        assert_eq!(place.listed()?, json!([]));
        Ok(())
    };
    place.write("version = 1\nmod = 1\n")?;
    check("unknown key `mod`")?;
    place.write(b"version = 1 # \xff\n")?;
    check("not UTF-8")?;
    place.write("")?;
    fs::File::options().write(true).open(place.file("config.toml"))?.set_len(100_000_000)?;
    check("more than")?;
    fs::remove_file(place.file("config.toml"))?;
    std::os::unix::fs::symlink("/etc/hostname", place.file("config.toml"))?;
    check("symbolic link")?;
    fs::remove_dir_all(place.file(""))?;
    std::os::unix::fs::symlink("/etc", place.home.workspace().join(".castellan"))?;
    check("symbolic link")?;
    Ok(())
}

#[test]
fn a_copy_that_is_gone_leaves_the_workspace_unknown() -> anyhow::Result<()> {
    let place = Place::new("project-lost")?;
    place.write(PROJECT)?;
    assert_eq!(place.trust(&["--yes"])?.0, Some(0));
    kill(place.home.start_daemon()?)?;
    fs::remove_dir_all(place.home.castellan().join("state/projects"))?;
    assert_eq!(place.judge("echo doubtful")?, "ask");
    assert_eq!(place.judge("echo forbidden")?, "deny");
    assert_eq!(place.listed()?[0]["files"], "lost");
    let status = status(&place.home);
    assert_eq!(status["failures"], 1, "{status}");
    assert_eq!(place.trust(&["--yes"])?.0, Some(0));
    assert_eq!(place.judge("ls own")?, "deny");
    Ok(())
}
