//! The boundary of the workspace: links that lead out of it, files with several names, large and binary files. Does not
//! depend on rules, nor on how a link was found.

#[cfg(test)]
mod tests;

use castellan_event::{Code, Effect, EffectKind, Escape, Finding, Scope, Verdict, path_components};

use crate::boundary::{BoundaryMode, BoundarySettings};
use crate::case::{Case, Reading};
use crate::stages::Found;

/// A reason to stop an effect, in the order of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Crossing {
    /// A symlink leads a change out of the workspace.
    Changes,
    /// The file has another name outside, or it is a secret or guarded by another name.
    OtherName,
    /// A symlink leads a read out of the workspace.
    Reads,
    /// The file has other names, and castellan does not know them.
    Names,
    /// The file is larger than the limit.
    Size,
    /// The content is binary.
    Binary,
}

/// Finds links out of the workspace. With [`BoundaryMode::Strict`] also large and binary files.
pub(super) fn boundary(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let settings = &case.settings().boundary;
    if settings.mode == BoundaryMode::Off {
        return Found::default();
    }
    let rows = reading.rows().iter().enumerate();
    let effects = rows.filter_map(|(position, row)| Some((position, row.effect()?)));
    let mut found: Vec<(Crossing, usize, &Effect)> = effects
        .flat_map(|(position, effect)| {
            crossings(effect, settings).map(move |crossing| (crossing, position, effect))
        })
        .collect();
    found.sort_by_key(|(crossing, position, _)| (*crossing, *position));
    let alike = found.chunk_by(|(one, ..), (other, ..)| one == other);
    alike.filter_map(|alike| finding(alike, settings)).collect()
}

/// Returns the reasons to stop an effect.
fn crossings(effect: &Effect, settings: &BoundarySettings) -> impl Iterator<Item = Crossing> {
    let is_strict = settings.mode == BoundaryMode::Strict;
    let is_change = is_change(effect.kind());
    let measured = effect.measured();
    let by_link = match effect.escape() {
        Some(Escape::Symlink) if leads_to_ordinary(effect) => None,
        Some(Escape::Symlink) if is_change => Some(Crossing::Changes),
        Some(Escape::Symlink) => is_strict.then_some(Crossing::Reads),
        Some(Escape::HardLink) if is_change || is_sensitive(effect) => Some(Crossing::OtherName),
        Some(Escape::HardLink) => is_strict.then_some(Crossing::Reads),
        None => None,
    };
    // A guarded file outside of the workspace has no boundary to cross, and rules guard it.
    let known = 1 + u64::from(measured.is_some_and(|file| file.other_name.is_some()));
    let has_names = measured.and_then(|file| file.links).is_some_and(|links| links > known);
    let is_in_place = matches!(effect.kind(), EffectKind::Write | EffectKind::Permission);
    let names = is_strict
        && has_names
        && is_in_place
        && by_link.is_none()
        && effect.place() == Some(Scope::Workspace)
        && !effect.path().is_some_and(is_filled_by_programs);
    // A command's effects show the sizes of few of the files that it reads, and none that it writes.
    let is_of_tool = effect.command.is_none();
    let is_large = measured
        .and_then(|file| file.size)
        .zip(limit(effect.kind(), settings))
        .is_some_and(|(size, limit)| size > limit);
    let is_binary = measured.and_then(|file| file.is_binary) == Some(true);
    [
        by_link,
        names.then_some(Crossing::Names),
        (is_strict && is_of_tool && is_large).then_some(Crossing::Size),
        (is_strict && is_of_tool && is_binary).then_some(Crossing::Binary),
    ]
    .into_iter()
    .flatten()
}

/// One finding for the effects with the same reason.
fn finding(alike: &[(Crossing, usize, &Effect)], settings: &BoundarySettings) -> Option<Finding> {
    let (crossing, _, first) = alike.first()?;
    let rows = alike.iter().map(|(_, position, _)| *position).collect();
    let is_grave = matches!(crossing, Crossing::Changes | Crossing::OtherName);
    let verdict =
        if is_grave && settings.mode == BoundaryMode::Strict { Verdict::Deny } else { Verdict::Ask };
    let new = |message: &str| Finding::new(verdict, Code::Boundary, message);
    let path = first.path().unwrap_or_default();
    let other = first.measured().and_then(|file| file.other_name.as_deref()).unwrap_or_default();
    let mib = limit(first.kind(), settings).unwrap_or_default() / MIB;
    let finding = match crossing {
        Crossing::Changes | Crossing::Reads if first.escape() == Some(Escape::Symlink) => {
            new("the path is in the workspace as written, but a symlink leads out of it to ")
                .with_value(path)
                .with_remedy("use the real path, so that a person sees the place")
        }
        Crossing::Changes | Crossing::Reads | Crossing::OtherName => {
            new("the file in the workspace is the same file (hard link) as ")
                .with_value(other)
                .with_remedy("use a copy of the file")
        }
        Crossing::Names => new("the file has further names (hard links), and a change changes them all: ")
            .with_value(path)
            .with_remedy("replace the file by a changed copy"),
        Crossing::Size => new(&format!("the file has more than {mib} MiB: "))
            .with_value(path)
            .with_remedy("take a part of it"),
        Crossing::Binary => {
            new("the content is binary: ").with_value(path).with_remedy("use a program for this kind of file")
        }
    };
    Some(Finding { rows, ..finding })
}

/// Bytes of a MiB.
const MIB: u64 = 1024 * 1024;

/// The largest size of a file for an effect.
fn limit(kind: EffectKind, settings: &BoundarySettings) -> Option<u64> {
    let mib = if kind == EffectKind::Read {
        settings.read_mib
    } else if kind == EffectKind::Write {
        settings.write_mib
    } else {
        0
    };
    (mib > 0).then(|| u64::from(mib) * MIB)
}

fn is_change(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Write
            | EffectKind::Delete
            | EffectKind::Link
            | EffectKind::Permission
            | EffectKind::Upload
    )
}

/// Reports whether the effect is on a secret, or on a part of the guard.
fn is_sensitive(effect: &Effect) -> bool {
    effect.scope().is_some_and(|scope| scope < Scope::Root) || effect.guard().is_some()
}

/// Directories below a home that programs fill and that links of projects lead to: build systems and package managers.
const CACHES: &[&str] =
    &["/.cache", "/.npm", "/.pnpm-store", "/.local/share/pnpm", "/.yarn", "/Library/Caches", "/Library/pnpm"];

/// Reports whether a link leads to where links of ordinary projects lead, and nothing there is sensitive: directories for
/// temporary files and caches, and for reads also the system with its programs and libraries.
fn leads_to_ordinary(effect: &Effect) -> bool {
    let below = |path: &str, directory: &str| {
        path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_cache = || effect.home_path().is_some_and(|path| CACHES.iter().any(|cache| below(path, cache)));
    let is_read = effect.kind() == EffectKind::Read;
    let is_of_system = || {
        effect.place() == Some(Scope::System) || effect.path().is_some_and(|path| below(path, "/nix/store"))
    };
    // Reading programs of the machine is ordinary; changing them is not.
    let is_secret = || effect.scope().is_some_and(|scope| scope <= Scope::Secret);
    let is_grave = if is_read { is_secret() } else { is_sensitive(effect) };
    !is_grave && (effect.place() == Some(Scope::Temporary) || is_cache() || is_read && is_of_system())
}

/// Directories that programs fill with hard links: package managers from their stores, builds from their outputs.
const FILLED: &[&str] = &[
    ".git",
    ".pnpm",
    ".tox",
    ".venv",
    ".yarn",
    "build",
    "dist",
    "node_modules",
    "out",
    "site-packages",
    "target",
    "vendor",
    "venv",
];

fn is_filled_by_programs(path: &str) -> bool {
    path_components(path).any(|name| FILLED.contains(&name) || name.starts_with("bazel-"))
}
