//! The files of a system for systemd and its `tmpfiles.d`: pure texts. It must not know the machine.

use std::path::PathBuf;

use castellan_wire::{DAEMON_ALREADY_RUNS, DAEMON_ENVIRONMENT, SYSTEM_HOMES, SYSTEM_RUN};

use super::DAEMON;
use crate::service::files::{MARK_OF_SYSTEM, Rendered};
use crate::service::systemd::{UNSET, in_command};

/// The units in the order of their start. systemd puts the guarded user's id behind each `@`.
pub(super) const NAMES: [&str; 3] =
    ["castellan-reader@.socket", "castellan-reader@.service", "castellan@.service"];

/// The started programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Programs {
    pub(crate) castellan: PathBuf,
    pub(crate) reader: PathBuf,
}

/// Returns the units. `None` if a path has characters that a unit cannot have.
pub(super) fn files(programs: &Programs) -> Option<Vec<Rendered>> {
    let [socket_name, reader_name, daemon_name] = NAMES.map(str::to_owned);
    Some(vec![
        Rendered { name: socket_name, text: socket() },
        Rendered { name: reader_name, text: reader(&in_command(&programs.reader)?) },
        Rendered { name: daemon_name, text: daemon(&in_command(&programs.castellan)?) },
    ])
}

/// Returns the folders of sockets. Each user's folder belongs to the daemon; others may only reach the sockets in it.
pub(super) fn folders(users: &[u32]) -> String {
    let of_user = |user: &u32| format!("d {SYSTEM_RUN}/{user} 0711 {DAEMON} {DAEMON} -\n");
    let of_users: String = users.iter().map(of_user).collect();
    format!("{MARK_OF_SYSTEM}\n\nd {SYSTEM_RUN} 0755 root root -\n{of_users}")
}

fn daemon(program: &str) -> String {
    let environment: Vec<String> =
        DAEMON_ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let environment = environment.join(" ");
    format!(
        "\
{MARK_OF_SYSTEM}

[Unit]
Description=castellan, the guard of coding agents, for the user %i
# Without the reader, the daemon denies each call.
Wants=castellan-reader@%i.socket castellan-reader@%i.service
After=castellan-reader@%i.socket
StartLimitIntervalSec=0

[Service]
Type=exec
User={DAEMON}
Group={DAEMON}
ExecStart={program} daemon --home {SYSTEM_HOMES}/%i
WorkingDirectory=/
UMask=0077
Environment={environment}
UnsetEnvironment={UNSET}

Restart=always
RestartSec=100ms
RestartPreventExitStatus={DAEMON_ALREADY_RUNS}
# The daemon finishes the calls in its hands, for up to 8 s.
TimeoutStopSec=15
KillMode=mixed
OOMPolicy=continue
MemoryMax=2G
TasksMax=1024

# The daemon sees users' files only through the reader, so its own view of files may be narrow.
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
# The daemons of all guarded users have one user, so each sees only the folders of its own.
TemporaryFileSystem={SYSTEM_HOMES}:ro,mode=0755 {SYSTEM_RUN}:ro,mode=0755
BindPaths={SYSTEM_HOMES}/%i {SYSTEM_RUN}/%i
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
ProtectHostname=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
LimitCORE=0

[Install]
WantedBy=multi-user.target
"
    )
}

fn socket() -> String {
    format!(
        "\
{MARK_OF_SYSTEM}

[Unit]
Description=castellan: socket for the reader of the files of the user %i

[Socket]
ListenStream={SYSTEM_RUN}/%i/reader.sock
FileDescriptorName=reader
# Only the daemon may ask the reader.
SocketUser={DAEMON}
SocketMode=0600
RemoveOnStop=yes
Service=castellan-reader@%i.service

[Install]
WantedBy=sockets.target
"
    )
}

fn reader(program: &str) -> String {
    format!(
        "\
{MARK_OF_SYSTEM}

[Unit]
Description=castellan: reader of the files of the user %i
Requires=castellan-reader@%i.socket
After=castellan-reader@%i.socket
StartLimitIntervalSec=0

[Service]
Type=exec
User=%i
ExecStart={program} --daemon {DAEMON}
WorkingDirectory=/
UMask=0077
UnsetEnvironment={UNSET}

Restart=always
RestartSec=100ms
MemoryMax=64M
TasksMax=128

# The reader must see the files as its user's agents see them: no setting that changes the view of files.
CapabilityBoundingSet=
AmbientCapabilities=
NoNewPrivileges=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_UNIX
SystemCallArchitectures=native
SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @resources @swap
SystemCallErrorNumber=EPERM
LimitCORE=0
"
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn programs(dir: &str) -> Programs {
        let dir = Path::new(dir);
        Programs { castellan: dir.join("castellan"), reader: dir.join("castellan-reader") }
    }

    #[test]
    fn the_files_of_a_system() {
        let files = files(&programs("/usr/local/bin")).unwrap();
        let shown = |Rendered { name, text }: &Rendered| format!("==> {name}\n{text}\n");
        let mut all: String = files.iter().map(shown).collect();
        all.push_str(&format!("==> castellan.conf\n{}", folders(&[1000, 1001])));
        insta::assert_snapshot!(all);
    }

    #[test]
    fn no_path_adds_a_line() {
        assert_eq!(files(&programs("/opt/a\nExecStartPre=/bin/sh")), None);
        let odd = files(&programs("/opt/a b/100%")).unwrap();
        assert!(odd[2].text.contains("\nExecStart=\"/opt/a b/100%%/castellan\" daemon --home "), "{odd:?}");
    }

    #[test]
    fn the_daemon_of_a_user_sees_no_folder_of_another_ones() {
        let unit = daemon("/usr/bin/castellan");
        let setting = |name: &str| {
            let line = unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap();
            line.split(' ').collect::<Vec<_>>()
        };
        for (at, folder) in [SYSTEM_HOMES, SYSTEM_RUN].into_iter().enumerate() {
            // An empty folder hides all of them, and one of them is put there again.
            assert_eq!(setting("TemporaryFileSystem")[at], format!("{folder}:ro,mode=0755"));
            assert_eq!(setting("BindPaths")[at], format!("{folder}/%i"));
        }
    }

    #[test]
    fn the_daemon_has_no_right_of_another_user() {
        let files = files(&programs("/usr/bin")).unwrap();
        for Rendered { name, text } in &files[1..] {
            for line in ["CapabilityBoundingSet=", "AmbientCapabilities=", "NoNewPrivileges=yes"] {
                assert!(text.lines().any(|has| has == line), "{name}: {line}");
            }
            assert!(!text.lines().any(|line| line == "User=root"), "{name}");
        }
        // A changed view of files would show the reader other files than the agents'.
        let reader = &files[1].text;
        for setting in
            ["ProtectSystem", "ProtectHome", "PrivateTmp", "PrivateDevices", "ReadOnlyPaths", "RootDirectory"]
        {
            assert!(!reader.contains(&format!("\n{setting}=")), "{setting}");
        }
    }
}
