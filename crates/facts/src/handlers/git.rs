//! git, where its own grammar of operands decides: aliases, branches or paths, revisions with paths in them.

use castellan_event::{Answer, EffectKind, FileKind, Operation, Query, Role, Why};
use castellan_programs::{Arg, Invocation, Operand, Piece, Quoting, SlotRole, find, invoke};

use crate::limits::GIT_ALIASES_MAX;
use crate::loaded::repository::of_files;
use crate::sink::Sink;
use crate::targets::is_standard_stream;

mod pathspec;
mod remote;
mod settings;

pub(crate) use remote::{clone, fetch, push};
pub(crate) use settings::{config, remotes};

/// Every subcommand without a handler of its own, and what is none: an alias or a program `git-NAME`.
pub(crate) fn git(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    takes_secret(read, sink);
    let unknown = own_unknown(read);
    let Some(name) = unknown.and_then(|at| argv.get(at)).and_then(Arg::as_str) else { return };
    let alias = behind_alias(argv, sink);
    sink.knows_subcommand = true;
    match alias {
        Alias::Shell(text) => sink.opaque(Role::Code, Why::File, &text),
        Alias::Command(words) => sink.inner = Some(words),
        // Shell text that was given was found with the command.
        Alias::Given => {}
        Alias::Endless => sink.opaque(Role::Code, Why::Nesting, name),
        Alias::None => sink.add(Operation {
            kind: EffectKind::Execute,
            target: Some(format!("git-{name}")),
            ..Operation::default()
        }),
    }
}

/// Adds the reading of a file that holds a secret, if the command puts all files of a directory into the repository.
fn takes_secret(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let takes_all = match read.command.name() {
        "add" => read.given("-A") || read.given("-u"),
        "commit" => read.given("-a"),
        _ => return,
    };
    let here = Arg::known(".");
    let all = read.operands.iter().map(|operand| &operand.arg).chain(takes_all.then_some(&here));
    for directory in all {
        let copy = sink
            .locate(directory)
            .path
            .and_then(|path| sink.scene.secret_copy_below(&path).map(str::to_owned));
        if let Some(copy) = copy {
            sink.path(EffectKind::Read, &Arg::known(copy));
        }
    }
}

/// `git rm --pathspec-from-file=FILE`: what is removed stands in a file.
pub(crate) fn remove(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    git(read, argv, sink);
    if sink.mode.dry || read.given("--cached") {
        return;
    }
    for list in read.values("--pathspec-from-file") {
        let why = if is_standard_stream(list) { Why::Input } else { Why::File };
        sink.opaque(Role::Target, why, &list.written());
    }
}

/// Returns the place of an unknown subcommand of git itself, not of `git stash` or another.
fn own_unknown(read: &Invocation) -> Option<usize> {
    read.unknown_subcommand.filter(|_| read.subcommand.is_empty())
}

enum Alias {
    None,
    /// Shell text of `-c alias.NAME=!TEXT`.
    Given,
    /// Shell text in a file.
    Shell(String),
    /// A command of git's own.
    Command(Vec<Arg>),
    /// More aliases in turn than are followed.
    Endless,
}

fn behind_alias(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) -> Alias {
    let Some(git) = find("git") else { return Alias::None };
    let mut argv = argv.to_vec();
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..GIT_ALIASES_MAX {
        let read = invoke(git, &argv);
        let Some(at) = own_unknown(&read) else { return Alias::Command(argv) };
        let Some(name) = argv.get(at).and_then(Arg::as_str) else { return Alias::None };
        // git refuses those that go round.
        if seen.iter().any(|one| one == name) {
            return Alias::None;
        }
        seen.push(name.to_owned());
        let given = format!("alias.{}=", name.to_ascii_lowercase());
        let values: Vec<&str> = read.values("-c").filter_map(Arg::as_str).collect();
        let own = values.iter().rev().find_map(|value| {
            value.get(..given.len()).filter(|key| key.eq_ignore_ascii_case(&given))?;
            value.get(given.len()..)
        });
        let (text, is_given) = match own {
            Some(text) => (text.to_owned(), true),
            None => match of_files("alias", "", name, sink) {
                Some(text) => (text, false),
                None => return Alias::None,
            },
        };
        if let Some(shell) = text.strip_prefix('!') {
            return if is_given { Alias::Given } else { Alias::Shell(shell.to_owned()) };
        }
        argv.splice(at..=at, Quoting::GIT.words(&text).into_iter().map(Arg::known));
    }
    Alias::Endless
}

/// `git for-each-repo`: git's own arguments, run in repositories that a setting names.
pub(crate) fn each(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let words: Vec<_> = read.operands.iter().map(|operand| operand.arg.written()).collect();
    sink.opaque(Role::Code, Why::Unsupported, &words.join(" "));
}

/// hub hands to git what it does not know.
pub(crate) fn hub(_: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let git = std::iter::once(Arg::known("git"));
    let argv: Vec<Arg> = git.chain(argv.iter().skip(1).cloned()).collect();
    sink.inner = Some(argv);
}

/// Branches are switched to, paths are overwritten; which it is depends on `--`, on options and on what is there.
pub(crate) fn checkout(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let is_forced = read.given("-f");
    let new = ["-b", "-B", "--orphan"].into_iter().find(|flag| read.given(flag));
    if let Some(flag) = new {
        let kind = if flag == "-B" || is_forced { EffectKind::Destroy } else { EffectKind::Mutate };
        sink.on(kind, "git", "checkout", read.values(flag).next());
        return;
    }
    let (branch, paths) = branch_and_paths(read, sink);
    for path in &paths {
        sink.on(EffectKind::Destroy, "git", "checkout", Some(path));
        pathspec::written(path, sink);
    }
    let picks = is_forced || read.given("-p") || read.given("--pathspec-from-file");
    match (paths.is_empty(), picks) {
        (true, true) => sink.on(EffectKind::Destroy, "git", "checkout", branch),
        (true, false) if branch.is_some() => sink.on(EffectKind::Mutate, "git", "checkout", branch),
        (true | false, _) => {}
    }
}

/// `git restore`: what it brings back is written.
pub(crate) fn restore(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    for operand in read.operands.iter().filter(|operand| operand.slot.role == SlotRole::Special) {
        pathspec::written(&operand.arg, sink);
    }
}

fn branch_and_paths<'r>(
    read: &'r Invocation,
    sink: &mut Sink<'_, '_, '_, '_>,
) -> (Option<&'r Arg>, Vec<&'r Arg>) {
    let mut operands = read.operands.iter().map(|operand| &operand.arg);
    let is_path = match (read.operands.as_slice(), read.ended_at) {
        ([], _) => return (None, Vec::new()),
        ([first, ..], Some(end)) => first.at > end,
        ([first, ..], None) => {
            read.given("--ours") || read.given("--theirs") || names_a_path(&first.arg, sink)
        }
    };
    let branch = if is_path { None } else { operands.next() };
    (branch, operands.collect())
}

fn names_a_path(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let Some(text) = arg.as_str() else { return arg.why() == Some(Why::Glob) };
    let looks = matches!(text, "." | "..")
        || text.ends_with('/')
        || ["./", "../", "/", ":"].iter().any(|start| text.starts_with(start));
    looks || exists(arg, sink)
}

fn exists(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let located = sink.locate(arg);
    let Some(path) = located.path else { return located.why == Some(Why::Unreadable) };
    let kind = sink.scene.world.ask(Query::FileKind { path });
    matches!(kind, Some(Answer::FileKind(kind)) if kind != FileKind::Missing)
}

/// Commands that look: at files of the work tree, and at files as they were (`HEAD:.env`).
pub(crate) fn look(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let operands = read.operands.iter().filter(|operand| operand.slot.role == SlotRole::Special);
    for Operand { arg, at, .. } in operands {
        // No revision begins like a path. Outside of a repository's work tree git compares any two files.
        let begins_like_a_path = begins_like_a_path(arg.prefix());
        let is_path = read.ended_at.is_some_and(|end| *at > end) || begins_like_a_path;
        if is_path || arg.as_str().is_some() && exists(arg, sink) {
            sink.path(EffectKind::Read, arg);
        } else if let Some(path) = path_in_revision(arg, sink) {
            sink.path(EffectKind::Read, &path);
        } else if let Some(why) = arg.why() {
            sink.opaque(Role::Operand, why, &arg.written());
        }
    }
}

fn begins_like_a_path(text: &str) -> bool {
    text.starts_with(['/', '~'])
        || text.starts_with("../")
        || text.starts_with('.') && !text.starts_with("..")
}

/// `HEAD:dir/file`, from the top of the repository; `:file` and `:2:file` of the index; `HEAD:./file` from here.
fn path_in_revision(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> Option<Arg> {
    let (revision, after) = arg.prefix().split_once(':')?;
    let mut path = arg.strip_prefix(&format!("{revision}:"))?;
    if revision.is_empty() && after.starts_with(['/', '(']) {
        return None;
    }
    if revision.is_empty() {
        let stage = ["0:", "1:", "2:", "3:"].iter().find_map(|stage| path.strip_prefix(stage));
        path = stage.unwrap_or(path);
    }
    if path.prefix().starts_with("./") || path.prefix().starts_with("../") {
        return Some(path);
    }
    let top = settings::repository(sink)?;
    let pieces = std::iter::once(Piece::Text(format!("{top}/"))).chain(path.pieces().iter().cloned());
    Some(Arg::from_pieces(pieces, arg.splits()))
}
