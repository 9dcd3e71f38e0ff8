//! The enclosure in which commands run: its own user, mount, network and process namespaces, made by unshare(1) and
//! `enclose.sh`. Must not depend on the commands.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// The first argument of this program inside the enclosure.
pub(crate) const INSIDE: &str = "--inside";

/// The second argument, instead of a text, to make the fixture.
pub(crate) const FIXTURE: &str = "--fixture";

const ENCLOSE: &str = include_str!("../enclose.sh");

/// Programs without which the oracle cannot run.
const NEEDED: &[&str] = &["unshare", "mount", "ip", "strace", "tar", "git", "timeout"];

/// Checks that the needed programs are installed.
pub(crate) fn check() -> anyhow::Result<()> {
    for name in NEEDED {
        let found = Command::new(name).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        ensure!(found.is_ok(), "`{name}` is not installed: the oracle cannot run without it");
    }
    Ok(())
}

/// Runs this program inside with arguments and an input, such as the archive of the fixture. Returns its output. The end
/// of the enclosure kills all remaining processes.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> anyhow::Result<Vec<u8>> {
    let program = std::env::current_exe()?;
    let mut child = Command::new("unshare")
        .args(["-Urmnp", "--fork", "--kill-child", "sh", "-c", ENCLOSE, "enclose.sh"])
        .arg(program)
        .arg(INSIDE)
        .args(arguments)
        .env("TMPDIR", "/tmp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("unshare cannot be started")?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let output = std::thread::scope(|scope| {
        // A program that ends early does not read all input; its status shows the error.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output()
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("nothing was run: the enclosure cannot be made here, or ended: {}", said.trim());
    }
    Ok(output.stdout)
}

/// Returns an error outside of the enclosure.
pub(crate) fn ensure_inside() -> anyhow::Result<()> {
    ensure!(std::process::id() == 1, "this is not the first process of a namespace");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").context("the mounts cannot be read")?;
    let root = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(4);
        (fields.next() == Some("/")).then(|| fields.next().unwrap_or_default())
    });
    let is_read_only = root.is_some_and(|options| options.split(',').any(|option| option == "ro"));
    ensure!(is_read_only, "the root of the file system can be written");
    for place in ["", "/usr", "/usr/local", "/opt", "/srv"] {
        let probe = format!("{place}/castellan-oracle");
        ensure!(std::fs::File::create(&probe).is_err(), "`{place}/` can be written");
    }
    // Writes to these folders stay in memory.
    for place in ["/etc", "/var", "/home", "/root", "/tmp"] {
        let last = mounts.lines().rev().find(|line| line.split(' ').nth(4) == Some(place));
        let is_in_memory =
            last.is_some_and(|line| [" - overlay ", " - tmpfs "].iter().any(|kind| line.contains(kind)));
        ensure!(is_in_memory, "`{place}` is the machine's own");
    }
    let network = std::fs::read_to_string("/proc/net/dev").context("the network cannot be looked at")?;
    let others = network.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:")).count();
    ensure!(others == 0, "there is a network beside the loopback");
    Ok(())
}
