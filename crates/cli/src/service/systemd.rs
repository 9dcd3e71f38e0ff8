//! The files of a service for systemd's manager of a user: pure texts. It must not know programs or directories.
//!
//! The manager of an ordinary user can take rights from a service only by `NoNewPrivileges` and system call filters.
//! `ProtectSystem` and all others that change the view of files need a namespace of users there. In one, the kernel
//! refuses the daemon the executables and environments of agents (`/proc/PID/exe`), and it would judge without them.

use std::path::Path;

use castellan_wire::{DAEMON_ALREADY_RUNS, DAEMON_ENVIRONMENT};

use super::definition::{Definition, Rights};
use super::files::{MARK, Rendered};

/// Bytes of a path that a socket unit can have, without the final NUL.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// The folders of links to enabled units.
pub(crate) const WANTED_BY: &[&str] = &["default.target.wants", "sockets.target.wants"];

/// Variables that load code into a program, or steer its allocator.
pub(crate) const UNSET: &str = "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG LD_PROFILE GLIBC_TUNABLES GCONV_PATH LOCPATH \
                     MALLOC_CONF _RJEM_MALLOC_CONF";

/// Returns the files: the service and, where their paths are short enough, its sockets. `None` if a path has characters
/// that a unit cannot have.
pub(crate) fn files(definition: &Definition, rights: Rights) -> Option<Vec<Rendered>> {
    let mut files =
        vec![Rendered { name: format!("{}.service", definition.name), text: service(definition, rights)? }];
    for (word, what, path) in sockets(definition) {
        let name = socket_name(definition, word);
        files.push(Rendered { name, text: socket(definition, word, what, &path)? });
    }
    Some(files)
}

/// Returns the names of the units, the sockets first: they are started and stopped in this order.
pub(crate) fn units(definition: &Definition) -> Vec<String> {
    let sockets = sockets(definition).into_iter().map(|(word, ..)| socket_name(definition, word));
    sockets.chain([format!("{}.service", definition.name)]).collect()
}

fn socket_name(definition: &Definition, word: &str) -> String {
    format!("{}-{word}.socket", definition.name)
}

fn sockets(definition: &Definition) -> Vec<(&'static str, &'static str, std::path::PathBuf)> {
    let home = &definition.home;
    let all = vec![
        ("hook", "hooks of agents", home.hook_socket()),
        ("control", "castellan's own commands", home.control_socket()),
    ];
    let fits = all.iter().all(|(_, _, path)| path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX);
    if fits { all } else { Vec::new() }
}

fn service(definition: &Definition, rights: Rights) -> Option<String> {
    let Definition { program, home, .. } = definition;
    let (program, dir) = (in_command(program)?, in_command(home.dir())?);
    let stopped = in_value(&home.stopped_marker())?;
    let environment: Vec<String> =
        DAEMON_ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let environment = environment.join(" ");
    let names: Vec<String> =
        sockets(definition).iter().map(|(word, ..)| socket_name(definition, word)).collect();
    let (sockets, also) = match names.is_empty() {
        true => (String::new(), String::new()),
        false => (format!("Sockets={}\n", names.join(" ")), format!("Also={}\n", names.join(" "))),
    };
    let rights = match rights {
        Rights::Few => HARDENED,
        Rights::Passwords => FOR_PASSWORDS,
    };
    Some(format!(
        "\
{MARK}

[Unit]
Description=castellan, the guard of coding agents
# This file exists after `castellan stop`: then only a person starts the daemon.
ConditionPathExists=!{stopped}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart={program} daemon --home {dir}
{sockets}WorkingDirectory=/
UMask=0077
Environment={environment}
# No variable of the session loads code into the daemon.
UnsetEnvironment={UNSET}

Restart=always
RestartSec=100ms
# Another daemon serves this home: a hook has started it.
RestartPreventExitStatus={DAEMON_ALREADY_RUNS}
# The daemon finishes the calls in its hands, for up to 8 s.
TimeoutStopSec=15
KillMode=mixed

# A helper that takes too much memory ends alone.
OOMPolicy=continue
MemoryMax=2G
TasksMax=1024

{rights}
[Install]
WantedBy=default.target
{also}"
    ))
}

/// Each of the filters of system calls implies `NoNewPrivileges` in a service of a user.
const HARDENED: &str = "\
# ProtectSystem and other changes of the view of files would hide the agents' programs from the daemon
# (docs/service.md).
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictRealtime=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
";

const FOR_PASSWORDS: &str = "\
# `presence_check = \"password\"` starts the system's program that checks passwords. It needs more rights than the
# daemon, so the daemon cannot be denied them (NoNewPrivileges), which every filter of system calls implies.
";

fn socket(definition: &Definition, word: &str, what: &str, path: &Path) -> Option<String> {
    let (path, stopped) = (in_value(path)?, in_value(&definition.home.stopped_marker())?);
    let name = &definition.name;
    Some(format!(
        "\
{MARK}

[Unit]
Description=castellan: socket for {what}
ConditionPathExists=!{stopped}

[Socket]
ListenStream={path}
FileDescriptorName={word}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes
Service={name}.service

[Install]
WantedBy=sockets.target
"
    ))
}

/// Writes a path as the value of a setting, where only `%` has a meaning.
fn in_value(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| is_plain(text))?;
    Some(text.replace('%', "%%"))
}

/// Writes a path as a word of a command line: in quotes, with the characters escaped that have a meaning there.
pub(crate) fn in_command(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| is_plain(text))?;
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Some(format!("\"{text}\""))
}

/// Reports whether a path can be in a line of a unit: no control characters, no space at an end, no `\` at the end.
fn is_plain(text: &str) -> bool {
    !text.chars().any(char::is_control) && text.trim() == text && !text.ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(home: &str) -> Definition {
        Definition {
            name: "castellan".to_owned(),
            program: "/home/ada/.local/bin/castellan".into(),
            home: castellan_wire::Home::new(home).unwrap(),
        }
    }

    fn rendered(definition: &Definition, rights: Rights) -> String {
        let files = files(definition, rights).unwrap();
        files.iter().map(|Rendered { name, text }| format!("==> {name}\n{text}\n")).collect()
    }

    #[test]
    fn the_units_of_the_default_home() {
        insta::assert_snapshot!(rendered(&definition("/home/ada/.local/share/castellan"), Rights::Few));
    }

    #[test]
    fn a_password_needs_a_helper_with_more_rights() {
        let text = rendered(&definition("/home/ada/.local/share/castellan"), Rights::Passwords);
        // Each of these implies NoNewPrivileges for a user's service.
        for setting in ["NoNewPrivileges=", "SystemCall", "Restrict", "LockPersonality", "MemoryDeny"] {
            assert!(!text.contains(&format!("\n{setting}")), "{setting}");
        }
    }

    #[test]
    fn paths_are_quoted_and_no_path_adds_a_line() {
        let odd = Path::new("/home/a b/100%/$HOME/\"x\"/c\\d");
        assert_eq!(in_command(odd).unwrap(), r#""/home/a b/100%%/$$HOME/\"x\"/c\\d""#);
        assert_eq!(in_value(odd).unwrap(), "/home/a b/100%%/$HOME/\"x\"/c\\d");
        for bad in ["/home/a\nExecStart=/bin/sh", "/home/a\r", "/home/a ", "/home/a\\"] {
            assert_eq!((in_command(Path::new(bad)), in_value(Path::new(bad))), (None, None), "{bad:?}");
            assert_eq!(files(&definition(bad), Rights::Few), None, "{bad:?}");
        }
    }

    #[test]
    fn a_path_that_no_socket_unit_can_have_gives_a_service_without_sockets() {
        let long = definition(&format!("/home/{}", "x".repeat(120)));
        assert_eq!(units(&long), ["castellan.service"]);
        assert!(!rendered(&long, Rights::Few).contains("ocket"));
    }
}
