//! Handles one text inside the enclosure: unpacks the fixture, starts the agent's process, predicts the text's effects,
//! then runs the text under strace. Writes prediction and trace to standard output. Must not compare them.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use castellan_corpus::shell_call;
use castellan_daemon::{FileSystem, facts_of};
use castellan_event::Recorder;
use serde::{Deserialize, Serialize};

use crate::predicted::Predicted;
use crate::{enclosure, server};

/// The agent's home, the folder into which the fixture is unpacked, and the project.
pub(crate) const HOMES: &str = "/home";
pub(crate) const HOME: &str = "/home/dev";
pub(crate) const PROJECT: &str = "/home/dev/project";

/// The agent's `PATH`.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A text that takes longer is killed; its events until then are compared.
const SECONDS_MAX: &str = "20";

/// The traced system calls: those that show an action on a path or address.
const TRACED: &str = "trace=openat,open,creat,openat2,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,link,linkat,rename,renameat,\
    renameat2,write,writev,pwrite64,pwritev,fallocate,truncate,ftruncate,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utime,utimes,utimensat,futimesat,unlink,\
    unlinkat,rmdir,stat,statfs,lstat,newfstatat,statx,access,faccessat,faccessat2,readlink,readlinkat,execve,execveat,connect,sendto,\
    chdir,fchdir,clone,clone3,fork,vfork";

/// The oracle's results for a text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) predicted: Predicted,
    /// The output of strace.
    pub(crate) trace: String,
    /// Both outputs of the text, for a person who examines a miss.
    pub(crate) said: String,
}

/// Writes the archive of a fixture to standard output.
pub(crate) fn make_fixture() -> anyhow::Result<()> {
    enclosure::ensure_inside()?;
    std::fs::create_dir_all(PROJECT)?;
    let made =
        clean("bash").args(["-e", "-c", include_str!("../fixture.sh")]).stdout(Stdio::null()).status()?;
    ensure!(made.success(), "fixture.sh failed");
    let packed = clean("tar").args(["-C", HOMES, "-c", "."]).status()?;
    ensure!(packed.success(), "the fixture cannot be packed");
    Ok(())
}

/// Predicts and runs one text.
pub(crate) fn run(text: &str) -> anyhow::Result<()> {
    enclosure::ensure_inside()?;
    let unpacked = Command::new("tar").args(["-C", HOMES, "-x"]).status()?;
    ensure!(unpacked.success(), "the fixture cannot be unpacked");
    server::start().context("the loopback server")?;
    let mut agent = agent()?;
    let predicted = predict(text, agent.id());
    let (trace, said) = (Path::new("/run/trace"), Path::new("/run/said"));
    let out = std::fs::File::create(said)?;
    // The status is the text's, and any status is valid.
    clean("timeout")
        .args([
            "-k",
            "1",
            SECONDS_MAX,
            "strace",
            "-f",
            "-y",
            "-q",
            "--seccomp-bpf",
            "-s",
            "4200",
            "-e",
            TRACED,
            "-o",
        ])
        .arg(trace)
        .args(["bash", "-c", text])
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .status()?;
    agent.kill()?;
    agent.wait()?;
    let lossy = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let seen = Seen { predicted, trace: lossy(trace).context("strace wrote nothing")?, said: lossy(said)? };
    serde_json::to_writer(std::io::stdout(), &seen)?;
    Ok(())
}

/// Returns the daemon's facts for a call of this agent.
fn predict(text: &str, agent: u32) -> Predicted {
    let mut call = shell_call(text);
    call.agent.pid = agent;
    PROJECT.clone_into(&mut call.agent.cwd);
    let machine = FileSystem::default();
    Predicted::of(&facts_of(&call, &[], &mut Recorder::new(&machine)))
}

/// Starts a process in the agent's place, with its environment, in its directory.
fn agent() -> anyhow::Result<Child> {
    let mut agent = clean("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    // After its first output, the process has its environment.
    agent.stdin.as_mut().context("no input")?.write_all(b"x")?;
    agent.stdout.as_mut().context("no output")?.read_exact(&mut [0])?;
    Ok(agent)
}

/// Returns a program in the agent's environment and directory.
fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(PROJECT);
    command.envs([
        ("HOME", HOME),
        ("PATH", PATH),
        ("LANG", "C.UTF-8"),
        ("USER", "dev"),
        ("SHELL", "/bin/bash"),
    ]);
    command
}
