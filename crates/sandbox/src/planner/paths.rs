//! The rules for paths on real paths: which rule applies where, which exclude each other, and what of them is enforced.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::capabilities::Capabilities;
use crate::error::PolicyError;
use crate::policy::{Network, Policy, Read};
use crate::report::{Aspect, Report};
use crate::survey::{Kind, Seen, Survey};

use super::{Ground, shown, starts_with_any};

/// Real paths of a policy.
pub(super) struct Paths {
    /// Writable roots, none inside another.
    pub(super) writable: Vec<PathBuf>,
    /// Read-only paths that private places would cover, and readable ones if not everything is.
    pub(super) readable: Vec<(PathBuf, Seen)>,
    /// Protected paths below writable roots.
    pub(super) protected: Vec<Protected>,
    /// Secrets and sockets.
    pub(super) hidden: Vec<Hidden>,
    /// Empty places of the sandbox.
    pub(super) private: Vec<PathBuf>,
    /// Everything that the user can read is readable.
    pub(super) everything: bool,
    /// The working directory.
    pub(super) directory: PathBuf,
}

/// A protected path.
pub(super) struct Protected {
    pub(super) requested: PathBuf,
    pub(super) seen: Seen,
    /// The writable root above it.
    pub(super) root: Option<PathBuf>,
}

/// A secret or socket.
pub(super) struct Hidden {
    pub(super) requested: PathBuf,
    pub(super) seen: Seen,
    pub(super) socket: bool,
}

impl Paths {
    /// Resolves the paths of a policy.
    ///
    /// # Errors
    /// A writable path or the directory is missing; rules exclude each other.
    pub(super) fn of(policy: &Policy, survey: &Survey) -> Result<Paths, PolicyError> {
        let files = &policy.files;
        let writable = writable(policy, survey)?;
        let everything = files.read == Read::Everything;
        let private = private(policy, survey);
        let directory = find(survey, &policy.directory, "directory")?;
        if directory.kind != Kind::Directory {
            return Err(PolicyError::Missing { field: "directory", path: policy.directory.clone() });
        }
        let mut paths = Paths {
            writable,
            readable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            private,
            everything,
            directory: directory.real.clone(),
        };
        for requested in &files.protected {
            let seen = find(survey, requested, "protected")?.clone();
            let root = paths
                .writable
                .iter()
                .filter(|root| seen.place.starts_with(root))
                .max_by_key(|root| depth(root));
            let root = root.cloned();
            paths.protected.push(Protected { requested: requested.clone(), seen, root });
        }
        for (list, field, socket) in [(&files.secret, "secret", false), (&files.sockets, "sockets", true)] {
            for requested in list {
                let seen = find(survey, requested, field)?.clone();
                if seen.real == Path::new("/") {
                    return Err(PolicyError::Root { field });
                }
                paths.hidden.push(Hidden { requested: requested.clone(), seen, socket });
            }
        }
        if let Read::Only(only) = &files.read {
            for requested in only {
                let seen = find(survey, requested, "readable")?.clone();
                if seen.kind != Kind::Missing {
                    paths.readable.push((requested.clone(), seen));
                }
            }
        }
        if !paths.is_visible(&directory.real) {
            paths.readable.push((directory.real.clone(), directory.clone()));
        }
        if policy.network == Network::Full {
            // Names are resolved as outside: the file is often a symlink into `/run`.
            let resolver =
                survey.paths.get(Path::new("/etc/resolv.conf")).filter(|seen| seen.kind == Kind::File);
            paths.readable.extend(
                resolver
                    .filter(|seen| !paths.is_visible(&seen.real))
                    .map(|seen| (seen.real.clone(), Seen { link: false, ..seen.clone() })),
            );
        }
        paths.check()?;
        Ok(paths)
    }

    /// Reports whether a real path can be reached, before secrets are hidden.
    pub(super) fn is_visible(&self, path: &Path) -> bool {
        let open = |roots: &mut dyn Iterator<Item = &PathBuf>| {
            roots.filter(|root| path.starts_with(root)).map(|root| depth(root)).max()
        };
        let shown = open(&mut self.writable.iter().chain(self.readable.iter().map(|(_, seen)| &seen.real)));
        let covered = open(&mut self.private.iter());
        match (shown, covered) {
            (Some(shown), Some(covered)) => shown >= covered,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.everything,
        }
    }

    /// Rules that exclude each other.
    fn check(&self) -> Result<(), PolicyError> {
        let conflict = |path: &Path, one, second: &Path, other| {
            Err(PolicyError::Conflict { path: path.to_owned(), one, second: second.to_owned(), other })
        };
        for root in &self.writable {
            if let Some(hidden) = self.hidden.iter().find(|hidden| root.starts_with(&hidden.seen.real)) {
                return conflict(root, "writable", &hidden.requested, "secret");
            }
            let protected = self.protected.iter().find(|protected| root.starts_with(&protected.seen.place));
            if let Some(protected) = protected {
                return conflict(root, "writable", &protected.requested, "protected");
            }
        }
        for (path, seen) in &self.readable {
            let mut hidden = self.hidden.iter().filter(|hidden| hidden.seen.kind != Kind::Missing);
            if let Some(hidden) = hidden.find(|hidden| seen.real.starts_with(&hidden.seen.real)) {
                return conflict(path, "readable", &hidden.requested, "secret");
            }
        }
        Ok(())
    }

    /// Checks that the command can be started at all.
    pub(super) fn check_start(
        &self,
        policy: &Policy,
        can: &Capabilities,
        program: &OsStr,
    ) -> Result<(), PolicyError> {
        let is_hidden = |path: &Path| {
            self.hidden
                .iter()
                .any(|hidden| hidden.seen.kind != Kind::Missing && path.starts_with(&hidden.seen.real))
        };
        if is_hidden(&self.directory) {
            let advice = "take it out of the secrets, or start in another directory";
            return Err(PolicyError::LocksOut { path: policy.directory.clone(), advice });
        }
        let program = Path::new(program);
        if program.components().count() > 1 && is_hidden(&self.directory.join(program)) {
            let advice = "take it out of the secrets";
            return Err(PolicyError::LocksOut { path: program.to_owned(), advice });
        }
        let restricts_reading = can.namespaces || can.landlock > 0;
        if let Read::Only(only) = &policy.files.read
            && restricts_reading
            && only.is_empty()
            && self.writable.is_empty()
        {
            let advice =
                "list the directories of programs and libraries (/usr, /bin, /lib, /lib64) as readable";
            return Err(PolicyError::LocksOut { path: program.to_owned(), advice });
        }
        Ok(())
    }
}

fn find<'a>(survey: &'a Survey, path: &Path, field: &'static str) -> Result<&'a Seen, PolicyError> {
    let missing = || PolicyError::Missing { field, path: path.to_owned() };
    survey.paths.get(path).ok_or_else(missing)
}

fn writable(policy: &Policy, survey: &Survey) -> Result<Vec<PathBuf>, PolicyError> {
    let mut roots = Vec::new();
    for requested in &policy.files.writable {
        let seen = find(survey, requested, "writable")?;
        if seen.kind == Kind::Missing {
            return Err(PolicyError::Missing { field: "writable", path: requested.clone() });
        }
        if seen.real == Path::new("/") {
            return Err(PolicyError::Root { field: "writable" });
        }
        roots.push(seen.real.clone());
    }
    roots.sort();
    roots.dedup();
    let outer = roots.clone();
    roots.retain(|root| !outer.iter().any(|other| other != root && root.starts_with(other)));
    Ok(roots)
}

fn private(policy: &Policy, survey: &Survey) -> Vec<PathBuf> {
    let mut private = vec![PathBuf::from("/dev")];
    let exists =
        |path: &str| survey.paths.get(Path::new(path)).is_some_and(|seen| seen.kind == Kind::Directory);
    if exists("/run") {
        private.push("/run".into());
    }
    if policy.files.private_tmp && exists("/tmp") {
        private.push("/tmp".into());
    }
    private
}

pub(super) fn depth(path: &Path) -> usize {
    path.components().count()
}

/// Reports the rules for files.
pub(super) fn report(ground: &Ground<'_>, report: &mut Report) {
    let (paths, can) = (&ground.paths, ground.can);
    let files = &ground.policy.files;
    let neither = "this machine has neither mount namespaces nor Landlock";
    let (written, how) = match (can.namespaces, can.landlock) {
        (true, 0) => (true, "read-only mounts"),
        (true, 1..) => (true, "read-only mounts and Landlock"),
        (false, 3..) => (
            false,
            "Landlock; modes, times and attributes of the user's files elsewhere can be changed, which it does not check",
        ),
        (false, 1..) => {
            (false, "this Landlock checks neither truncation (Linux 6.2), nor modes, times and attributes")
        }
        (false, 0) => (false, neither),
    };
    let listed: Vec<String> = paths.writable.iter().map(|path| shown(path)).collect();
    report.add(Aspect::Writes, listed.join(" "), written, how);
    if let Read::Only(only) = &files.read {
        let listed: Vec<String> = only.iter().map(|path| shown(path)).collect();
        let (enforced, how) = match (can.namespaces, can.landlock) {
            (true, _) => (true, "a root that holds nothing else"),
            (false, 1..) => {
                (true, "Landlock; names, sizes and times of other files can be asked for and watched")
            }
            (false, 0) => (false, neither),
        };
        report.add(Aspect::Reads, listed.join(" "), enforced, how);
    }
    for protected in &paths.protected {
        let (enforced, how) = protection(protected, ground, written);
        report.add(Aspect::Protected, shown(&protected.requested), enforced, how);
    }
    for hidden in &paths.hidden {
        let aspect = if hidden.socket { Aspect::Socket } else { Aspect::Secret };
        let (enforced, how) = hiding(hidden, ground);
        report.add(aspect, shown(&hidden.requested), enforced, how);
    }
    if files.private_tmp {
        let (enforced, how) = match (can.namespaces, can.landlock) {
            (true, _) => (true, "a file system in memory"),
            (false, 1..) => {
                (true, "a new directory in /tmp is the only writable one there; others stay readable")
            }
            (false, 0) => (false, neither),
        };
        report.add(Aspect::PrivateTmp, "", enforced, how);
    }
}

fn protection(protected: &Protected, ground: &Ground<'_>, written: bool) -> (bool, String) {
    if protected.root.is_none() {
        let how = if written {
            "it is in no writable directory"
        } else if ground.can.landlock >= 3 {
            "it is in no writable directory, but its mode, times and attributes can be changed"
        } else {
            "nothing limits writing here"
        };
        return (written, how.to_owned());
    }
    if ground.bubblewrap && protected.seen.link {
        return (false, "bubblewrap cannot mount over a symlink: it can be replaced".to_owned());
    }
    if !ground.can.namespaces {
        let how =
            "Landlock cannot except a path in a writable directory; this machine has no mount namespaces";
        return (false, how.to_owned());
    }
    let place = shown(&protected.seen.place);
    let how = match (protected.seen.kind, protected.seen.link) {
        (Kind::Missing, false) => format!("an empty read-only directory at {place} prevents its creation"),
        (Kind::Missing, true) => "the symlink leads to nothing: an empty file covers it".to_owned(),
        (Kind::Directory | Kind::File | Kind::Link, true) => {
            format!("the symlink cannot be replaced, and {} is read-only", shown(&protected.seen.real))
        }
        (Kind::Directory | Kind::File | Kind::Link, false) => "a read-only mount".to_owned(),
    };
    (true, how)
}

fn hiding(hidden: &Hidden, ground: &Ground<'_>) -> (bool, String) {
    let (paths, can, seen) = (&ground.paths, ground.can, &hidden.seen);
    if seen.kind == Kind::Missing {
        return (true, "nothing is there".to_owned());
    }
    if can.namespaces {
        if !paths.is_visible(&seen.real) {
            return (true, "it is not in the sandbox".to_owned());
        }
        if seen.names > 1 {
            let more = seen.names.saturating_sub(1);
            return (
                false,
                format!("this name is covered, but the file has {more} other names (hard links)"),
            );
        }
        let how = if seen.link {
            format!("an empty mount covers {}", shown(&seen.real))
        } else {
            "an empty mount covers it".to_owned()
        };
        return (true, how);
    }
    if hidden.socket {
        return if can.seccomp {
            (true, "the seccomp filter refuses every Unix socket with a name".to_owned())
        } else {
            (false, "this machine has neither mount namespaces nor seccomp filters".to_owned())
        };
    }
    if can.landlock == 0 {
        return (false, "this machine has neither mount namespaces nor Landlock".to_owned());
    }
    if starts_with_any(&seen.real, &paths.writable) {
        return (false, "Landlock cannot except a path in a writable directory".to_owned());
    }
    if starts_with_any(&seen.real, paths.readable.iter().map(|(_, seen)| &seen.real)) {
        return (false, "Landlock cannot except a path in a readable directory".to_owned());
    }
    if seen.names > 1 {
        return (false, "the file has other names (hard links), which Landlock permits".to_owned());
    }
    let listed = |path: &Path| ground.survey.siblings.get(path).is_some_and(Option::is_some);
    if paths.everything && !seen.real.ancestors().skip(1).all(listed) {
        return (
            false,
            "a directory above it has too many entries for Landlock rules, or cannot be listed".to_owned(),
        );
    }
    let how = "Landlock permits the entries beside it, as they are at the start; directories above it cannot be listed. Names, sizes and times can be asked for and watched";
    (true, how.to_owned())
}
