//! Pathspecs of git: `:(top)`, `:/x`, and patterns in which `*` crosses directories. It must not know which command
//! takes them.

use castellan_event::{EffectKind, Operation};
use castellan_programs::Arg;

use crate::owner;
use crate::sink::Sink;

/// Adds a write to all that a pathspec stands for in the work tree.
pub(super) fn written(spec: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(path) = path(spec, sink) else { return };
    let recursive = Some(true);
    sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Write) }, &path);
}

/// Returns the path that a pathspec stands for, as a shell would write it; `None` where it only leaves files out.
fn path(spec: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> Option<Arg> {
    let Some(text) = spec.as_str() else { return Some(spec.clone()) };
    let (magic, rest) = match text.strip_prefix(':') {
        None => ("", text),
        Some(long) if long.starts_with('(') => long.split_once(')').unwrap_or((long, "")),
        Some(short) => {
            let end =
                short.find(|letter: char| !matches!(letter, '/' | '!' | '^' | ':')).unwrap_or(short.len());
            short.split_at(end)
        }
    };
    if magic.contains("exclude") || magic.contains(['!', '^']) {
        return None;
    }
    let is_literal = magic.contains("literal") || magic.contains("glob");
    let pattern = if is_literal { rest.to_owned() } else { deep(rest) };
    let is_top = magic.contains("top") || magic.contains('/');
    let root = sink.cwd.clone().filter(|_| is_top).map(|cwd| owner::root(cwd, sink.scene));
    Some(match root {
        Some(root) => Arg::known(format!("{root}/{pattern}").trim_end_matches('/')),
        None if pattern.is_empty() => Arg::known("."),
        None => Arg::known(&pattern),
    })
}

/// `src/*.json` stands for `src/a/b.json`, too.
fn deep(pattern: &str) -> String {
    let Some(open) = pattern.find(['*', '?', '[']) else { return pattern.to_owned() };
    let (known, _) = pattern.split_at(open);
    let directory = known.rsplit_once('/').map(|(directory, _)| format!("{directory}/")).unwrap_or_default();
    let name = pattern.rsplit('/').next().unwrap_or_default();
    format!("{directory}**/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_crosses_directories() {
        for (pattern, expected) in [
            ("a/b", "a/b"),
            ("*settings.json", "**/*settings.json"),
            (".claude/*", ".claude/**/*"),
            (".cl*/settings.json", "**/settings.json"),
            ("src/*/x.json", "src/**/x.json"),
        ] {
            assert_eq!(deep(pattern), expected, "{pattern}");
        }
    }
}
