//! [`Buttons`]: the buttons of a notification about a pending call, where the desktop has them. A button opens a terminal with
//! a command of castellan, and does nothing else: any program on the user's message bus can press it. So `castellan approve`
//! shows the call in that terminal, asks, and passes the same check of a person as in every other terminal.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use castellan_policy::RequestId;

use super::{is_of_system, on_bus};
use crate::limits::NOTIFICATION_TIME;
use crate::timed::output_or_kill;

/// Starts a program with the variables of the user's desktop, which the daemon does not have.
const RUNNERS: &[&str] = &["/usr/bin/systemd-run", "/run/current-system/sw/bin/systemd-run"];

/// Terminals that the check of a person knows, with the words before a command.
const TERMINALS: &[(&str, &[&str])] = &[
    ("/usr/bin/ptyxis", &["--new-window", "--"]),
    ("/usr/bin/gnome-terminal", &["--"]),
    ("/usr/bin/konsole", &["-e"]),
    ("/usr/bin/xfce4-terminal", &["-x"]),
    ("/usr/bin/mate-terminal", &["-x"]),
    ("/usr/bin/ghostty", &["-e"]),
    ("/usr/bin/kitty", &[]),
    ("/usr/bin/alacritty", &["-e"]),
    ("/usr/bin/foot", &[]),
    ("/usr/bin/xterm", &["-e"]),
];

/// Each button: the word that `notify-send` prints, its text, and the command of castellan.
const BUTTONS: [(&str, &str, &str); 2] = [("why", "Why?", "why"), ("approve", "Approve once…", "approve")];

/// Runs its arguments and keeps the terminal open.
const SCRIPT: &str = r#""$0" "$@"; printf '\nPress Enter to close this. '; read -r _"#;

/// Bytes of the word that `notify-send` prints.
const WORD_BYTES_MAX: u64 = 64;

/// The programs behind the buttons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Buttons {
    runner: PathBuf,
    terminal: PathBuf,
    /// The words of the terminal before a command.
    words: &'static [&'static str],
    castellan: PathBuf,
    home: PathBuf,
}

impl Buttons {
    /// Finds the programs of this machine; `None` if one of them is missing, or if `notify` has no buttons.
    pub(super) fn find(notify: &Path, castellan: &Path, home: &Path) -> Option<Buttons> {
        let runner = RUNNERS.iter().map(Path::new).find(|program| is_of_system(program))?;
        let (terminal, words) = TERMINALS.iter().find(|(program, _)| is_of_system(Path::new(program)))?;
        has_buttons(notify).then(|| Buttons {
            runner: runner.to_owned(),
            terminal: PathBuf::from(terminal),
            words,
            castellan: castellan.to_owned(),
            home: home.to_owned(),
        })
    }

    /// Returns the words for `notify-send`, which then waits until the notification is closed.
    pub(super) fn arguments() -> impl Iterator<Item = String> {
        BUTTONS.iter().map(|(word, text, _)| format!("--action={word}={text}"))
    }

    /// Returns the command for what `notify-send` printed; `None` if no button was pressed.
    pub(super) fn pressed(&self, printed: &[u8], id: RequestId, bus: &Path) -> Option<Command> {
        let printed = printed.trim_ascii();
        let (_, _, subcommand) = BUTTONS.iter().find(|(word, ..)| word.as_bytes() == printed)?;
        let mut command = on_bus(&self.runner, bus);
        command.args(["--user", "--quiet", "--collect", "--"]).arg(&self.terminal).args(self.words);
        command.args(["/bin/sh", "-c", SCRIPT]).arg(&self.castellan).arg("--home").arg(&self.home);
        command.args([subcommand, &*id.to_string()]);
        Some(command)
    }
}

/// Runs `notify-send` until the notification is closed, and starts the command of the pressed button.
pub(super) fn serve(
    notify: Command,
    buttons: &Buttons,
    id: RequestId,
    bus: &Path,
    time: std::time::Duration,
) {
    let Some(printed) = output_or_kill(notify, WORD_BYTES_MAX, time) else { return };
    if let Some(mut command) = buttons.pressed(&printed, id, bus) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut child) = command.spawn() {
            let _ = crate::timed::wait_or_kill(&mut child, NOTIFICATION_TIME);
        }
    }
}

/// Reports whether this `notify-send` knows buttons. The versions before 0.8 have none.
fn has_buttons(notify: &Path) -> bool {
    let mut help = Command::new(notify);
    help.env_clear().arg("--help").current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
    let help = output_or_kill(help, HELP_BYTES_MAX, NOTIFICATION_TIME).unwrap_or_default();
    String::from_utf8_lossy(&help).contains("--action=")
}

/// Bytes of the help of `notify-send`: it has some two KiB.
const HELP_BYTES_MAX: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::*;

    /// Long for a script of two lines.
    const LIMIT: Duration = Duration::from_secs(20);

    fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
        let program = dir.join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    /// Runs a script by its shell, because a file that was just written may still be open elsewhere.
    fn by_shell(program: &Path) -> Command {
        let mut command = Command::new("/bin/sh");
        command.arg(program);
        command
    }

    fn buttons(dir: &Path) -> Buttons {
        let runner = script(dir, "systemd-run", &format!("printf '%s\\n' \"$@\" > {}/run", dir.display()));
        let [terminal, castellan, home] = ["/usr/bin/xterm", "/opt/castellan", "/h"].map(PathBuf::from);
        Buttons { runner, terminal, words: &["-e"], castellan, home }
    }

    #[test]
    fn a_button_opens_a_terminal_and_nothing_else() {
        let check = |printed: &str, expected: Option<&str>| {
            let dir = tempfile::tempdir().unwrap();
            let notify = script(dir.path(), "notify-send", &format!("printf '{printed}'"));
            let id = RequestId::from_seed(0);
            serve(by_shell(&notify), &buttons(dir.path()), id, Path::new("/run/user/1/bus"), LIMIT);
            let started = std::fs::read_to_string(dir.path().join("run")).ok();
            let expected = expected.map(|word| {
                format!(
                    "--user\n--quiet\n--collect\n--\n/usr/bin/xterm\n-e\n/bin/sh\n-c\n{SCRIPT}\n/opt/castellan\n\
                     --home\n/h\n{word}\nA1\n"
                )
            });
            assert_eq!(started, expected, "{printed}");
        };
        check("why\\n", Some("why"));
        check("approve\\n", Some("approve"));
        for printed in ["", "approve A2\\n", "approve;x", "Approve\\n", "stop\\n", "approve\\napprove\\n"] {
            check(printed, None);
        }
    }

    /// `approve` takes no word that skips the question or the check.
    #[test]
    fn the_command_of_a_button_asks() {
        let dir = tempfile::tempdir().unwrap();
        let id = RequestId::from_seed(0);
        let command = buttons(dir.path()).pressed(b"approve\n", id, Path::new("/b")).unwrap();
        let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(words.last_chunk(), Some(&["approve".to_owned(), "A1".to_owned()]));
        assert!(!words.iter().any(|word| word == "--yes" || word == "-y"), "{words:?}");
    }

    #[test]
    fn only_a_newer_program_has_buttons() {
        let dir = tempfile::tempdir().unwrap();
        for (help, expected) in
            [("  -A, --action=[NAME=]Text...", true), ("  -u, --urgency=LEVEL", false), ("", false)]
        {
            let notify = script(dir.path(), "n", &format!("echo '{help}'"));
            // Another process of these tests may hold the file open for a moment.
            let found = (0..100).find_map(|_| Command::new(&notify).spawn().ok());
            found.unwrap().wait().unwrap();
            assert_eq!(has_buttons(&notify), expected, "{help}");
        }
        assert!(!has_buttons(&dir.path().join("none")));
    }
}
