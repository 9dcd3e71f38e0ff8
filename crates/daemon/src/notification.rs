//! Desktop notifications for pending calls and for calls past castellan, if there is a desktop. castellan runs
//! `notify-send` over the user's own message bus.
//!
//! A notification names the agent, the directory and the request id, but never the call: others may see the screen, and
//! the agent chooses the words of the call. Nothing depends on a notification.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use castellan_agents::AgentId;
use castellan_event::is_invisible;
use castellan_policy::RequestId;

use crate::limits::{NOTIFICATION_CHARS_MAX, NOTIFICATION_TIME};
use crate::timed::wait_or_kill;

/// Install paths on common systems. `PATH` is not used, because it comes from the process that started the daemon.
const PROGRAMS: &[&str] =
    &["/usr/bin/notify-send", "/usr/local/bin/notify-send", "/run/current-system/sw/bin/notify-send"];

/// Set while a notification is shown, so that many calls start one process. `castellan pending` lists the others.
static SHOWING: AtomicBool = AtomicBool::new(false);

/// Shows a pending call. Returns at once.
pub(crate) fn show(agent: AgentId, cwd: &str, id: RequestId, reasons: &[String]) {
    send(&text(agent, cwd, id, reasons));
}

/// Shows that something ran past castellan: `what`, in castellan's own words. Returns at once.
pub(crate) fn show_ungoverned(agent: &str, cwd: &str, what: &str) {
    send(&("castellan".to_owned(), format!("{what}: {}, in {}", plain(agent), plain(cwd))));
}

fn send(text: &(String, String)) {
    let uid = rustix::process::geteuid().as_raw();
    let bus = PathBuf::from(format!("/run/user/{uid}/bus"));
    let program = PROGRAMS.iter().map(Path::new).find(|program| is_of_system(program));
    let (Some(program), true) = (program, is_bus(&bus, uid)) else { return };
    let command = command(program, &bus, text);
    if SHOWING.swap(true, Ordering::SeqCst) {
        return;
    }
    let shown = std::thread::Builder::new().name("notify".into()).spawn(move || {
        run(command);
        SHOWING.store(false, Ordering::SeqCst);
    });
    if shown.is_err() {
        SHOWING.store(false, Ordering::SeqCst);
    }
}

/// Title and body. The name of a rule is the user's own. Omits its message, which may contain the agent's words.
fn text(agent: AgentId, cwd: &str, id: RequestId, reasons: &[String]) -> (String, String) {
    let rule = reasons.first().and_then(|reason| reason.split(": ").next()).unwrap_or_default();
    let body = format!("request {id}, {}, in {}", plain(rule), plain(cwd));
    (format!("{} waits for you", agent.title()), body)
}

/// Removes characters that a desktop may interpret as markup or a terminal as a command, and those that hide or reorder
/// others.
fn plain(text: &str) -> String {
    let shown = text.chars().filter(|c| !is_invisible(*c) && !matches!(c, '<' | '>' | '&' | '\\'));
    shown.take(NOTIFICATION_CHARS_MAX).collect()
}

fn command(program: &Path, bus: &Path, (title, body): &(String, String)) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()));
    command.args(["--app-name=castellan", "--", title, body]).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(mut command: Command) {
    let Ok(mut child) = command.spawn() else { return };
    let _ = wait_or_kill(&mut child, NOTIFICATION_TIME);
}

/// Reports whether only root can have installed the program.
fn is_of_system(program: &Path) -> bool {
    std::fs::metadata(program).is_ok_and(|file| file.is_file() && file.uid() == 0 && file.mode() & 0o022 == 0)
}

fn is_bus(bus: &Path, uid: u32) -> bool {
    std::fs::symlink_metadata(bus).is_ok_and(|file| file.file_type().is_socket() && file.uid() == uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_who_and_where_and_not_what() {
        let reasons = ["Ask push: git push --force <b>now</b>".to_owned(), "Other: x".to_owned()];
        let (title, body) =
            text(AgentId::CODEX, "/home/u/<i>x\u{1b}[2J\u{202e}y\u{200b}", RequestId::from_seed(0), &reasons);
        assert_eq!(
            (title.as_str(), body.as_str()),
            ("Codex waits for you", "request A1, Ask push, in /home/u/ix[2Jy")
        );
        let far = text(AgentId::CODEX, &"x".repeat(10_000), RequestId::from_seed(0), &[]).1;
        assert!(far.len() < 400, "{far}");
    }

    #[test]
    fn the_program_gets_nothing_but_the_bus_and_the_words() {
        let dir = tempfile::tempdir().unwrap();
        let (program, out) = (dir.path().join("notify-send"), dir.path().join("out"));
        std::fs::write(
            &program,
            format!("#!/bin/sh\n{{ /usr/bin/env; printf '%s\\n' \"$@\"; }} > {}\n", out.display()),
        )
        .unwrap();
        let words = ("-t".to_owned(), "-b".to_owned());
        let sh = Path::new("/bin/sh");
        let mut shell = command(sh, Path::new("/run/user/1/bus"), &words);
        assert!(!is_of_system(&dir.path().join("none")));
        // Runs it as a script, so that no file that was just written has to be executable.
        let arguments: Vec<_> = shell.get_args().map(ToOwned::to_owned).collect();
        shell = command(sh, Path::new("/run/user/1/bus"), &words);
        let mut script = Command::new(sh);
        script.env_clear().envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))));
        run({
            script.arg(&program).args(arguments);
            script
        });
        let reported = std::fs::read_to_string(&out).unwrap();
        assert!(reported.contains("DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus\n"), "{reported}");
        assert!(!reported.contains("HOME="), "{reported}");
        assert!(reported.ends_with("--app-name=castellan\n--\n-t\n-b\n"), "{reported}");
    }
}
