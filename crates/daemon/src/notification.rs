//! Desktop notifications for pending calls and for calls past castellan, if there is a desktop. castellan runs
//! `notify-send` over the user's own message bus.
//!
//! A notification names the agent, the directory and the request id, but never the call: others may see the screen, and
//! the agent chooses the words of the call. Nothing depends on a notification, and its buttons only open a terminal.

mod buttons;

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use castellan_agents::AgentId;
use castellan_event::is_invisible;
use castellan_policy::RequestId;

use self::buttons::Buttons;
use crate::limits::{
    BUTTONS_TIME, NOTIFICATION_CHARS_MAX, NOTIFICATION_TIME, NOTIFICATIONS_WITH_BUTTONS_MAX,
};
use crate::platform::own_executable;
use crate::timed::wait_or_kill;

/// Install paths on common systems. `PATH` is not used, because it comes from the process that started the daemon.
const PROGRAMS: &[&str] =
    &["/usr/bin/notify-send", "/usr/local/bin/notify-send", "/run/current-system/sw/bin/notify-send"];

/// Set while a notification is shown, so that many calls start one process. `castellan pending` lists the others.
static SHOWING: AtomicBool = AtomicBool::new(false);

/// Notifications with buttons that are open. Each has a process, which waits until a person closes it.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The daemon's home, which the commands of buttons name. Without it there are no buttons.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// The programs behind buttons, looked for once; `None` if this desktop has no buttons.
static BUTTONS: OnceLock<Option<Buttons>> = OnceLock::new();

/// Names the home of this daemon.
pub(crate) fn serve_home(home: &Path) {
    let _ = HOME.set(home.to_owned());
}

/// Shows a pending call, with buttons if the desktop has them. Returns at once.
pub(crate) fn show(agent: AgentId, cwd: &str, id: RequestId, reasons: &[String]) {
    let text = text(agent, cwd, id, reasons);
    let Some((program, bus)) = desktop() else { return };
    let has_room = OPEN.fetch_add(1, Ordering::SeqCst) < NOTIFICATIONS_WITH_BUTTONS_MAX;
    let shown = std::thread::Builder::new().name("notify".into()).spawn(move || {
        let found = || Buttons::find(program, &own_executable().ok()?, HOME.get()?);
        match BUTTONS.get_or_init(found).as_ref().filter(|_| has_room) {
            Some(buttons) => {
                let notify = command(program, &bus, &text, Buttons::arguments());
                buttons::serve(notify, buttons, id, &bus, BUTTONS_TIME);
            }
            None => once(|| run(command(program, &bus, &text, std::iter::empty()))),
        }
        OPEN.fetch_sub(1, Ordering::SeqCst);
    });
    if shown.is_err() {
        OPEN.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Shows that something ran past castellan: `what`, in castellan's own words. Returns at once.
pub(crate) fn show_ungoverned(agent: &str, cwd: &str, what: &str) {
    send(&("castellan".to_owned(), format!("{what}: {}, in {}", plain(agent), plain(cwd))));
}

fn send(text: &(String, String)) {
    let Some((program, bus)) = desktop() else { return };
    let command = command(program, &bus, text, std::iter::empty());
    // Without a thread there is no notification.
    let _ = std::thread::Builder::new().name("notify".into()).spawn(move || once(|| run(command)));
}

/// Runs `show` unless another notification without buttons is just shown.
fn once(show: impl FnOnce()) {
    if !SHOWING.swap(true, Ordering::SeqCst) {
        show();
        SHOWING.store(false, Ordering::SeqCst);
    }
}

/// Returns the program and the user's message bus, if there is a desktop.
fn desktop() -> Option<(&'static Path, PathBuf)> {
    let uid = rustix::process::geteuid().as_raw();
    let bus = PathBuf::from(format!("/run/user/{uid}/bus"));
    let program = PROGRAMS.iter().map(Path::new).find(|program| is_of_system(program))?;
    is_bus(&bus, uid).then_some((program, bus))
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

/// Returns a command that reaches the user's message bus, and has nothing else of the daemon's environment.
fn on_bus(program: &Path, bus: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()));
    if let Some(dir) = bus.parent() {
        command.env("XDG_RUNTIME_DIR", dir);
    }
    command.current_dir("/");
    command
}

fn command(
    program: &Path,
    bus: &Path,
    (title, body): &(String, String),
    buttons: impl Iterator<Item = String>,
) -> Command {
    let mut command = on_bus(program, bus);
    command.arg("--app-name=castellan").args(buttons).args(["--", title, body]);
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
        let mut shell = command(sh, Path::new("/run/user/1/bus"), &words, std::iter::empty());
        assert!(!is_of_system(&dir.path().join("none")));
        // Runs it as a script, so that no file that was just written has to be executable.
        let arguments: Vec<_> = shell.get_args().map(ToOwned::to_owned).collect();
        shell = command(sh, Path::new("/run/user/1/bus"), &words, std::iter::empty());
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
