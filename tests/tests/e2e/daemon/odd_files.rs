//! Another kind of file in the place of each file that castellan reads: a pipe, a folder, a device, an endless file, a
//! socket. Each command ends in time, a command names the file, and denied calls stay denied.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::terminal;
use castellan_wire::bind;
use rustix::process::{Resource, Rlimit, setrlimit};

/// Limit of a test process's memory. A program that reads a whole file of [`SPARSE_BYTES`] fails, not the machine.
const MEMORY_BYTES: u64 = 4 << 30;

const SPARSE_BYTES: u64 = 20 << 30;

/// The place of a file, and the required report. Files that every start creates again need no report.
const FILES: &[(Place, &str, Told)] = &[
    (Place::Castellan, "layout", Told::Always),
    (Place::Castellan, "config/config.toml", Told::Always),
    (Place::Castellan, "config/rules/default/.shipped", Told::Never),
    (Place::Castellan, "config/rules/default/10-secrets.yaml", Told::Always),
    (Place::Castellan, "config/rules/default/10-secrets.yaml.shipped", Told::Never),
    (Place::Castellan, "config/rules/user/test.yaml", Told::Always),
    (Place::Castellan, "config/rules/user/test_cases.yaml", Told::Always),
    (Place::Castellan, "run/hook.sock", Told::Never),
    (Place::Castellan, "run/control.sock", Told::Never),
    (Place::Castellan, "run/daemon.lock", Told::IfNoFile),
    (Place::Castellan, "run/start.lock", Told::Never),
    (Place::Castellan, "run/stopped", Told::Never),
    (Place::Castellan, "run/gaps", Told::Never),
    (Place::Castellan, "run/gaps.taken", Told::Always),
    (Place::Castellan, "run/daemon.stderr", Told::Never),
    (Place::Castellan, "state/log/head", Told::IfNoFile),
    (Place::Castellan, "state/log/lock", Told::IfNoFile),
    (Place::Castellan, "state/log/routine.jsonl", Told::Always),
    (Place::Castellan, "state/log/notable.jsonl", Told::Always),
    (Place::Castellan, "state/log/routine.1.jsonl", Told::Always),
    (Place::Castellan, "state/log/notable.1.jsonl", Told::Always),
    (Place::Castellan, "state/journal", Told::Always),
    (Place::Castellan, "state/pin.json", Told::Never),
    (Place::Castellan, "state/last-good/policy.json", Told::Always),
    (Place::User, ".claude/settings.json", Told::Always),
    (Place::User, ".claude.json", Told::Never),
    (Place::Codex, "hooks.json", Told::Always),
    (Place::Codex, "config.toml", Told::Always),
    (Place::Workspace, ".claude/settings.json", Told::Never),
    (Place::Workspace, ".claude/settings.local.json", Told::Never),
    (Place::Workspace, ".castellan/config.toml", Told::Never),
];

/// The machine's files.
const MACHINE_FILES: &[(Place, &str, Told)] = &[
    (Place::Etc, "castellan/config.toml", Told::Always),
    (Place::Etc, "castellan/rules/a.yaml", Told::Always),
    (Place::Etc, "claude-code/managed-settings.d/50-castellan.json", Told::Always),
    (Place::Etc, "codex/requirements.toml", Told::Always),
];

#[derive(Debug, Clone, Copy)]
enum Place {
    Castellan,
    User,
    Codex,
    Workspace,
    Etc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Always,
    /// Not for a regular file of any size: it is not read, or is replaced.
    IfNoFile,
    Never,
}

impl Place {
    fn of(self, home: &Home) -> PathBuf {
        match self {
            Place::Castellan => home.castellan(),
            Place::User => home.user(),
            Place::Codex => home.codex(),
            Place::Workspace => home.workspace(),
            Place::Etc => home.etc(),
        }
    }
}

#[test]
fn a_pipe_in_a_files_place_holds_nothing_up() -> Result<()> {
    check_files(&|file| {
        Ok(rustix::fs::mknodat(rustix::fs::CWD, file, rustix::fs::FileType::Fifo, 0o600.into(), 0)?)
    })
}

#[test]
fn a_folder_in_a_files_place_holds_nothing_up() -> Result<()> {
    check_files(&|file| Ok(std::fs::create_dir(file)?))
}

#[test]
fn a_device_in_a_files_place_is_not_read() -> Result<()> {
    check_files(&|file| Ok(symlink("/dev/zero", file)?))
}

#[test]
fn a_file_of_20_gb_is_not_read() -> Result<()> {
    check_files(&|file| Ok(std::fs::File::create(file)?.set_len(SPARSE_BYTES)?))
}

#[test]
fn a_socket_in_a_files_place_holds_nothing_up() -> Result<()> {
    check_files(&|file| bind(file).map(|_: UnixListener| ()).map_err(Into::into))
}

fn check_files(put: &dyn Fn(&Path) -> Result<()>) -> Result<()> {
    let most = Rlimit { current: Some(MEMORY_BYTES), maximum: Some(MEMORY_BYTES) };
    setrlimit(Resource::As, most)?;
    let mut wrong = Vec::new();
    for file in FILES {
        let home = Home::with_castellan("odd", ENFORCE, RULES)?;
        wrong.extend(check(&home, *file, put).err().map(|error| format!("{}: {error:#}", file.1)));
    }
    for file in MACHINE_FILES {
        let mut home = Home::with_castellan("odd-machine", ENFORCE, RULES)?;
        if !home.make_etc_private()? {
            break;
        }
        wrong.extend(check(&home, *file, put).err().map(|error| format!("{}: {error:#}", file.1)));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    Ok(())
}

fn check(
    home: &Home,
    (place, name, told): (Place, &str, Told),
    put: &dyn Fn(&Path) -> Result<()>,
) -> Result<()> {
    let own = ["claude", "codex"];
    home.run_castellan(&[&["install"], &own[..]].concat())?;
    judge(home, &bash("ls"))?;
    terminal::run_castellan(home, &["stop"])?;
    std::fs::remove_file(home.castellan().join("run/stopped"))?;
    let file = place.of(home).join(name);
    std::fs::create_dir_all(file.parent().context("a file without a folder")?)?;
    if file.symlink_metadata().is_ok() {
        std::fs::remove_file(&file)?;
    }
    put(&file)?;
    let is_file = file.symlink_metadata()?.is_file();
    let mut said = String::new();
    for (command, expected) in [("ls", &["deny", "defer"][..]), ("forbidden", &["deny"])] {
        let answer = judge(home, &bash(command)).with_context(|| format!("the call `{command}`"))?;
        let word = understood(&answer);
        ensure!(expected.contains(&word.as_str()), "`{command}` is answered with {word}: {answer:?}");
        said.push_str(&answer.stdout);
    }
    let commands: [&[&str]; 6] = [
        &["status"],
        &["doctor"],
        &["log", "verify"],
        &["start"],
        &["install", "claude", "codex"],
        &["uninstall"],
    ];
    for arguments in commands {
        let done = run(home, arguments).with_context(|| format!("castellan {}", arguments.join(" ")))?;
        said.push_str(&done);
    }
    // A path below the private `/etc` is reported by its name there.
    let shown = match place {
        Place::Etc => Path::new("/etc").join(name),
        Place::Castellan | Place::User | Place::Codex | Place::Workspace => file,
    };
    let is_reported = match told {
        Told::Always => true,
        Told::IfNoFile => !is_file,
        Told::Never => false,
    };
    ensure!(!is_reported || said.contains(&*shown.to_string_lossy()), "nothing names the file:\n{said}");
    Ok(())
}

/// Runs a command as a person at a terminal, and returns the output.
fn run(home: &Home, arguments: &[&str]) -> Result<String> {
    let done = terminal::run_castellan(home, arguments)?;
    let panicked = done.stderr.contains("panicked") || done.stderr.contains("memory allocation");
    ensure!(!panicked && done.code.is_some(), "it broke: {done:?}");
    Ok(done.stdout + &done.stderr)
}
