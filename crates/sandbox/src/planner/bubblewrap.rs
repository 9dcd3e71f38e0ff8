//! The same view of files, made by bubblewrap: for machines where it works and the launcher's own namespaces do not, because
//! bubblewrap is set-user-id or has a profile of AppArmor.
//!
//! Bubblewrap starts the launcher inside, as the first process. The launcher then applies the rest of the plan: Landlock, the filter,
//! limits, and the sockets of the proxy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::capabilities::Capabilities;
use crate::plan::{Bubblewrap, MountFlags, Plan, Step};
use crate::report::{Aspect, Report};

use super::Ground;
use super::mounts::{DEVICES, EMPTY_DIRECTORY, EMPTY_FILE};

/// Options of every start. Bubblewrap switches the loopback interface of a new network on. It makes a user namespace itself
/// where it needs one: for ordinary users if it is not set-user-id.
const ALWAYS: &[&str] = &[
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--as-pid-1",
    "--cap-drop",
    "ALL",
];

/// Returns the capabilities with those of bubblewrap, where it makes the namespaces.
pub(super) fn instead(can: &Capabilities) -> Option<Capabilities> {
    (!can.namespaces && can.bubblewrap.is_some()).then(|| Capabilities {
        namespaces: true,
        network_namespace: true,
        fresh_proc: true,
        // A setting of the namespace, which bubblewrap does not write.
        pid_limit: false,
        ..can.clone()
    })
}

/// Gives the namespaces and steps of a plan to bubblewrap.
pub(super) fn convert(ground: &Ground<'_>, plan: &mut Plan, report: &mut Report) {
    let Some(program) = &ground.can.bubblewrap else { return };
    let own_network = plan.namespaces.take().is_some_and(|namespaces| namespaces.network);
    let all = ALWAYS.iter().map(|word| Bytes::from(*word)).collect();
    let mut words = Words { all, sizes: ground.can.bubblewrap_sizes };
    if ground.survey.uid == 0 {
        words.add(&["--unshare-user"]);
    }
    if own_network {
        words.add(&["--unshare-net"]);
    }
    translate(&std::mem::take(&mut plan.steps), &mut words);
    plan.loopback = false;
    plan.bubblewrap = Some(Bubblewrap { program: Bytes::from(program.as_path()), options: words.all });
    for item in &mut report.items {
        let by_namespaces = match item.aspect {
            Aspect::Writes
            | Aspect::Reads
            | Aspect::Protected
            | Aspect::Secret
            | Aspect::Socket
            | Aspect::Devices
            | Aspect::PrivateTmp
            | Aspect::Processes
            | Aspect::End
            | Aspect::SpaceLimit => true,
            Aspect::Network => own_network,
            Aspect::Privileges
            | Aspect::SystemCalls
            | Aspect::Terminal
            | Aspect::ProcessLimit
            | Aspect::MemoryLimit
            | Aspect::CpuLimit
            | Aspect::FileLimit
            | Aspect::OpenFilesLimit
            | Aspect::TimeLimit => false,
        };
        if by_namespaces && item.enforced {
            item.how = format!("bubblewrap: {}", item.how);
        }
    }
}

struct Words {
    all: Vec<Bytes>,
    /// File systems in memory can have a size.
    sizes: bool,
}

impl Words {
    fn add(&mut self, words: &[&str]) {
        self.all.extend(words.iter().map(|word| Bytes::from(*word)));
    }

    fn mount(&mut self, option: &str, from: &Path, at: &Path) {
        self.add(&[option]);
        self.all.extend([Bytes::from(from), Bytes::from(at)]);
    }

    fn at(&mut self, options: &[&str], at: &Path) {
        self.add(options);
        self.all.push(Bytes::from(at));
    }
}

/// Each step as options. Bubblewrap builds a new root always, and takes its sources from the old one.
fn translate(steps: &[Step], words: &mut Words) {
    let root =
        steps.iter().find_map(|step| if let Step::Root { at } = step { Some(at.path()) } else { None });
    let inside = |path: &Bytes| -> PathBuf {
        let below = root.and_then(|root| path.path().strip_prefix(root).ok());
        below.map_or_else(|| path.path().to_owned(), |below| Path::new("/").join(below))
    };
    let mut copies: BTreeMap<u16, (&Bytes, MountFlags)> = BTreeMap::new();
    let mut is_built = false;
    // What castellan makes to cover secrets comes before the view; bubblewrap has options for it.
    let is_view = |step: &Step| match step {
        Step::Restrict { recursive, .. } => *recursive,
        Step::Private { at, .. } => Some(at.path()) == root,
        Step::Copy { .. }
        | Step::Attach { .. }
        | Step::Bind { .. }
        | Step::Processes { .. }
        | Step::Terminals { .. }
        | Step::Directory { .. }
        | Step::File { .. }
        | Step::Link { .. }
        | Step::Write { .. }
        | Step::Root { .. } => false,
    };
    let view = steps.iter().position(is_view).unwrap_or_default();
    for (number, step) in steps.iter().enumerate() {
        // After the new root is in place, paths have no prefix.
        let inside = |path: &Bytes| if is_built { path.path().to_owned() } else { inside(path) };
        match step {
            Step::Copy { slot, path, flags } => drop(copies.insert(*slot, (path, *flags))),
            Step::Restrict { path, recursive: true, .. } => {
                words.mount("--ro-bind", path.path(), path.path())
            }
            Step::Restrict { path, recursive: false, .. } => words.at(&["--remount-ro"], &inside(path)),
            Step::Attach { slot, at, .. } => attach(copies.get(slot).copied(), &inside(at), words),
            // The report says that a symlink is not protected.
            Step::Bind { link: Some(_), .. } => {}
            Step::Bind { from, at, flags, .. } => words.mount(option(*flags), &inside(from), &inside(at)),
            Step::Private { .. } if number < view => {}
            Step::Private { at, mode, bytes, .. } => private(&inside(at), *mode, *bytes, words),
            Step::Processes { at, .. } => words.at(&["--proc"], &inside(at)),
            Step::Directory { at, mode } if !is_device(&inside(at)) => {
                words.at(&["--perms", &format!("{mode:04o}"), "--dir"], &inside(at));
            }
            Step::Link { at, to } if !is_device(&inside(at)) => {
                words.mount("--symlink", to.path(), &inside(at));
            }
            Step::Root { .. } => is_built = true,
            // `--dev` makes these. Settings of namespaces are for the launcher's own.
            Step::Directory { .. }
            | Step::Link { .. }
            | Step::File { .. }
            | Step::Terminals { .. }
            | Step::Write { .. } => {}
        }
    }
}

fn attach(copy: Option<(&Bytes, MountFlags)>, at: &Path, words: &mut Words) {
    match copy {
        // `--dev` makes it.
        _ if DEVICES.iter().any(|device| at == Path::new(device)) => {}
        Some((path, _)) if path.path() == Path::new(EMPTY_DIRECTORY) => {
            words.at(&["--perms", "0000", "--tmpfs"], at);
            words.at(&["--remount-ro"], at);
        }
        // A device file on a mount without devices: nobody can open it.
        Some((path, _)) if path.path() == Path::new(EMPTY_FILE) => {
            words.mount("--ro-bind", Path::new("/dev/null"), at);
        }
        Some((path, flags)) => words.mount(option(flags), path.path(), at),
        // No plan attaches a copy that it did not make: bubblewrap refuses to start.
        None => words.mount("--ro-bind", Path::new(""), at),
    }
}

/// An empty file system. `/dev` becomes read-only at the end.
fn private(at: &Path, mode: u32, bytes: u64, words: &mut Words) {
    let (at, mode) = match at.to_str() {
        Some("/") => return,
        Some("/dev") => {
            words.at(&["--dev"], at);
            (Path::new("/dev/shm"), 0o1777)
        }
        Some(_) | None => (at, mode),
    };
    if words.sizes {
        words.add(&["--size", &bytes.to_string()]);
    }
    words.at(&["--perms", &format!("{mode:04o}"), "--tmpfs"], at);
}

fn is_device(path: &Path) -> bool {
    path.starts_with("/dev")
}

fn option(flags: MountFlags) -> &'static str {
    if flags.read_only { "--ro-bind" } else { "--bind" }
}
