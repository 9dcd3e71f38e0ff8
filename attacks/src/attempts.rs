//! The table of attacks. Each topic has a file; each attack has a name, a sentence and the evidence that decides.
//!
//! An attack is harmless outside every sandbox: its targets are files, processes, sockets and servers that the harness has
//! made for this one run, and what takes memory, processes or disk space has a small limit of its own.

mod descriptors;
mod devices;
mod escapes;
mod execution;
mod files;
mod ipc;
mod kernel;
mod limits;
mod links;
mod mounts;
mod namespaces;
mod network;
mod priorities;
mod privileges;
mod proc;
mod processes;
mod protected;
mod proxy;
mod sockets;
mod uring;
mod work;

pub use limits::asked;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::outcome::{At, Attempt, Claim, Stop};
use crate::sys;
use crate::targets::Targets;

/// An attack, or a control: ordinary work that a sandbox must leave possible.
#[derive(Debug)]
pub struct Attack {
    /// Its name on the command line and in `expected.toml`.
    pub name: &'static str,
    /// The thing that it tries.
    pub says: &'static str,
    /// How the harness sees that it succeeded.
    pub evidence: Evidence,
    /// The attempt.
    pub run: Run,
}

/// How the harness sees that an attack succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The proof has the secret of this run, which no file that the sandbox shows has.
    Secret,
    /// A file outside, or a protected file of the workspace, is no longer as it was.
    Changed,
    /// The victim, a process outside, ended, stopped, or has another memory.
    Victim,
    /// A server outside heard the word of this run.
    Reached,
    /// The harness, outside, got the word of this run from a server of the attack.
    Contacted,
    /// A process of the attack still runs after the sandbox has ended.
    Outlived,
    /// The terminal outside has text to read that nobody typed.
    Typed,
    /// The program's own word: the attack changes nothing that can be looked at. No report at all is an error.
    Claim,
    /// The program's own word, where the sandbox may end the program before it says one.
    ClaimUnlessEnded,
    /// Not an attack: ordinary work, which must succeed.
    Works,
}

/// An attempt.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// Reads a file below a folder of the targets.
    Read(&'static str, &'static str),
    /// Appends to a file below a folder of the targets.
    Append(&'static str, &'static str),
    /// Opens a file of the machine for writing, and writes nothing.
    OpenToWrite(&'static str),
    /// Opens a device of the machine for reading.
    OpenToRead(&'static str),
    /// Does something else.
    Do(fn(&Targets) -> Attempt),
    /// Does something that needs no target.
    Alone(fn() -> Attempt),
}

/// The topics, in the order of the table.
pub const TOPICS: &[(&str, &[Attack])] = &[
    ("Files outside the workspace", files::ATTACKS),
    ("Protected files of the workspace", protected::ATTACKS),
    ("Secrets", files::SECRETS),
    ("Links and races", links::ATTACKS),
    ("/proc and /sys", proc::ATTACKS),
    ("Other processes", processes::ATTACKS),
    ("Processes that escape", escapes::ATTACKS),
    ("Descriptors", descriptors::ATTACKS),
    ("Mounts and roots", mounts::ATTACKS),
    ("Namespaces", namespaces::ATTACKS),
    ("Privileges", privileges::ATTACKS),
    ("Devices", devices::ATTACKS),
    ("Kernel interfaces", kernel::ATTACKS),
    ("io_uring", uring::ATTACKS),
    ("Ways to execute", execution::ATTACKS),
    ("Shared memory and queues", ipc::ATTACKS),
    ("Unix and other sockets", sockets::ATTACKS),
    ("Network", network::ATTACKS),
    ("The proxy", proxy::ATTACKS),
    ("Limits", limits::ATTACKS),
    ("Priorities", priorities::ATTACKS),
    ("Ordinary work", work::CONTROLS),
];

/// Returns all attacks and controls.
pub fn all() -> impl Iterator<Item = &'static Attack> {
    TOPICS.iter().flat_map(|(_, attacks)| attacks.iter())
}

/// Returns the attack of this name.
pub fn named(name: &str) -> Option<&'static Attack> {
    all().find(|attack| attack.name == name)
}

impl Attack {
    /// Tries the attack.
    pub fn attempt(&self, targets: &Targets) -> Claim {
        Claim::of(match self.run {
            Run::Read(folder, path) => targets.below(folder, path).and_then(read),
            Run::Append(folder, path) => targets.below(folder, path).and_then(append),
            Run::OpenToWrite(path) => opened(path, OpenOptions::new().write(true)),
            Run::OpenToRead(path) => opened(path, OpenOptions::new().read(true)),
            Run::Do(attempt) => attempt(targets),
            Run::Alone(attempt) => attempt(),
        })
    }
}

/// Opens a file of the machine, which this kernel may lack.
fn opened(path: &str, options: &OpenOptions) -> Attempt {
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Stop::unsupported(format!("no {path} here")))
        }
        file => file.at("open").map(|_| path.to_owned()),
    }
}

/// Reads a file; the proof is its text.
fn read(path: impl AsRef<Path>) -> Attempt {
    let file = File::open(path).at("open")?;
    read_all(file)
}

/// The beginning of what a reader gives.
fn read_all(from: impl Read) -> Attempt {
    let mut bytes = Vec::new();
    from.take(64 * 1024).read_to_end(&mut bytes).at("read")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Appends to a file that exists or not.
fn append(path: impl AsRef<Path>) -> Attempt {
    let path = path.as_ref();
    let mut file = OpenOptions::new().append(true).create(true).open(path).at("open for appending")?;
    file.write_all(b"attacked\n").at("write")?;
    Ok(path.display().to_string())
}

/// The file of the secret that most attacks want to read.
fn secret_file(targets: &Targets) -> Result<PathBuf, Stop> {
    targets.below("home", ".aws/credentials")
}

/// The file outside that most attacks want to write.
fn outside_file(targets: &Targets) -> Result<PathBuf, Stop> {
    targets.below("outside", "file")
}

/// Tries something in a child, so that its namespaces, root or death stay the child's.
fn in_child(attempt: impl FnOnce() -> Attempt) -> Attempt {
    after_fork(sys::fork, attempt)
}

/// The same for a child that `start` makes.
fn after_fork(
    start: impl FnOnce() -> std::io::Result<Option<libc::pid_t>>,
    attempt: impl FnOnce() -> Attempt,
) -> Attempt {
    let (mut from_child, mut to_parent) = std::io::pipe().at("pipe")?;
    let Some(child) = start().at("start a child")? else {
        let claim = Claim::of(attempt());
        let _ = to_parent.write_all(format!("{claim}\n").as_bytes());
        sys::exit(0)
    };
    drop(to_parent);
    let mut said = String::new();
    let _ = from_child.read_to_string(&mut said);
    let status = sys::wait(child, 0).at("wait")?;
    match Claim::parse(&said) {
        Some(Claim::Succeeded { proof }) => Ok(proof),
        Some(Claim::Blocked { step }) => Err(Stop::blocked(step)),
        Some(Claim::Unsupported { reason }) => Err(Stop::unsupported(reason)),
        None => Err(Stop::blocked(format!("the child was ended, wait status {status:#x}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_attack_has_a_name_of_its_own_and_a_sentence() {
        let mut names = BTreeSet::new();
        for attack in all() {
            assert!(names.insert(attack.name), "{} is there twice", attack.name);
            assert!(attack.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(attack.says.ends_with('.') && attack.says.len() > 15, "{}: {}", attack.name, attack.says);
        }
        let attacks = all().filter(|attack| attack.evidence != Evidence::Works).count();
        assert!(attacks >= 80, "only {attacks} attacks");
    }

    #[test]
    fn a_child_that_dies_has_got_nothing() {
        let outcome = in_child(|| sys::exit(7));
        assert!(matches!(outcome, Err(Stop::Blocked { .. })), "{outcome:?}");
        assert_eq!(in_child(|| Ok("proof".to_owned())), Ok("proof".to_owned()));
    }
}
