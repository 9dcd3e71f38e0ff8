//! The keys of the tables `sandbox` and `containment`.

use castellan_policy::{ContainmentMode, SandboxFiles, SandboxMode, SandboxNetwork};

use super::{Key, Kind, Merge, Place};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "sandbox.mode",
        kind: Kind::Word(SandboxMode::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"off\"",
        about: "Sandbox of the agents that `castellan run` starts. `off`: only with `--sandbox`. `prefer`: wherever the \
                machine enforces it. `require`: castellan denies every call of an agent outside of a sandbox.",
    },
    Key {
        name: "sandbox.files",
        kind: Kind::Word(SandboxFiles::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"workspace-write\"",
        about: "Files that a sandbox may write. `workspace-write`: those of the workspace, of `sandbox.writable` and of the \
                temporary folder. `read-only`: those of the temporary folder.",
    },
    Key {
        name: "sandbox.commits",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "A sandbox may write `.git`, without its settings and hooks. Else `.git` is read-only there.",
    },
    list("sandbox.writable", "Further writable directories: absolute paths, or `~/` and a path."),
    Key {
        name: "sandbox.private_home",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "Gives a command of `castellan sandbox run` an empty home that ends with it.",
    },
    Key {
        name: "sandbox.network",
        kind: Kind::Word(SandboxNetwork::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"hosts\"",
        about: "Network of a sandbox. `full`: that of the machine. `hosts`: those of `sandbox.hosts`, and those that the \
                agent itself needs, through castellan's proxy. `loopback`: only the sandbox itself. `none`: nothing.",
    },
    list(
        "sandbox.hosts",
        "Hosts that a sandbox reaches: `example.org`, `*.example.org`, `example.org:8443`. Without a port: 443 and 80. Words after the \
         host: private addresses that its name may have (`10.1.0.0/16`), `raw` for protocols other than TLS and HTTP.",
    ),
    list(
        "sandbox.requests",
        "Requests that a sandbox may send to a host of `sandbox.hosts`: `api.example.org GET,HEAD`, \
         `api.github.com POST /graphql queries`. castellan ends TLS for these hosts.",
    ),
    list(
        "sandbox.secrets",
        "Variables whose values stay outside of a sandbox, with the hosts that get them: `GITHUB_TOKEN: github.com, \
         api.github.com`. The sandbox sees a placeholder. castellan ends TLS for these hosts.",
    ),
    list("sandbox.environment", "Variables that a sandbox gets beside the common ones, by name."),
    limit("sandbox.processes", "Processes at once in a sandbox; 0: no limit."),
    limit("sandbox.memory_mib", "MiB of memory of each process in a sandbox; 0: no limit."),
    limit("sandbox.cpu_s", "Seconds of computing of each process in a sandbox; 0: no limit."),
    limit("sandbox.file_mib", "MiB of each file that a sandbox writes; 0: no limit."),
    limit("sandbox.open_files", "Open files of each process in a sandbox; 0: no limit."),
    limit("sandbox.wall_s", "Seconds until castellan ends a sandbox; 0: no limit."),
    Key {
        name: "containment.mode",
        kind: Kind::Word(ContainmentMode::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "\"prefer\"",
        about: "Runs shell calls in a sandbox that castellan would else ask about because it did not understand them. \
                `prefer`: wherever the agent and the machine support it. `off`: castellan asks about all of them.",
    },
];

/// A list of texts about sandboxes.
const fn list(name: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Texts, merge: Merge::Highest, place: Place::AboveProject, default: "[]", about }
}

/// A limit of resources in sandboxes.
const fn limit(name: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Count(0), merge: Merge::Highest, place: Place::AboveProject, default: "0", about }
}
