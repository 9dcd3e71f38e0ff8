//! One registration for the machine, and a daemon for each user: throw-away users in a private `/etc`, and hooks that run as them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, HOOK_LIMIT, RULES, bash, understood};
use castellan_tests::process::{Finished, Running};
use serde_json::Value as Json;

const ONE: u32 = 61_001;
const TWO: u32 = 61_002;
/// Whom no file of users names.
const UNNAMED: u32 = 61_003;

const REGISTRATIONS: [&str; 2] =
    ["claude-code/managed-settings.d/50-castellan.json", "codex/requirements.toml"];

/// A machine with some users.
struct Machine {
    home: Home,
}

impl Machine {
    /// `None` where this cannot run, which was said.
    fn new() -> Result<Option<Machine>> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("NOT RUN: to run as other users needs root");
            return Ok(None);
        }
        let mut home = Home::with_castellan("every-user", ENFORCE, RULES)?;
        if !home.make_etc_private()? {
            return Ok(None);
        }
        let machine = Machine { home };
        fs::set_permissions(machine.root()?, fs::Permissions::from_mode(0o755))?;
        let mut users = "root:x:0:0::/root:/bin/sh\n".to_owned();
        for user in [ONE, TWO] {
            let dir = machine.user(user)?;
            fs::create_dir_all(&dir)?;
            chown(&dir, Some(user), Some(user))?;
            users.push_str(&format!("u{user}:x:{user}:{user}::{}:/bin/sh\n", dir.display()));
        }
        let passwd = machine.home.etc().join("passwd");
        fs::remove_file(&passwd)?;
        fs::write(passwd, users)?;
        Ok(Some(machine))
    }

    fn root(&self) -> Result<PathBuf> {
        Ok(self.home.etc().parent().context("no root")?.to_owned())
    }

    /// A user's home directory.
    fn user(&self, user: u32) -> Result<PathBuf> {
        Ok(self.root()?.join(format!("users/{user}")))
    }

    /// Where castellan's home of a user is.
    fn castellan(&self, user: u32) -> Result<PathBuf> {
        Ok(self.user(user)?.join(".local/share/castellan"))
    }

    /// Runs `castellan` as root, as an administrator would.
    fn administer(&self, arguments: &[&str]) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        Running::start(command.args(arguments))?.finish(HOOK_LIMIT)
    }

    /// Runs a program as a user, with an environment that leads elsewhere.
    fn run_as(&self, user: u32, arguments: &[String], input: &str) -> Result<Finished> {
        let mut command = self.home.command(Path::new("setpriv"));
        let id = user.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "timeout", "60"]).args(arguments);
        let elsewhere = self.root()?.join("elsewhere");
        command.env("HOME", &elsewhere).env("XDG_DATA_HOME", &elsewhere).env("USER", "root").current_dir("/");
        Running::start_with_input(&mut command, input.as_bytes())?.finish(HOOK_LIMIT)
    }

    /// The command line that is registered for everybody.
    fn hook(&self) -> Result<Vec<String>> {
        let text = fs::read_to_string(self.home.etc().join(REGISTRATIONS[0]))?;
        let settings: Json = serde_json::from_str(&text)?;
        let handler = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        let words =
            std::iter::once(&handler["command"]).chain(handler["args"].as_array().context("no args")?);
        words.map(|word| word.as_str().map(str::to_owned).context("no word")).collect()
    }

    /// What a user's agent is answered to a command, and what the hook wrote to standard error.
    fn ask(&self, user: u32, command: &str) -> Result<(String, String)> {
        let done = self.run_as(user, &self.hook()?, &bash(command).to_string())?;
        Ok((understood(&done), done.stderr))
    }

    /// Commands that the daemon of a user has judged, as its log tells.
    fn judged(&self, user: u32) -> Result<Vec<String>> {
        let castellan = self.home.bin().join("castellan").display().to_string();
        let home = self.castellan(user)?.display().to_string();
        let line = [castellan, "--home".to_owned(), home, "log".to_owned(), "--json".to_owned()];
        let log = self.run_as(user, &line, "")?;
        let records = log.stdout.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        Ok(records.filter_map(|one| one["call"]["input"]["command"].as_str().map(str::to_owned)).collect())
    }
}

#[test]
fn each_users_own_daemon_answers_theirs() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    let installed = machine.administer(&["install", "--managed"])?;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    for file in REGISTRATIONS {
        let text = fs::read_to_string(machine.home.etc().join(file))?;
        assert!(text.contains("castellan-hook") && !text.contains("share/castellan"), "{file}: {text}");
    }
    for user in [ONE, TWO] {
        // Nobody has installed anything for them: their first call makes their home.
        let own = format!("ls {user}");
        assert_eq!(machine.ask(user, &own)?, ("defer".to_owned(), String::new()));
        let (denied, _) = machine.ask(user, "rm -rf /")?;
        assert_eq!(denied, "deny", "by castellan's own rules");
        assert_eq!(machine.judged(user)?, [own.as_str(), "rm -rf /"]);
        let run = fs::metadata(machine.castellan(user)?.join("run"))?;
        assert_eq!((run.uid(), run.mode() & 0o777), (user, 0o700));
    }
    assert!(!machine.root()?.join("elsewhere").exists(), "an environment has moved something");
    // `doctor` and `status` of root know that everybody is guarded; `uninstall` undoes it.
    let status = machine.administer(&["status", "--json"])?;
    let status: Json = serde_json::from_str(&status.stdout)?;
    assert!(status["agents"][0]["registered_for_machine"] == true, "{status}");
    Ok(())
}

#[test]
fn no_user_reaches_the_daemon_of_another() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    assert_eq!(machine.administer(&["install", "--managed", "claude"])?.code, Some(0));
    assert_eq!(machine.ask(ONE, "ls")?.0, "defer");
    let hook = |home: &Path| {
        let mut hook = machine.hook()?;
        *hook.last_mut().context("no home")? = home.display().to_string();
        Ok::<_, anyhow::Error>(hook)
    };
    let done = machine.run_as(TWO, &hook(&machine.castellan(ONE)?)?, &bash("ls").to_string())?;
    assert_eq!((understood(&done).as_str(), done.code), ("deny", Some(2)), "{done:?}");
    // Nor by a symlink in the place of their own home.
    let place = machine.user(TWO)?.join(".local/share");
    fs::create_dir_all(&place)?;
    chown(machine.user(TWO)?.join(".local"), Some(TWO), Some(TWO))?;
    chown(&place, Some(TWO), Some(TWO))?;
    symlink(machine.castellan(ONE)?, place.join("castellan"))?;
    let (denied, why) = machine.ask(TWO, "ls")?;
    assert!(denied == "deny" && why.contains("not private to this user"), "{denied}: {why}");
    assert_eq!(machine.judged(ONE)?, ["ls"]);
    Ok(())
}

#[test]
fn whom_no_file_names_is_denied_and_told_why_until_root_names_them() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    assert_eq!(machine.administer(&["install", "--managed", "claude"])?.code, Some(0));
    let (denied, why) = machine.ask(UNNAMED, "ls")?;
    assert!(denied == "deny" && why.contains("this user has no home directory"), "{denied}: {why}");
    let dir = machine.user(UNNAMED)?;
    fs::create_dir_all(&dir)?;
    chown(&dir, Some(UNNAMED), Some(UNNAMED))?;
    let line = format!("who:x:{UNNAMED}:{UNNAMED}::{}:/bin/sh\n", dir.display());
    fs::write(machine.home.etc().join("castellan/passwd"), line)?;
    assert_eq!(machine.ask(UNNAMED, "ls")?.0, "defer");
    assert_eq!(machine.judged(UNNAMED)?, ["ls"]);
    Ok(())
}

/// `--home` is the home of who installs it, and of nobody else; a registration of before leads everybody there.
#[test]
fn a_home_that_is_named_is_its_owners_alone() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    machine.home.run_castellan(&["install", "--managed", "claude"])?;
    let asked = machine.run_as(0, &machine.hook()?, &bash("doubtful").to_string())?;
    assert_eq!(understood(&asked), "ask", "by the rules of the named home: {asked:?}");
    assert_eq!(machine.ask(ONE, "doubtful")?.0, "defer", "by defaults");
    let settings = machine.home.etc().join(REGISTRATIONS[0]);
    let before = fs::read_to_string(&settings)?.replace("0:/", "/");
    fs::write(&settings, before)?;
    assert_eq!(machine.ask(ONE, "doubtful")?.0, "deny");
    let asked = machine.run_as(0, &machine.hook()?, &bash("doubtful").to_string())?;
    assert_eq!(understood(&asked), "ask", "{asked:?}");
    Ok(())
}

#[test]
fn programs_that_a_user_can_change_are_registered_for_nobody_else() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    let check =
        |change: &dyn Fn() -> std::io::Result<()>, undo: &dyn Fn() -> std::io::Result<()>, named: &Path| {
            change()?;
            let refused = machine.administer(&["install", "--managed", "claude"])?;
            let told = format!("can change `{}`", named.display());
            anyhow::ensure!(refused.code == Some(7) && refused.stderr.contains(&told), "{told}: {refused:?}");
            anyhow::ensure!(!machine.home.etc().join(REGISTRATIONS[0]).exists(), "it is registered");
            Ok(undo()?)
        };
    let bin = machine.home.bin().canonicalize()?;
    let root = machine.root()?.canonicalize()?;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    // The binaries are links to what was built: only folders are changed here.
    check(&|| chown(&bin, Some(ONE), None), &|| chown(&bin, Some(0), None), &bin)?;
    check(&|| mode(&bin, 0o757), &|| mode(&bin, 0o755), &bin)?;
    check(&|| chown(&root, Some(ONE), None), &|| chown(&root, Some(0), None), &root)?;
    let done = machine.administer(&["install", "--managed", "claude"])?;
    assert!(done.code == Some(0) && !done.stdout.contains("cannot start"), "{done:?}");
    mode(&root, 0o700)?;
    let done = machine.administer(&["install", "--managed", "claude"])?;
    assert!(done.code == Some(0) && done.stdout.contains("cannot start"), "{done:?}");
    Ok(())
}
