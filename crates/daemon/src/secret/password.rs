//! [`Account`]: checks an account's password as PAM's pam_unix does for an unprivileged program: with the system's
//! helper `unix_chkpwd` (measured with Linux-PAM 1.5). Independent of the reason for asking and of the number of tries.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::limits::{PASSWORD_BYTES_MAX, STATUS_BYTES_MAX};
use crate::platform;
use crate::sight;
use crate::timed::wait_or_kill;
use castellan_files::{Guard, of_system};

/// Install paths on common systems. `PATH` is not used, because it comes from the process that started the daemon.
const HELPERS: &[&str] = &[
    "/usr/sbin/unix_chkpwd",
    "/sbin/unix_chkpwd",
    "/usr/bin/unix_chkpwd",
    "/usr/lib/unix_chkpwd",
    "/run/wrappers/bin/unix_chkpwd",
];

/// Exit codes of the helper, which are PAM codes.
const SUCCESS: i32 = 0;
const WRONG: i32 = 7;
const EXPIRED_PASSWORD: i32 = 12;
const EXPIRED_ACCOUNT: i32 = 13;

/// An account of this machine whose password the system can check.
#[derive(Debug)]
pub(crate) struct Account {
    helper: PathBuf,
    name: String,
    /// Deadline for all answers of the helper.
    until: Instant,
}

impl Account {
    /// The account of the user of this program. `time` limits the check of its password, from now on. The error gives
    /// the reason why its password is unusable.
    pub(crate) fn own(time: Duration) -> Result<Account, String> {
        let until = Instant::now() + time;
        if sight::is_through_reader() {
            let why = "the system's helper checks only the password of its own user, and castellan has another one here: \
                       use `presence_check = \"pin\"`";
            return Err(why.to_owned());
        }
        if !cfg!(target_os = "linux") {
            return Err("this system has no helper for that: use `presence_check = \"pin\"`".to_owned());
        }
        let status = of_system("/proc/self/status", STATUS_BYTES_MAX).unwrap_or_default();
        if may_gain_nothing(&String::from_utf8_lossy(&status)) {
            let why = "this daemon may gain no rights, so the system's helper cannot check: run `castellan service install` \
                       with `presence_check = \"password\"` in `config.toml`, or use \"pin\"";
            return Err(why.to_owned());
        }
        let helper = HELPERS.iter().map(Path::new).find(|helper| helper.exists());
        let helper =
            helper.ok_or("this system has no `unix_chkpwd` (of PAM): use `presence_check = \"pin\"`")?;
        check_of_system(helper).map_err(|error| format!("`{}`: {error}", helper.display()))?;
        let user = rustix::process::getuid().as_raw();
        let name = platform::account(user).and_then(|account| account.name);
        let name = name.ok_or_else(|| format!("user {user} is not in `/etc/passwd`"))?;
        let account = Account { helper: helper.to_owned(), name, until };
        let code = account.run("chkexpiry", b"")?;
        account.check_expiry(code)?;
        Ok(account)
    }

    /// Checks the password. An empty password is never right.
    pub(crate) fn has_password(&self, password: &str) -> Result<bool, String> {
        // The helper reads up to the NUL at the end and would ignore text after an earlier NUL.
        if password.is_empty() || password.len() > PASSWORD_BYTES_MAX || password.contains('\0') {
            return Ok(false);
        }
        let code = self.run("nonull", &[password.as_bytes(), b"\0"].concat())?;
        self.is_right(code)
    }

    fn check_expiry(&self, code: Option<i32>) -> Result<(), String> {
        match code {
            // A password that must be changed at the next login is still secret.
            Some(SUCCESS | EXPIRED_PASSWORD) => Ok(()),
            Some(EXPIRED_ACCOUNT) => Err(format!("the account `{}` has expired", self.name)),
            code => Err(self.unknown(code)),
        }
    }

    fn is_right(&self, code: Option<i32>) -> Result<bool, String> {
        match code {
            Some(SUCCESS) => Ok(true),
            Some(WRONG) => Ok(false),
            code => Err(self.unknown(code)),
        }
    }

    fn unknown(&self, code: Option<i32>) -> String {
        let (helper, name) = (self.helper.display(), &self.name);
        let code = code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
        format!("`{helper}` cannot look the account `{name}` up ({code})")
    }

    /// Runs the helper and returns its exit code; `None` when a signal ended it.
    fn run(&self, what: &str, input: &[u8]) -> Result<Option<i32>, String> {
        let mut command = Command::new(&self.helper);
        // Passes no environment, because the agent's hook may have started the daemon.
        command.args([&self.name, what]).env_clear().current_dir("/");
        let ended = run(command, input, self.until.saturating_duration_since(Instant::now()));
        ended.map_err(|error| format!("`{}`: {error}", self.helper.display()))
    }
}

/// Reads the kernel's file about a process: reports whether no program that it starts gets more rights than it has.
fn may_gain_nothing(status: &str) -> bool {
    let value = status.lines().find_map(|line| line.strip_prefix("NoNewPrivs:"));
    value.is_some_and(|value| value.trim() == "1")
}

/// Runs a command with `input` in a pipe, and returns its exit code; `None` when a signal ended it.
fn run(mut command: Command, input: &[u8], time: Duration) -> io::Result<Option<i32>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    // The input fits into the pipe's buffer, so writing does not block. A helper that ignores it reports no success.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(input));
    let ended = wait_or_kill(&mut child, time)?;
    ended.map(|status| status.code()).ok_or_else(|| io::Error::other("it has not ended in time"))
}

/// Checks that only root can have installed the program, including all folders above it.
fn check_of_system(program: &Path) -> io::Result<()> {
    let program = program.canonicalize()?;
    if !program.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    program.ancestors().try_for_each(|path| Guard::Owner(0).check(&path.metadata()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_process_that_may_gain_no_rights_is_known() {
        for (status, expected) in
            [("Name:\tx\nNoNewPrivs:\t1\nSeccomp:\t2\n", true), ("NoNewPrivs:\t0\n", false), ("", false)]
        {
            assert_eq!(may_gain_nothing(status), expected, "{status}");
        }
    }

    fn account() -> Account {
        Account { helper: "/none/unix_chkpwd".into(), name: "ada".into(), until: Instant::now() }
    }

    /// Runs shell text in place of the helper.
    fn shell(text: &str, input: &[u8]) -> io::Result<Option<i32>> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        run(command, input, Duration::from_millis(200))
    }

    #[test]
    fn only_success_is_right() {
        let account = account();
        let mut wrong = Vec::new();
        for code in (0..256).map(Some).chain([None]) {
            match account.is_right(code) {
                Ok(true) => assert_eq!(code, Some(0)),
                Ok(false) => wrong.push(code),
                Err(why) => assert!(why.contains("cannot look the account `ada` up"), "{why}"),
            }
        }
        assert_eq!(wrong, [Some(7)]);
        let counts: Vec<i32> = (0..256).filter(|code| account.check_expiry(Some(*code)).is_ok()).collect();
        assert_eq!(counts, [0, 12]);
        assert!(account.check_expiry(None).is_err());
        assert!(account.check_expiry(Some(13)).unwrap_err().contains("has expired"));
    }

    #[test]
    fn all_that_the_helper_is_asked_has_one_time() {
        // This helper reads nothing and never ends.
        let endless = |until| Account { helper: "/usr/bin/yes".into(), until, ..account() };
        let soon = Instant::now() + Duration::from_millis(50);
        let late = |account: &Account| account.has_password("right").unwrap_err();
        assert!(late(&endless(soon)).contains("it has not ended in time"));
        // The time is over; the next question gets no new time.
        assert!(Instant::now() >= soon);
        assert!(late(&endless(soon)).contains("it has not ended in time"));
    }

    #[test]
    fn what_no_password_can_be_is_not_asked_about() {
        // There is no helper to ask.
        for password in ["", "right\0", "\0", &"x".repeat(PASSWORD_BYTES_MAX + 1)] {
            assert_eq!(account().has_password(password), Ok(false), "{password:?}");
        }
        assert!(account().has_password("right").unwrap_err().contains("/none/unix_chkpwd"));
    }

    #[test]
    fn the_helper_gets_what_is_to_be_checked_and_its_time() {
        let exact = "test \"$(od -An -c | tr -d ' \\n')\" = 'right\\0'";
        assert_eq!(shell(exact, b"right\0").unwrap(), Some(0));
        assert_eq!(shell(exact, b"right").unwrap(), Some(1));
        assert_eq!(shell("test -p /dev/stdin", b"").unwrap(), Some(0));
        // A helper that does not read its input.
        assert_eq!(shell("exit 7", &[b'x'; PASSWORD_BYTES_MAX]).unwrap(), Some(7));
        assert_eq!(shell("kill -KILL $$", b"").unwrap(), None);
        assert_eq!(shell("exec sleep 60", b"").unwrap_err().to_string(), "it has not ended in time");
    }

    #[test]
    fn a_helper_that_is_not_roots_alone_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let helper = dir.path().join("unix_chkpwd");
        std::fs::write(&helper, "").unwrap();
        let check = |path: &Path| check_of_system(path).map_err(|error| error.to_string());
        let set_mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap()
        };
        // Below a folder that everybody can write.
        set_mode(dir.path(), 0o777);
        assert!(check(&helper).is_err());
        set_mode(&helper, 0o4757);
        assert!(check(&helper).unwrap_err().contains("other users can write it") || !is_root());
        let link = dir.path().join("link");
        symlink("/bin/sh", &link).unwrap();
        assert_eq!(check(&link), check(Path::new("/bin/sh")));
        assert!(check(Path::new("/usr")).unwrap_err().contains("not a regular file"));
        assert!(check(Path::new("/none")).is_err());
    }

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }
}
