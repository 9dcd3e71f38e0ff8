//! The steps that build the sandbox's view of files.
//!
//! Copies of what must stay writable or visible are taken first. Then either the whole old view becomes read-only, or a new
//! root is built. Places are mounted from the shortest path to the longest, so that the longest rule applies.

use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::limits::{PID_MAX, PIDS_RESERVED, PRIVATE_BYTES};
use crate::plan::{Make, MountFlags, Placeholder, Plan, Step};
use crate::survey::Kind;

use super::paths::{Protected, depth};
use super::{Ground, starts_with_any};

/// Where a new root is built: a directory that every system has.
const NEW_ROOT: &str = "/tmp";

/// Harmless devices.
pub(super) const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// What covers secrets.
pub(super) const EMPTY_DIRECTORY: &str = "/dev/directory";
pub(super) const EMPTY_FILE: &str = "/dev/file";

/// Symlinks of `/dev`.
const LINKS: &[(&str, &str)] = &[
    ("/dev/ptmx", "pts/ptmx"),
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Files of the kernel that root could read in spite of having no capability.
const ROOTS_OWN: &[&str] = &["/sys/kernel/debug", "/sys/kernel/tracing", "/sys/firmware"];

const READ_ONLY: MountFlags = MountFlags { read_only: true, no_devices: true, no_execution: false };
const WRITABLE: MountFlags = MountFlags { read_only: false, no_devices: true, no_execution: false };
const DEVICE: MountFlags = MountFlags { read_only: false, no_devices: false, no_execution: true };

/// Steps at one path, in the order of its length.
struct At {
    path: PathBuf,
    steps: Vec<Step>,
}

struct Builder<'a> {
    ground: &'a Ground<'a>,
    /// Prefix of the new root; empty where the old view stays.
    prefix: PathBuf,
    copies: Vec<Step>,
    slots: u16,
}

pub(super) fn plan(ground: &Ground<'_>, plan: &mut Plan) {
    let prefix = if ground.paths.everything { PathBuf::new() } else { NEW_ROOT.into() };
    let mut builder = Builder { ground, prefix, copies: Vec::new(), slots: 0 };
    let mut places = builder.private_places();
    places.extend(builder.shown());
    places.extend(builder.protected(&mut plan.placeholders));
    places.sort_by_key(|at| depth(&at.path));
    let devices = builder.devices();
    let masks = builder.masks();
    let copies = std::mem::take(&mut builder.copies);
    plan.steps.extend(copies);
    let mask_places = masks.map(|(steps, places)| {
        plan.steps.extend(steps);
        places
    });
    if ground.paths.everything {
        plan.steps.push(Step::Restrict { path: "/".into(), flags: READ_ONLY, recursive: true });
    } else {
        plan.steps.push(Step::Private {
            at: NEW_ROOT.into(),
            mode: 0o755,
            bytes: builder.space(),
            make: Make::No,
            execution: false,
        });
    }
    plan.steps.extend(devices);
    plan.steps.extend(places.into_iter().flat_map(|at| at.steps));
    plan.steps.extend(mask_places.into_iter().flatten());
    plan.steps.extend(builder.proc());
    if !ground.paths.everything {
        plan.steps.push(Step::Root { at: NEW_ROOT.into() });
        plan.steps.push(Step::Restrict { path: "/".into(), flags: READ_ONLY, recursive: false });
    }
}

impl Builder<'_> {
    fn inside(&self, path: &Path) -> Bytes {
        let relative = path.strip_prefix("/").unwrap_or(path);
        if self.prefix.as_os_str().is_empty() {
            Bytes::from(path)
        } else {
            Bytes::from(self.prefix.join(relative).as_path())
        }
    }

    /// Mount points are made in places that castellan itself mounts, and nowhere else.
    fn make(&self, path: &Path, kind: Kind) -> Make {
        let own = !self.ground.paths.everything || starts_with_any(path, &self.ground.paths.private);
        match (own, kind) {
            (false, _) => Make::No,
            (true, Kind::Directory) => Make::Directory,
            (true, Kind::File | Kind::Link | Kind::Missing) => Make::File,
        }
    }

    fn space(&self) -> u64 {
        self.ground.policy.limits.private_bytes.unwrap_or(PRIVATE_BYTES)
    }

    fn copy(&mut self, path: &Path, flags: MountFlags) -> u16 {
        let slot = self.slots;
        self.slots = slot.saturating_add(1);
        self.copies.push(Step::Copy { slot, path: Bytes::from(path), flags });
        slot
    }

    fn private_places(&self) -> Vec<At> {
        let private = self.ground.paths.private.iter().filter(|path| !path.ends_with("dev"));
        private
            .map(|path| At {
                path: path.clone(),
                steps: vec![Step::Private {
                    at: self.inside(path),
                    mode: 0o1777,
                    bytes: self.space(),
                    make: if self.ground.paths.everything { Make::No } else { Make::Directory },
                    execution: true,
                }],
            })
            .collect()
    }

    /// Writable and read-only paths.
    fn shown(&mut self) -> Vec<At> {
        let paths = &self.ground.paths;
        let mut all = Vec::new();
        for (requested, seen) in &paths.readable {
            if seen.link && requested != &seen.real {
                let (at, to) = (self.inside(&seen.place), Bytes::from(seen.real.as_path()));
                all.push(At { path: seen.place.clone(), steps: vec![Step::Link { at, to }] });
            }
            if starts_with_any(&seen.real, &paths.writable) {
                continue;
            }
            let slot = self.copy(&seen.real, READ_ONLY);
            let step =
                Step::Attach { slot, at: self.inside(&seen.real), make: self.make(&seen.real, seen.kind) };
            all.push(At { path: seen.real.clone(), steps: vec![step] });
        }
        for root in &paths.writable {
            let kind = self.kind(root);
            let slot = self.copy(root, WRITABLE);
            let step = Step::Attach { slot, at: self.inside(root), make: self.make(root, kind) };
            all.push(At { path: root.clone(), steps: vec![step] });
        }
        all
    }

    fn kind(&self, real: &Path) -> Kind {
        let seen = self.ground.survey.paths.values().find(|seen| seen.real == real);
        seen.map_or(Kind::Directory, |seen| seen.kind)
    }

    /// Read-only mounts below writable roots. The directories between are mounts too, because a directory that is a mount
    /// point cannot be renamed, and one that only holds a mount point can.
    fn protected(&self, placeholders: &mut Vec<Placeholder>) -> Vec<At> {
        let mut all: Vec<At> = Vec::new();
        for protected in &self.ground.paths.protected {
            let Protected { seen, root: Some(root), .. } = protected else { continue };
            for between in seen.place.ancestors().skip(1).take_while(|above| *above != root) {
                if all.iter().all(|at| at.path != between) {
                    all.push(self.bind(between, between, WRITABLE));
                }
            }
            // One that another sandbox made is held too, so that its end does not remove it.
            if seen.placeholder || seen.kind == Kind::Missing && !seen.link {
                let path = Bytes::from(seen.place.as_path());
                if placeholders.iter().all(|known| known.path != path) {
                    placeholders.push(Placeholder { path });
                }
            }
            if seen.link && starts_with_any(&seen.real, &self.ground.paths.writable) {
                all.push(self.bind(&seen.real, &seen.real, READ_ONLY));
            }
            // A symlink is mounted over itself: it still leads to its target, and cannot be replaced. One that leads to
            // nothing is covered by an empty file, because the command could make its target.
            let from =
                if seen.kind == Kind::Missing && seen.link { Path::new("/dev/null") } else { &seen.place };
            all.retain(|at| at.path != seen.place);
            let link = seen.link.then(|| Bytes::from(seen.text.as_path()));
            all.push(self.bind_link(from, &seen.place, READ_ONLY, link));
        }
        all
    }

    fn bind(&self, from: &Path, at: &Path, flags: MountFlags) -> At {
        self.bind_link(from, at, flags, None)
    }

    fn bind_link(&self, from: &Path, at: &Path, flags: MountFlags, link: Option<Bytes>) -> At {
        let step = Step::Bind { from: self.inside(from), at: self.inside(at), flags, make: Make::No, link };
        At { path: at.to_owned(), steps: vec![step] }
    }

    /// Empty, unreadable mounts over secrets: first a file system that `/dev` covers later, then its copies.
    fn masks(&self) -> Option<(Vec<Step>, Vec<Step>)> {
        let (directory, file) = (PathBuf::from(EMPTY_DIRECTORY), PathBuf::from(EMPTY_FILE));
        let paths = &self.ground.paths;
        let hidden = paths.hidden.iter().map(|hidden| &hidden.seen).filter(|seen| seen.kind != Kind::Missing);
        let mut covered: Vec<(&Path, Kind)> = hidden
            .filter(|seen| paths.is_visible(&seen.real))
            .map(|seen| (seen.real.as_path(), seen.kind))
            .collect();
        if self.ground.survey.uid == 0 && paths.everything {
            let present = |path: &&&str| {
                self.ground
                    .survey
                    .paths
                    .get(Path::new(**path))
                    .is_some_and(|seen| seen.kind == Kind::Directory)
            };
            covered.extend(ROOTS_OWN.iter().filter(present).map(|path| (Path::new(*path), Kind::Directory)));
        }
        covered.sort_by_key(|(path, _)| depth(path));
        covered.dedup();
        let outer = covered.clone();
        covered.retain(|(path, _)| !outer.iter().any(|(other, _)| other != path && path.starts_with(other)));
        if covered.is_empty() {
            return None;
        }
        let mut first = vec![
            Step::Private { at: "/dev".into(), mode: 0o755, bytes: 4096, make: Make::No, execution: false },
            Step::Directory { at: Bytes::from(directory.as_path()), mode: 0 },
            Step::File { at: Bytes::from(file.as_path()), mode: 0 },
        ];
        let mut second = Vec::new();
        for (slot, (path, kind)) in (self.slots..).zip(covered) {
            let from = if kind == Kind::Directory { &directory } else { &file };
            first.push(Step::Copy { slot, path: Bytes::from(from.as_path()), flags: READ_ONLY });
            second.push(Step::Attach { slot, at: self.inside(path), make: Make::No });
        }
        Some((first, second))
    }

    /// A `/dev` of its own.
    fn devices(&mut self) -> Vec<Step> {
        let make = if self.ground.paths.everything { Make::No } else { Make::Directory };
        let at = |builder: &Self, path: &str| builder.inside(Path::new(path));
        let mut steps = vec![Step::Private {
            at: at(self, "/dev"),
            mode: 0o755,
            bytes: self.space(),
            make,
            execution: false,
        }];
        for device in DEVICES {
            let present =
                self.ground.survey.paths.get(Path::new(device)).is_some_and(|seen| seen.kind == Kind::File);
            if present {
                let slot = self.copy(Path::new(device), DEVICE);
                steps.push(Step::Attach { slot, at: at(self, device), make: Make::File });
            }
        }
        steps.push(Step::Directory { at: at(self, "/dev/pts"), mode: 0o755 });
        steps.push(Step::Terminals { at: at(self, "/dev/pts") });
        steps.push(Step::Directory { at: at(self, "/dev/shm"), mode: 0o1777 });
        steps.extend(LINKS.iter().map(|(path, to)| Step::Link { at: at(self, path), to: (*to).into() }));
        steps
    }

    /// A new `/proc`, read-only: the files of `/proc/sys` belong to root, who could write them without any capability.
    fn proc(&self) -> Vec<Step> {
        let proc = Path::new("/proc");
        let can = self.ground.can;
        let at = self.inside(proc);
        if !can.fresh_proc {
            if self.ground.paths.everything {
                return Vec::new();
            }
            return vec![Step::Bind {
                from: "/proc".into(),
                at,
                flags: READ_ONLY,
                make: Make::Directory,
                link: None,
            }];
        }
        let make = if self.ground.paths.everything { Make::No } else { Make::Directory };
        let mut steps = vec![Step::Processes { at: at.clone(), make }];
        let write = |path: &str, text: String| Step::Write {
            path: self.inside(Path::new(path)),
            text: text.as_str().into(),
        };
        if let Some(limit) = super::resources::by_numbers(self.ground) {
            // The next process gets a number beyond the reserved ones: as many as the limit are left, now and later.
            let largest = limit.saturating_add(PIDS_RESERVED).min(PID_MAX);
            steps.push(write("/proc/sys/kernel/ns_last_pid", PIDS_RESERVED.to_string()));
            steps.push(write("/proc/sys/kernel/pid_max", largest.to_string()));
        }
        if !can.seccomp {
            steps.push(write("/proc/sys/user/max_user_namespaces", "0".to_owned()));
        }
        steps.push(Step::Restrict { path: at, flags: READ_ONLY, recursive: false });
        steps
    }
}
