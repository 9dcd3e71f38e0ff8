//! Matches short rules with calls: with every reading of a command's words, with the paths and hosts of effects, and
//! with the tool. Does not depend on the syntax of patterns.

use castellan_event::{Call, CallRow, Command, Effect, EffectKind, Level, Row as _, ToolKind};

use crate::operator::Homes;
use crate::operator::meet::may_meet;
use crate::operator::pattern::{Content, HostPattern, PathFrom, PathPattern, Pattern, ToolPattern};
use crate::operator::words;

/// Reports whether a deny or ask pattern fires on a row. It fires if it may match.
pub(super) fn is_matched(pattern: &Pattern, call: &Call, row: &CallRow<'_>, homes: Homes<'_>) -> bool {
    match (&pattern.content, row.level()) {
        (Content::Any, Level::Call) => is_tool(&pattern.tool, call) || is_patch(&pattern.tool, call),
        (Content::Any, _) => false,
        (Content::Command(meant), Level::Command) => {
            row.command().is_some_and(|(_, command)| words::may_be(meant, command))
        }
        // Matches the whole text, as other tools do.
        (Content::Command(meant), Level::Call) => {
            let text = call.command.as_deref().filter(|_| call.tool.kind == ToolKind::Shell);
            text.is_some_and(|text| meant.line.is_match(&words::joined(text.split_whitespace())))
        }
        (Content::Path(path), Level::Effect) => row.effect().is_some_and(|effect| {
            is_access(&pattern.tool, effect)
                && (paths_of(effect).any(|one| may_be(path, one, effect.is_recursive(), homes))
                    || is_above(path, effect, row.real_cwd()))
        }),
        (Content::Host(host), Level::Effect) => {
            row.effect().and_then(|effect| effect.host()).is_some_and(|name| {
                is_host(host, name) || is_host(&HostPattern { is_domain: true, ..host.clone() }, name)
            })
        }
        _ => false,
    }
}

/// Reports whether an allow pattern covers all effects of a leaf of the call.
pub(super) fn is_covered(pattern: &Pattern, call: &Call, row: &CallRow<'_>, home: Option<&str>) -> bool {
    match &pattern.content {
        Content::Any => is_tool(&pattern.tool, call),
        Content::Command(meant) => row.command().is_some_and(|(_, command)| {
            is_plain(command)
                && words::joined_argv(command).is_some_and(|text| meant.line.is_match(&text))
                && row.effect().is_none_or(|effect| is_said(call, command, effect))
        }),
        Content::Path(path) => row.effect().is_some_and(|effect| {
            is_access(&pattern.tool, effect)
                && effect.kind() != EffectKind::Link
                && is_plain_row(row)
                && path_of(effect).is_some_and(|one| match path.from {
                    // Matches only below the working directory, because nobody chose the names above it.
                    PathFrom::Anywhere => below(Some(row.real_cwd()), one)
                        .is_some_and(|rest| ends(rest).any(|end| path.regex.is_match(end))),
                    PathFrom::Root | PathFrom::Home => is_path(path, one, home),
                })
        }),
        Content::Host(host) => row.effect().is_some_and(|effect| {
            let fetches = matches!(effect.kind(), EffectKind::Connect | EffectKind::Download);
            fetches && is_plain_row(row) && effect.host().is_some_and(|name| is_host(host, name))
        }),
    }
}

fn is_tool(tool: &ToolPattern, call: &Call) -> bool {
    match tool {
        ToolPattern::Shell => call.tool.kind == ToolKind::Shell,
        ToolPattern::Read => call.tool.kind == ToolKind::Read,
        ToolPattern::Change => {
            matches!(call.tool.kind, ToolKind::Write | ToolKind::Edit | ToolKind::Patch)
        }
        ToolPattern::Web => {
            call.tool.kind == ToolKind::Web && !call.tool.name.eq_ignore_ascii_case("websearch")
        }
        ToolPattern::Mcp { server, tool } => {
            let named = |(one, its): &(String, String)| {
                one.eq_ignore_ascii_case(server)
                    && tool.as_ref().is_none_or(|tool| its.eq_ignore_ascii_case(tool))
            };
            call.tool.mcp.as_ref().is_some_and(named)
        }
        ToolPattern::Named(name) => {
            [&call.tool.name, &call.tool.name_raw].into_iter().any(|one| one.to_lowercase() == *name)
        }
    }
}

/// Reports whether the call has a patch in shell text that the agent applies as a patch.
fn is_patch(tool: &ToolPattern, call: &Call) -> bool {
    *tool == ToolPattern::Change && call.files.iter().any(|file| file.patch_op.is_some())
}

/// Reports whether a tool of the pattern's kind would have this effect.
fn is_access(tool: &ToolPattern, effect: &Effect) -> bool {
    match tool {
        // A link gives its target another name.
        ToolPattern::Read => matches!(effect.kind(), EffectKind::Read | EffectKind::Link),
        ToolPattern::Shell
        | ToolPattern::Change
        | ToolPattern::Web
        | ToolPattern::Mcp { .. }
        | ToolPattern::Named(_) => is_change(effect),
    }
}

fn is_change(effect: &Effect) -> bool {
    matches!(
        effect.kind(),
        EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission
    )
}

fn path_of(effect: &Effect) -> Option<&str> {
    effect.path().or(effect.path_raw())
}

/// Every path of an effect, including the target of a link.
fn paths_of(effect: &Effect) -> impl Iterator<Item = &str> {
    let target = effect.target().filter(|_| effect.kind() == EffectKind::Link);
    path_of(effect).into_iter().chain(target)
}

/// Reports whether a path matches. Without a known home, no home path matches.
fn is_path(pattern: &PathPattern, path: &str, home: Option<&str>) -> bool {
    match pattern.from {
        PathFrom::Root => pattern.regex.is_match(path),
        PathFrom::Home => below(home, path).is_some_and(|rest| pattern.regex.is_match(rest)),
        PathFrom::Anywhere => ends(path).any(|rest| pattern.regex.is_match(rest)),
    }
}

/// Reports whether a change of a whole tree includes the path of the pattern, from the working directory on. The names
/// elsewhere in the tree are unknown. A search in a tree does not match every name that may be in it.
fn is_above(pattern: &PathPattern, effect: &Effect, cwd: &str) -> bool {
    let is_tree = pattern.from == PathFrom::Anywhere && effect.is_recursive() && is_change(effect);
    let whole = || format!("{}/{}", cwd.trim_end_matches('/'), pattern.glob);
    is_tree && paths_of(effect).any(|path| may_meet(&whole(), path, true))
}

/// Reports whether a path may match: it matches, or is a glob that may match a path of the pattern, or is a tree that
/// contains one. Without a known home, a home pattern matches in any directory.
fn may_be(pattern: &PathPattern, path: &str, is_tree: bool, homes: Homes<'_>) -> bool {
    let is_pattern = path.contains(['*', '?', '[', '{', '(']);
    let meets =
        |glob: &str, path: &str, is_tree: bool| (is_pattern || is_tree) && may_meet(glob, path, is_tree);
    let anywhere =
        || ends(path).any(|rest| pattern.regex.is_match(rest) || meets(&pattern.glob, rest, false));
    match (pattern.from, homes) {
        (PathFrom::Root, _) => is_path(pattern, path, None) || meets(&pattern.glob, path, is_tree),
        (PathFrom::Anywhere, _) | (PathFrom::Home, Homes { own: None, named: None }) => anywhere(),
        (PathFrom::Home, Homes { own, named }) => own.into_iter().chain(named).any(|home| {
            let whole = format!("{}/{}", home.trim_end_matches('/'), pattern.glob);
            is_path(pattern, path, Some(home)) || meets(&whole, path, is_tree)
        }),
    }
}

fn below<'p>(home: Option<&str>, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(home?.trim_end_matches('/'))?.strip_prefix('/')
}

/// Yields the path and the path without its first names.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let later = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
    std::iter::once(path).chain(later)
}

fn is_host(host: &HostPattern, name: &str) -> bool {
    let name = name.trim_end_matches('.').to_lowercase();
    if host.is_domain {
        name.strip_suffix(&host.name).is_some_and(|above| above.ends_with('.') || (above.is_empty()))
    } else {
        name == host.name
    }
}

/// Reports whether the words describe the command completely: no other user, host or variables.
fn is_plain(command: &Command) -> bool {
    (command.wrappers.is_empty() || command.wrappers_are_neutral)
        && command.remote.is_none()
        && command.env.is_empty()
}

fn is_plain_row(row: &CallRow<'_>) -> bool {
    row.command().is_none_or(|(_, command)| is_plain(command))
}

/// Reports whether a command's words describe an effect completely. A script file, a pipe or a here-document may define
/// the effect instead. Redirects are not among the words, so the whole text must not contain one.
fn is_said(call: &Call, command: &Command, effect: &Effect) -> bool {
    effect.script_path().is_none()
        && command.pipe_from.is_none()
        && command.origin == TEXT
        && !has_redirect(call.command.as_deref().unwrap_or_default())
}

/// Origin of commands in the call's own text.
const TEXT: &str = "text";

/// Redirects without input or stored output.
const HARMLESS: &[&str] = &["2>&1", "2>/dev/null", ">/dev/null", "> /dev/null"];

fn has_redirect(text: &str) -> bool {
    // A longer word (`>/dev/nullx`) is another file.
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t', '\n', ';', '|', '&', ')']);
    let is_harmless = |at: usize| {
        let words = HARMLESS.iter().filter_map(|one| Some((one.len(), one.find('>')?)));
        words.zip(HARMLESS).any(|((length, sign), one)| {
            let start = at.checked_sub(sign);
            let found = start.and_then(|start| text.get(start..start + length)) == Some(one);
            found && start.and_then(|start| text.get(start + length..)).is_some_and(ends)
        })
    };
    text.contains('<') || text.match_indices('>').any(|(at, _)| !is_harmless(at))
}
