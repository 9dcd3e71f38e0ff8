//! The folder for development containers, in a namespace with an `/etc` and a `/usr/local` of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::process::{Finished, Running, processes_of};
use rustix::process::{Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::rig::LIMIT;

/// Mounts the test's directories over those of the machine, and runs the rest.
const INSIDE: &str = r#"mount --bind "$1/etc" /etc && mount --bind "$1/local" /usr/local || exit 99
shift; exec "$@""#;

struct Container {
    home: Home,
    root: PathBuf,
}

impl Container {
    fn new() -> Result<Container> {
        let home = Home::new("devcontainer")?;
        let root = home.user().join("container");
        for dir in ["etc", "local/bin", "feature/bin"] {
            fs::create_dir_all(root.join(dir))?;
        }
        // Hooks of the machine find each user's home by this file, not by `HOME`.
        let user = format!("root:x:0:0::{}:/bin/sh\n", home.user().display());
        home.write(&root.join("etc/passwd"), &user)?;
        let feature = Path::new(env!("CARGO_MANIFEST_DIR")).join("../devcontainer/castellan");
        for file in ["install.sh", "devcontainer-feature.json"] {
            fs::copy(feature.join(file), root.join("feature").join(file))?;
        }
        for program in ["castellan", "castellan-hook", "castellan-sandbox"] {
            home.link(program)?;
            fs::copy(home.bin().join(program), root.join("feature/bin").join(program))?;
        }
        Ok(Container { home, root })
    }

    /// Runs a program inside. `None` if the system permits no namespace.
    fn run(&self, words: &[&str]) -> Result<Option<Finished>> {
        let mut command = self.home.command(Path::new("unshare"));
        let flags: &[&str] = if rustix::process::geteuid().is_root() { &["-m"] } else { &["-r", "-m"] };
        command.args(flags).args(["sh", "-c", INSIDE, "sh"]).arg(&self.root).args(words);
        // The variables of the machine that built this would move the settings.
        command.env_remove("CODEX_HOME");
        let done = Running::start(&mut command)?.finish(LIMIT)?;
        if done.code == Some(99) || done.stderr.starts_with("unshare:") {
            ensure!(std::env::var("CI").is_err(), "no namespace: {done:?}");
            println!("NOT RUN: no namespace: {}", done.stderr.trim());
            return Ok(None);
        }
        Ok(Some(done))
    }

    fn install(&self) -> Result<Option<Finished>> {
        let script = self.root.join("feature/install.sh").display().to_string();
        self.run(&["sh", &script])
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        for pid in processes_of(&self.home.user()) {
            let _ended_already = kill_process(pid, Signal::KILL);
        }
    }
}

#[test]
fn a_container_gets_hooks_for_every_user_and_a_mounted_home_is_found() -> Result<()> {
    let container = Container::new()?;
    // A home from outside, whose hook is not in the container.
    let settings = container.home.user().join(".claude/settings.json");
    let group = json!([{ "hooks": [{
        "type": "command", "command": "/gone/castellan-hook",
        "args": ["--agent", "claude", "--event", "PreToolUse", "--home", "/h"], "timeout": 600,
    }] }]);
    let shared = json!({ "hooks": { "PreToolUse": group } }).to_string();
    container.home.write(&settings, &shared)?;
    let Some(done) = container.install()? else { return Ok(()) };
    ensure!(done.code == Some(0), "{done:?}");
    let dir = container.root.join("etc/claude-code/managed-settings.d");
    let file = fs::read_dir(dir)?.flatten().next().context("no hooks are registered")?;
    let managed = fs::read_to_string(file.path())?;
    ensure!(managed.contains("\"/usr/local/lib/castellan/castellan-hook\""), "{managed}");
    assert_eq!(fs::read_to_string(&settings)?, shared, "the home from outside is left as it is");

    let done = container.run(&["/usr/local/bin/castellan", "doctor", "--json"])?.context("no namespace")?;
    let report: Json = serde_json::from_str(&done.stdout).with_context(|| format!("{done:?}"))?;
    let checks = report["checks"].as_array().context("no checks")?;
    let named = checks
        .iter()
        .find(|check| check["what"].as_str().is_some_and(|what| what.contains("/gone/castellan-hook")));
    let named = named.with_context(|| format!("{report}"))?;
    // The machine's hooks judge the calls.
    assert_eq!(named["outcome"], "doubtful", "{named}");
    ensure!(!done.stdout.contains("by a plugin"), "no plugin is here: {}", done.stdout);
    // A second run changes nothing, as a container that is built again.
    let again = container.install()?.context("no namespace")?;
    ensure!(again.code == Some(0) && again.stdout.contains("nothing to do"), "{again:?}");
    Ok(())
}

#[test]
fn a_feature_without_programs_says_what_to_do() -> Result<()> {
    let container = Container::new()?;
    fs::remove_file(container.root.join("feature/bin/castellan-hook"))?;
    let Some(done) = container.install()? else { return Ok(()) };
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.stderr.contains("`bin/castellan-hook` is missing"), "{done:?}");
    assert!(!container.root.join("etc/claude-code").exists());
    // Programs of another system.
    fs::write(container.root.join("feature/bin/castellan-hook"), "x")?;
    fs::write(container.root.join("feature/bin/castellan"), "\u{7f}ELF")?;
    fs::set_permissions(container.root.join("feature/bin/castellan"), fs::Permissions::from_mode(0o755))?;
    let done = container.install()?.context("no namespace")?;
    assert!(done.code == Some(1) && done.stderr.contains("is it for this system?"), "{done:?}");
    assert!(!container.root.join("etc/claude-code").exists());
    Ok(())
}
