//! One run of one attack in one sandbox, and the verdict of the harness.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::local::Local;
use super::outside::{Contact, Leaked, Terminal};
use super::sandbox::Sandbox;
use super::scene::{Place, Scene, User};
use super::server::Internet;
use super::victim::Victim;
use crate::attempts::{Attack, Evidence};
use crate::outcome::Claim;
use crate::targets::Targets;

/// A sandbox that takes longer is ended by the harness.
const TIME: Duration = Duration::from_secs(20);

/// A word that was sent is heard within this.
const HEARD: Duration = Duration::from_millis(500);

/// A word that was probably not sent is waited for so long.
const NOT_HEARD: Duration = Duration::from_millis(10);

/// A process that stays writes a beat within this.
const BEATS: Duration = Duration::from_millis(200);

/// A signal that the system call filter sends.
const FILTERED: i32 = libc::SIGSYS;

/// The exit code of castellan's launcher when nothing ran.
const NOTHING_RAN: i32 = 125;

/// The verdict of the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The attack got what it wanted; the text is the proof.
    Succeeded(String),
    /// It got nothing; the text is the step that was refused.
    Blocked(String),
    /// This machine cannot do it; the text is the reason.
    Unsupported(String),
    /// Nothing was proved: the sandbox did not start, or the attack wrote no outcome.
    Broken(String),
}

/// Runs an attack in a sandbox as a user.
///
/// # Errors
///
/// A scene that cannot be made. A sandbox that does not start is a verdict.
pub fn run(
    attack: &Attack,
    sandbox: &Sandbox,
    user: User,
    place: &Place,
    internet: &Internet,
) -> anyhow::Result<Verdict> {
    let scene = place.scene(user)?;
    let mut targets = Targets::default();
    internet.put_into(&mut targets);
    let local = Local::start(&scene, &internet.heard, &mut targets)?;
    let mut victim = Victim::start(&scene, &mut targets)?;
    let port = Contact::free_port()?;
    targets.set("listen-port", port);
    let file = write_targets(&scene, targets)?;
    let before = scene.look();
    let program = place.program().display().to_string();
    let targets_file = file.display().to_string();
    let words = [program.as_str(), &targets_file, attack.name];
    let terminal = Terminal::open()?;
    let command = sandbox.command(&scene, internet, &words)?;
    let contact = (attack.evidence == Evidence::Contacted).then(|| Contact::start(port, &scene.word));
    let ended = execute(command, attack, &scene, internet, &terminal)?;
    let seen = match attack.evidence {
        Evidence::Secret => ended.proof().filter(|proof| proof.contains(&scene.secret)),
        Evidence::Changed => before.difference(&scene.look()),
        Evidence::Victim => victim.harm(),
        Evidence::Reached => {
            let time = if ended.proof().is_some() { HEARD } else { NOT_HEARD };
            internet.heard.waits_for(&scene.word, time).then(|| "a server heard it".to_owned())
        }
        Evidence::Contacted => contact.and_then(Contact::got),
        Evidence::Outlived => outlived(&scene.work().join("beats")),
        Evidence::Typed => terminal.typed(),
        Evidence::Claim | Evidence::ClaimUnlessEnded | Evidence::Works => ended.proof(),
    };
    drop((local, victim));
    Ok(ended.verdict(attack.evidence, seen))
}

fn write_targets(scene: &Scene<'_>, mut targets: Targets) -> anyhow::Result<std::path::PathBuf> {
    for (name, path) in [
        ("work", scene.work()),
        ("home", scene.home()),
        ("outside", scene.outside()),
        ("sockets", scene.sockets()),
        ("setuid-program", scene.place.bin().join(format!("setuid-{}", scene.user.name()))),
        ("capabilities", scene.place.capabilities(scene.user)),
        ("capable-program", scene.place.bin().join("capable")),
    ] {
        if path.exists() {
            targets.set(name, path.display());
        }
    }
    targets.set("word", &scene.word);
    let file = scene.work().join("targets");
    targets.set("targets-file", file.display());
    std::fs::write(&file, targets.text())?;
    Ok(file)
}

/// How the sandbox ended.
struct Ended {
    status: Option<ExitStatus>,
    claim: Option<Claim>,
    said: String,
}

impl Ended {
    fn proof(&self) -> Option<String> {
        match &self.claim {
            Some(Claim::Succeeded { proof }) => Some(proof.clone()),
            Some(Claim::Blocked { .. } | Claim::Unsupported { .. }) | None => None,
        }
    }

    fn verdict(self, evidence: Evidence, seen: Option<String>) -> Verdict {
        if let Some(proof) = seen {
            return Verdict::Succeeded(proof.trim().to_owned());
        }
        let is_filtered = self
            .status
            .is_some_and(|status| status.signal() == Some(FILTERED) || status.code() == Some(128 + FILTERED));
        match self.claim {
            Some(Claim::Succeeded { proof }) => Verdict::Blocked(format!("it got something else: {proof}")),
            Some(Claim::Blocked { step }) => Verdict::Blocked(step),
            Some(Claim::Unsupported { reason }) => Verdict::Unsupported(reason),
            None if is_filtered => Verdict::Blocked("ended by the filter of system calls".to_owned()),
            None if self.status.is_none() => Verdict::Broken(format!("it did not end within {TIME:?}")),
            None if self.status.and_then(|status| status.code()) == Some(NOTHING_RAN) => {
                Verdict::Broken(format!("nothing ran: {}", self.said))
            }
            None if evidence == Evidence::ClaimUnlessEnded && self.said.is_empty() => {
                Verdict::Blocked(format!("ended: {:?}", self.status))
            }
            None => Verdict::Broken(format!("no outcome, {:?}: {}", self.status, self.said)),
        }
    }
}

fn execute(
    sandboxed: Command,
    attack: &Attack,
    scene: &Scene<'_>,
    internet: &Internet,
    terminal: &Terminal,
) -> anyhow::Result<Ended> {
    // What the attack leaves behind keeps its streams open: files have an end, pipes have none.
    let (out, err) = (scene.folder().join("stdout"), scene.folder().join("stderr"));
    let mut command = if attack.evidence == Evidence::Typed || attack.name.starts_with("terminal-") {
        let mut command = in_terminal(scene.place, &sandboxed);
        command.stdin(terminal.slave()?);
        command
    } else {
        let mut command = sandboxed;
        command.stdin(Stdio::null());
        command
    };
    scene.user.set(&mut command);
    command.stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = spawn_with_leaks(&mut command, scene, internet)?;
    let until = Instant::now() + TIME;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    let text = |path: &Path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ended { status, claim: Claim::parse(&text(&out)?), said: text(&err)?.trim().to_owned() })
}

/// Starts a sandbox with descriptors open that only it inherits.
///
/// A child inherits each inheritable descriptor of the process. The lock keeps those of one run from the sandbox of
/// another thread.
fn spawn_with_leaks(command: &mut Command, scene: &Scene<'_>, internet: &Internet) -> anyhow::Result<Child> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let lock = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let leaked = Leaked::open(scene, internet)?;
    let child = command.spawn().context("the sandbox cannot be started");
    drop((leaked, lock));
    child
}

/// The same command, started by the attack's program with the terminal as that of its session.
fn in_terminal(place: &Place, sandboxed: &Command) -> Command {
    let mut command = Command::new(place.program());
    command.arg("--terminal").arg(sandboxed.get_program()).args(sandboxed.get_args()).env_clear();
    for (name, value) in sandboxed.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    if let Some(folder) = sandboxed.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

/// A process of the attack writes beats while it lives.
fn outlived(beats: &Path) -> Option<String> {
    let count = || std::fs::metadata(beats).map_or(0, |file| file.len());
    let first = count();
    let until = Instant::now() + BEATS;
    while Instant::now() < until {
        if count() > first {
            return Some("a process still runs".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}
