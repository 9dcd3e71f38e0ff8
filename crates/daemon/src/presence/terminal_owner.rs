//! Programs that open terminals for people, by executable name. Any other program opens terminals for anybody.

use std::net::IpAddr;

use castellan_event::matches_star;

use crate::platform::environment;
use crate::process::Process;

/// Kind of a program that opens terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalOwner {
    /// A login at a console, or a program in whose window a person types.
    Terminal,
    /// A login from another machine, or from this one.
    Ssh,
    /// Opens terminals for any process. A person is there when a person watches it.
    Multiplexer(&'static str),
}

/// Only the superuser can start these on Linux. On macOS, any process starts a shell of its user by `login -f` without a
/// password, so `login` proves nothing there.
const LOGINS_OF_LINUX: &[&str] = &["agetty", "getty", "login", "mingetty", "sulogin"];

const SSH_DAEMONS: &[&str] = &["dropbear", "sshd", "sshd-session"];

const MULTIPLEXERS: &[&str] = &["abduco", "dtach", "screen", "shpool", "tmux", "zellij"];

/// Terminals, and editors with terminals. Terminals that run without a screen are omitted.
const TERMINALS: &[&str] = &[
    "alacritty",
    "blackbox",
    "code",
    "code-insiders",
    "codium",
    "contour",
    "cool-retro-term",
    "cursor",
    "deepin-terminal",
    "eterm",
    "foot",
    "footserver",
    "ghostty",
    "gnome-terminal-",
    "gnome-terminal-server",
    "guake",
    "hyper",
    "idea",
    "kgx",
    "kitty",
    "konsole",
    "lxterminal",
    "mate-terminal",
    "mlterm",
    "ptyxis",
    "ptyxis-agent",
    "pycharm",
    "qterminal",
    "rio",
    "rustrover",
    "rxvt",
    "sakura",
    "st",
    "tabby",
    "terminator",
    "terminology",
    "termite",
    "tilda",
    "tilix",
    "urxvt",
    "urxvtd",
    "warp",
    "warp-terminal",
    "webstorm",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
    "yakuake",
    "zed-editor",
    "zutty",
];

/// Terminals that exist on macOS only, by the file in their bundle. iTerm2's server, which starts its shells, has a name with
/// its version.
const TERMINALS_OF_MACOS: &[&str] = &["Terminal", "iTerm2", "iTermServer-*"];

/// The widespread terminals, for the message to a person at another one.
const SHOWN: &[&str] = &[
    "alacritty",
    "code",
    "foot",
    "ghostty",
    "gnome-terminal-server",
    "kitty",
    "konsole",
    "ptyxis",
    "terminator",
    "tilix",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
];

const SHOWN_ON_MACOS: &[&str] = &["Terminal", "iTerm2", "alacritty", "ghostty", "kitty", "wezterm-gui"];

/// Returns the widespread terminals by the names of their commands.
pub(super) fn shown_terminals() -> String {
    let command =
        |name: &&'static str| name.strip_suffix("-server").or(name.strip_suffix("-gui")).unwrap_or(name);
    let shown = if cfg!(target_os = "macos") { SHOWN_ON_MACOS } else { SHOWN };
    shown.iter().map(command).collect::<Vec<_>>().join(", ")
}

/// Returns the kind of terminal owner for an executable name.
pub(super) fn terminal_owner(name: &str) -> Option<TerminalOwner> {
    owner_on(cfg!(target_os = "macos"), name)
}

fn owner_on(is_macos: bool, name: &str) -> Option<TerminalOwner> {
    // Distributions rename a wrapped program to `.NAME-wrapped`.
    let name = name.strip_prefix('.').and_then(|name| name.strip_suffix("-wrapped")).unwrap_or(name);
    let is_of_system = match is_macos {
        true => TERMINALS_OF_MACOS.iter().any(|one| matches_star(one, name)),
        false => LOGINS_OF_LINUX.contains(&name),
    };
    if is_of_system || TERMINALS.contains(&name) {
        Some(TerminalOwner::Terminal)
    } else if SSH_DAEMONS.contains(&name) {
        Some(TerminalOwner::Ssh)
    } else {
        MULTIPLEXERS.iter().find(|known| **known == name).map(|known| TerminalOwner::Multiplexer(known))
    }
}

/// Reports whether this is the name of an ssh daemon's process.
pub(super) fn is_ssh_daemon(name: &str) -> bool {
    SSH_DAEMONS.contains(&name)
}

pub(super) fn multiplexer(name: &str) -> TerminalOwner {
    let known = MULTIPLEXERS.iter().find(|known| **known == name);
    TerminalOwner::Multiplexer(known.copied().unwrap_or_default())
}

/// Reports whether the ssh daemon started this process for another machine, according to the process's environment.
pub(super) fn is_from_elsewhere(process: &Process) -> bool {
    let environment = environment(process.pid).unwrap_or_default();
    let entries = environment.split(|byte| *byte == 0);
    let mut connections = entries.filter_map(|entry| entry.strip_prefix(b"SSH_CONNECTION="));
    connections.next().is_some_and(|connection| is_remote(&String::from_utf8_lossy(connection)))
}

/// Format: `client port server port`.
fn is_remote(connection: &str) -> bool {
    let fields: Vec<&str> = connection.split(' ').collect();
    let [client, _, server, _] = fields[..] else { return false };
    let address = |text: &str| text.split('%').next()?.parse::<IpAddr>().ok().map(|ip| ip.to_canonical());
    match (address(client), address(server)) {
        (Some(client), Some(server)) => !client.is_loopback() && !client.is_unspecified() && client != server,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole() {
        let check = |name, expected| assert_eq!(owner_on(false, name), expected, "{name}");
        check("xterm", Some(TerminalOwner::Terminal));
        check(".kitty-wrapped", Some(TerminalOwner::Terminal));
        check("login", Some(TerminalOwner::Terminal));
        check("sshd-session", Some(TerminalOwner::Ssh));
        check("tmux", Some(TerminalOwner::Multiplexer("tmux")));
        for other in [
            "",
            "Terminal",
            "iTermServer-3.6.4",
            "xterm2",
            "/usr/bin/xterm",
            "script",
            "systemd",
            "init",
            "sh",
            "setsid",
            "expect",
            "ssh",
        ] {
            check(other, None);
        }
        assert_eq!(terminal_owner("screen"), Some(multiplexer("screen")));
    }

    #[test]
    fn macos_has_its_own_terminals_and_no_login() {
        let check = |name, expected| assert_eq!(owner_on(true, name), expected, "{name}");
        for terminal in ["Terminal", "iTerm2", "iTermServer-3.6.4", "kitty"] {
            check(terminal, Some(TerminalOwner::Terminal));
        }
        check("sshd-session", Some(TerminalOwner::Ssh));
        for other in ["login", "terminal", "iTermServer", "launchd", "Terminal-helper"] {
            check(other, None);
        }
    }

    #[test]
    fn shown_terminals_are_known() {
        let is_unknown = |name: &&&str| !TERMINALS.contains(name) && !TERMINALS_OF_MACOS.contains(name);
        let unknown: Vec<_> = SHOWN.iter().chain(SHOWN_ON_MACOS).filter(is_unknown).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(shown_terminals().starts_with("alacritty, code, foot, ghostty, gnome-terminal, kitty"));
    }

    #[test]
    fn this_machine_is_not_elsewhere() {
        let check = |connection, expected| assert_eq!(is_remote(connection), expected, "{connection}");
        check("192.0.2.7 50000 192.0.2.1 22", true);
        check("2001:db8::7 50000 2001:db8::1 22", true);
        check("fe80::7%eth0 50000 fe80::1%eth0 22", true);
        check("127.0.0.1 50000 127.0.0.1 22", false);
        check("::1 50000 ::1 22", false);
        check("::ffff:127.0.0.1 50000 192.0.2.1 22", false);
        check("192.0.2.1 50000 192.0.2.1 22", false);
        check("0.0.0.0 1 192.0.2.1 22", false);
        for nonsense in ["", "192.0.2.7", "a b c d", "192.0.2.7 1 192.0.2.1 22 x"] {
            check(nonsense, false);
        }
    }
}
