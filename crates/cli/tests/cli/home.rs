//! A temporary user: home directory, XDG directories below it, a repository and the programs. Drop stops its daemons.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal};
use rustix::pty::OpenptFlags;
use serde_json::json;
use tempfile::TempDir;

pub(crate) struct Home {
    root: TempDir,
    variables: Vec<(&'static str, PathBuf)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Home {
        // Beside the programs, because they are linked, not copied: a program open for writing cannot be started.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let home = Home { root, variables: Vec::new() };
        for dir in [home.user(), home.repo(), home.bin()] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::hard_link(env!("CARGO_BIN_EXE_castellan"), home.bin().join("castellan")).unwrap();
        match real_hook() {
            Some(hook) => fs::hard_link(hook, home.bin().join("castellan-hook")).unwrap(),
            // Enough for tests that only need the file.
            None => home.write("bin/castellan-hook", "#!/bin/sh\nexit 2\n"),
        }
        // Shows its version, as `castellan doctor` asks it. These tests make no sandbox.
        let version = concat!("#!/bin/sh\necho castellan-sandbox ", env!("CARGO_PKG_VERSION"), "\n");
        home.write("bin/castellan-sandbox", version);
        for program in ["castellan-hook", "castellan-sandbox"] {
            fs::set_permissions(home.bin().join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        home
    }

    pub(crate) fn with_variable(mut self, name: &'static str, value: PathBuf) -> Home {
        self.variables.push((name, value));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// `$HOME`.
    pub(crate) fn user(&self) -> PathBuf {
        self.path("user")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.path("bin")
    }

    /// The default home of castellan.
    pub(crate) fn castellan_home(&self) -> PathBuf {
        self.user().join(".local/share/castellan")
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Writes the daemon's stored state for a workspace that a person has trusted.
    pub(crate) fn trust(&self, home: &str) {
        let workspace = self.repo().canonicalize().unwrap();
        let header = json!({ "castellan_journal": 1, "boot": "", "boot_ms": 0, "wall_ms": 0, "clock_ms": 0 });
        let trust =
            json!({ "trust": { "workspace": workspace, "decided": { "trusted": { "project": null } } } });
        self.write(&format!("{home}/state/journal"), format!("{header}\n{trust}\n"));
        let journal = self.path(&format!("{home}/state/journal"));
        fs::set_permissions(journal, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `castellan` without a terminal, as a program does.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        let program = self.bin().join("castellan").display().to_string();
        self.without_terminal(&[&[program.as_str()], arguments].concat())
    }

    /// Runs `castellan` and expects exit code 0.
    pub(crate) fn run_ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
        done.stdout
    }

    /// Runs `castellan` in its own session with a controlling terminal, as a person does. Reports and returns `None` if
    /// this machine has no terminal, or if the test runs below an agent.
    pub(crate) fn run_as_person(&self, arguments: &[&str]) -> Option<Done> {
        let program = self.bin().join("castellan").display().to_string();
        self.at_terminal(&[&[program.as_str()], arguments].concat())
    }

    /// Runs `castellan` at a terminal whose owner castellan does not recognise, and answers yes to a question. Also
    /// returns the text that this terminal shows.
    pub(crate) fn run_at_unknown_terminal(&self, arguments: &[&str]) -> Option<(Done, String)> {
        let program = self.bin().join("castellan").display().to_string();
        self.below_terminal_owner("unknown-terminal", &[&[program.as_str()], arguments].concat())
    }

    /// Runs as a person who is root, with the directory `etc` of this home as a private `/etc`.
    pub(crate) fn run_as_root(&self, arguments: &[&str]) -> Option<Done> {
        namespaced(self.at_terminal(&self.root_line(arguments))?)
    }

    /// Runs as root with the private `/etc`, without a terminal.
    pub(crate) fn run_as_root_program(&self, arguments: &[&str]) -> Option<Done> {
        namespaced(self.without_terminal(&self.root_line(arguments)))
    }

    /// Runs `castellan` below a program with this name, without a terminal, as an agent does.
    pub(crate) fn run_below(&self, name: &str, arguments: &[&str]) -> Done {
        let program = self.bin().join(name);
        let copied = Command::new("cp").arg("/usr/bin/setsid").arg(&program).status();
        assert!(copied.unwrap().success(), "`setsid` cannot be copied");
        let mut command = self.command(&program);
        command.args(["--fork", "--wait"]).arg(self.bin().join("castellan")).args(arguments);
        done(command.stdin(Stdio::null()).output().unwrap())
    }

    fn root_line(&self, arguments: &[&str]) -> Vec<String> {
        self.write("etc/passwd", format!("root:x:0:0::{}:/bin/sh\n", self.user().display()));
        let mut line = vec!["unshare", "--mount"];
        if !rustix::process::geteuid().is_root() {
            line.push("--map-root-user");
        }
        let paths = [self.path("etc"), self.bin().join("castellan")].map(|path| path.display().to_string());
        line.extend(["sh", "-c", "mount --bind \"$0\" /etc || exit 99; exec \"$@\""]);
        line.extend(paths.iter().map(String::as_str).chain(arguments.iter().copied()));
        line.into_iter().map(str::to_owned).collect()
    }

    /// Runs without a terminal as a user other than root who may change every file here. Reports and returns `None` if
    /// that user cannot start the program.
    pub(crate) fn run_without_root(&self, arguments: &[&str]) -> Option<Done> {
        if !rustix::process::geteuid().is_root() {
            return Some(self.run(arguments));
        }
        open_to_all(self.root.path());
        let mut command = self.command(Path::new("setpriv"));
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(self.bin().join("castellan")).args(arguments).stdin(Stdio::null());
        let done = done(command.output().unwrap());
        if done.stderr.starts_with("setpriv:") {
            skipped(&format!("no user but root can run what was built: {}", done.stderr.trim()));
            return None;
        }
        Some(done)
    }

    /// Runs in its own session, because the tests themselves may have a terminal.
    pub(crate) fn without_terminal(&self, line: &[impl AsRef<OsStr>]) -> Done {
        let mut command = self.command(Path::new("setsid"));
        done(command.arg("--wait").args(line).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs `castellan` as a person does who sees its output on a terminal of so many columns. Standard output of the
    /// result is the text on the terminal.
    pub(crate) fn run_on_screen(&self, columns: u16, arguments: &[&str]) -> Option<Done> {
        let (master, terminal) = terminal()?;
        let size = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&terminal, size).unwrap();
        let mut command = self.command(&self.terminal_owner("xterm"));
        command.args(["--ctty", "--fork", "--wait"]).arg(self.bin().join("castellan")).args(arguments);
        command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
        let mut running = command.spawn().unwrap();
        // The terminal ends once no process has it open.
        drop(command);
        let mut shown = Vec::new();
        let _ended = File::from(master).read_to_end(&mut shown);
        let stdout = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
        Some(Done { code: running.wait().unwrap().code(), stdout, stderr: String::new() })
    }

    /// Returns a program that starts others in their own session at a terminal. castellan recognises terminal owners by
    /// their program name.
    fn terminal_owner(&self, name: &str) -> PathBuf {
        let terminal_owner = self.bin().join(name);
        if !terminal_owner.exists() {
            let copied = Command::new("cp").arg("/usr/bin/setsid").arg(&terminal_owner).status();
            assert!(copied.unwrap().success(), "`setsid` cannot be copied");
        }
        terminal_owner
    }

    fn at_terminal(&self, line: &[impl AsRef<OsStr>]) -> Option<Done> {
        self.below_terminal_owner("xterm", line).map(|(done, _)| done)
    }

    /// Runs below a program with this name, by which castellan recognises terminal owners. Types `y` and returns the
    /// text that the terminal shows.
    fn below_terminal_owner(&self, name: &str, line: &[impl AsRef<OsStr>]) -> Option<(Done, String)> {
        let (master, terminal) = terminal()?;
        let mut command = self.command(&self.terminal_owner(name));
        command.args(["--ctty", "--fork", "--wait"]).args(line);
        let mut master = File::from(master);
        master.write_all(b"y\n").unwrap();
        let done = done(command.stdin(terminal).output().unwrap());
        rustix::fs::fcntl_setfl(&master, rustix::fs::OFlags::NONBLOCK).unwrap();
        let mut shown = vec![0; 4096];
        let length = master.read(&mut shown).unwrap_or_default();
        let shown = String::from_utf8_lossy(&shown[..length]).into_owned();
        if done.stderr.contains("from within a guarded agent") {
            skipped("the tests run below an agent");
            return None;
        }
        Some((done, shown))
    }

    /// Returns every file below the user's home with its text, except backups and castellan's own files.
    pub(crate) fn agent_files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect(&self.user(), &mut files);
        files.retain(|(path, _)| !path.to_string_lossy().contains("castellan"));
        files.sort();
        files
    }

    /// Replaces the parts that differ between runs.
    pub(crate) fn masked(&self, text: &str) -> String {
        text.replace(&*self.root.path().to_string_lossy(), "ROOT")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.repo());
        command.env("HOME", self.user()).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A daemon has its home on its command line, and the home belongs to this test only.
        let own = rustix::process::getpid();
        let root = self.root.path().to_string_lossy().into_owned();
        let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
        let pids =
            names.filter_map(|name| Pid::from_raw(name.to_str()?.parse().ok()?)).filter(|pid| *pid != own);
        for pid in pids {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(&root) {
                let _ended_already = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Reports that a test did not run. With `CI=true` this is a failure.
pub(crate) fn skipped(why: &str) {
    eprintln!("NOT RUN: {why}");
    assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "a test did not run: {why}");
}

/// Returns the hook built beside `castellan`, if it exists.
pub(crate) fn real_hook() -> Option<PathBuf> {
    let hook = Path::new(env!("CARGO_BIN_EXE_castellan")).with_file_name("castellan-hook");
    hook.exists().then_some(hook)
}

fn terminal() -> Option<(std::os::fd::OwnedFd, File)> {
    let open = || -> rustix::io::Result<_> {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::pty::grantpt(&master)?;
        rustix::pty::unlockpt(&master)?;
        let name = rustix::pty::ptsname(&master, Vec::new())?;
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
        Ok((master, File::from(rustix::fs::open(name, flags, rustix::fs::Mode::empty())?)))
    };
    match open() {
        Ok(pair) => Some(pair),
        Err(error) => {
            skipped(&format!("this machine gives no terminal: {error}"));
            None
        }
    }
}

fn namespaced(done: Done) -> Option<Done> {
    if done.code == Some(99) || done.stderr.starts_with("unshare:") {
        skipped(&format!("no private mount namespace: {}", done.stderr.trim()));
        return None;
    }
    Some(done)
}

fn open_to_all(dir: &Path) {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            open_to_all(&entry.path());
        }
    }
}

fn collect(dir: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            collect(&path, files);
        } else {
            let mut bytes = Vec::new();
            // A socket cannot be opened, and it is no settings file.
            let _ = File::open(&path).map(|mut file| file.read_to_end(&mut bytes));
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

fn done(output: Output) -> Done {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
