//! git and other repositories: what a push, a fetch or a clone sends where, and which refs it overwrites.

use castellan_event::{EffectKind, HostClass, Operation, Remote, Role, Why};
use castellan_programs::{Arg, Invocation, Piece};
use castellan_shell::HEAD_BRANCH;

use super::settings;
use crate::copies::objects_around;
use crate::loaded::repository;
use crate::sink::Sink;
use crate::url::{Host, Url};

/// `git push`: which refs change on the other side, by refspec and option.
pub(crate) fn push(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let mut operands = read.operands.iter().map(|operand| &operand.arg);
    let remote = operands.next().or_else(|| read.values("--repo").next());
    transfer(EffectKind::Upload, remote, sink);
    sends_secret(sink);
    let is_forced = read.given("-f");
    for (flag, verb) in [("--mirror", "push-mirror"), ("--prune", "push-prune")] {
        if read.given(flag) {
            sink.on(EffectKind::Destroy, "git", verb, None);
        }
    }
    let mut refs = refspecs(operands);
    if read.given("-d") {
        refs.iter_mut().for_each(|one| one.is_deleted = true);
    }
    let changes_all = refs.is_empty() && !read.given("--mirror");
    if changes_all {
        refs.push(Refspec { to: None, is_forced: false, is_deleted: false });
    }
    let sends_more = ["--all", "--branches", "--tags"].iter().any(|flag| read.given(flag));
    if !sends_more {
        name_branches(&mut refs, sink);
    }
    for one in refs {
        sink.mode.force = Some(is_forced || one.is_forced);
        let is_lost = is_forced || one.is_forced || one.is_deleted || read.given("--force-with-lease");
        let kind = if is_lost { EffectKind::Destroy } else { EffectKind::Mutate };
        let verb = if one.is_deleted { "push-delete" } else { "push" };
        sink.on(kind, "git", verb, one.to.as_ref());
    }
}

/// Names the branch that a push changes where the command line does not: that of the work tree.
fn name_branches(refs: &mut [Refspec], sink: &mut Sink<'_, '_, '_, '_>) {
    let is_head = |to: &Arg| to.as_str().map_or_else(|| to.written() == HEAD_BRANCH, |to| to == "HEAD");
    let is_unnamed = |one: &Refspec| one.to.as_ref().is_none_or(is_head);
    if refs.iter().any(is_unnamed)
        && let Some(branch) = repository::branch(sink)
    {
        let unnamed = refs.iter_mut().filter(|one| is_unnamed(one));
        unnamed.for_each(|one| one.to = Some(Arg::known(branch.clone())));
    }
}

/// Adds the reading of the repository's objects if the session has put a secret into them.
fn sends_secret(sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(objects) = sink.cwd.clone().map(|cwd| objects_around(cwd, sink.scene)) else { return };
    if sink.scene.is_secret_copy(&objects) {
        sink.path(EffectKind::Read, &Arg::known(objects));
    }
}

/// `git fetch`, `pull`, `ls-remote`: local branches that are written over are lost.
pub(crate) fn fetch(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let mut operands = read.operands.iter().map(|operand| &operand.arg);
    let only_lists = read.command.name() == "ls-remote";
    let kind = if only_lists { EffectKind::Connect } else { EffectKind::Download };
    transfer(kind, operands.next(), sink);
    if only_lists {
        return;
    }
    for one in refspecs(operands.filter(|arg| arg.written().contains(':'))) {
        let is_forced = one.is_forced || read.given("-f");
        let is_copy = one.to.as_ref().is_none_or(|to| to.prefix().starts_with("refs/remotes/"));
        if !is_copy && !one.is_deleted {
            let kind = if is_forced { EffectKind::Destroy } else { EffectKind::Mutate };
            sink.mode.force = Some(is_forced);
            sink.on(kind, "git", "fetch", one.to.as_ref());
        }
    }
}

/// `git clone` and `git submodule add`: a directory is made, named after the repository unless it is given.
pub(crate) fn clone(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings::given(read, sink);
    let operand = |number: usize| read.operands.get(number).map(|operand| &operand.arg);
    let Some(from) = operand(0) else { return };
    transfer(EffectKind::Download, Some(from), sink);
    let is_bare = read.given("--bare") || read.given("--mirror");
    let into = operand(1).cloned().or_else(|| directory_of(from, is_bare));
    if let Some(into) = into {
        let recursive = Some(true);
        sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Write) }, &into);
    }
}

/// `https://host/dir/name.git` makes `name`.
fn directory_of(repository: &Arg, is_bare: bool) -> Option<Arg> {
    let Some(Piece::Text(last)) = repository.pieces().last() else { return None };
    let text = last.trim_end_matches('/').trim_end_matches("/.git");
    let is_known = repository.as_str().is_some() || text.contains(['/', ':']);
    let name = text.rsplit(['/', ':']).next().filter(|name| is_known && !name.is_empty())?;
    let name = name.strip_suffix(".git").or_else(|| name.strip_suffix(".bundle")).unwrap_or(name);
    Some(Arg::known(if is_bare { format!("{name}.git") } else { name.to_owned() }))
}

struct Refspec {
    /// The ref that is changed, `refs/heads/` taken off.
    to: Option<Arg>,
    /// `+` before it.
    is_forced: bool,
    /// Nothing before the colon.
    is_deleted: bool,
}

fn refspecs<'a>(args: impl Iterator<Item = &'a Arg>) -> Vec<Refspec> {
    let mut refs = Vec::new();
    let mut args = args;
    while let Some(arg) = args.next() {
        let tag = if arg.as_str() == Some("tag") { args.next() } else { None };
        refs.push(refspec(tag.unwrap_or(arg)));
    }
    refs
}

fn refspec(arg: &Arg) -> Refspec {
    let forced = arg.strip_prefix("+");
    let is_forced = forced.is_some();
    let spec = forced.unwrap_or_else(|| arg.clone());
    let is_deleted = spec.strip_prefix(":").is_some_and(|to| to.as_str() != Some(""));
    let to = destination(&spec);
    let short = to.strip_prefix("refs/heads/").unwrap_or(to);
    Refspec { to: (short.as_str() != Some("")).then_some(short), is_forced, is_deleted }
}

/// What stands after the last colon; all of it where there is none.
fn destination(spec: &Arg) -> Arg {
    let colon = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(':'));
    let Some(at) = spec.pieces().iter().rposition(colon) else { return spec.clone() };
    let mut after = spec.pieces().iter().skip(at);
    let rest = match after.next() {
        Some(Piece::Text(text)) => text.rsplit(':').next().unwrap_or_default().to_owned(),
        Some(Piece::Unknown { .. }) | None => String::new(),
    };
    Arg::from_pieces(std::iter::once(Piece::Text(rest)).chain(after.cloned()), spec.splits())
}

/// The other repository: a URL, `host:path`, a directory here, or a name that the settings know.
fn transfer(kind: EffectKind, remote: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) {
    let of_git = Operation { kind, system: Some("git".to_owned()), ..Operation::default() };
    let Some(remote) = remote else {
        let verb = repository::verb_of_transfer(sink);
        return sink.add(Operation { verb, ..of_git });
    };
    let text = remote.written().into_owned();
    // The command was found; a percent sign stands for what the line does not show as it is.
    if text.starts_with("ext::") {
        if text.contains('%') {
            sink.opaque(Role::Code, Why::Unsupported, &text);
        }
        return;
    }
    let is_directory = [".", "/", "~"].iter().any(|start| text.starts_with(start));
    if is_directory && remote.as_str().is_some() {
        let kind = if kind == EffectKind::Upload { EffectKind::Write } else { EffectKind::Read };
        return sink.path(kind, remote);
    }
    let has_place = text.contains("://") || text.contains(':');
    let from_settings = remote.as_str().filter(|_| !has_place);
    let url = from_settings.and_then(|name| repository::of_files("remote", name, "url", sink));
    if let Some(url) = url.as_deref().filter(|url| url.starts_with("ext::")) {
        sink.opaque(Role::Code, Why::Unsupported, url);
    }
    let place = url.as_deref().or(has_place.then_some(text.as_str()));
    let (url, host) = match place {
        Some(place) if place.contains("://") => {
            let url = Url::parse(place);
            (Some(place.to_owned()), url.host.map(|name| (name, url.class)))
        }
        Some(place) => (None, place.split_once(':').map(|(host, _)| of_ssh(host))),
        None => (None, None),
    };
    // The host of what is not wholly known may be another than what is known of it says.
    let (host, host_class) = host.filter(|_| remote.why().is_none()).unzip();
    let verb = if has_place { None } else { repository::verb_of_transfer(sink) };
    let op = Operation { target: Some(text.clone()), verb, ..of_git };
    sink.add_remote(op, Remote { host, class: host_class, url });
    if let Some(why) = remote.why() {
        sink.opaque(Role::Target, why, &text);
    }
}

/// The host of `[user@]host:path`.
fn of_ssh(place: &str) -> (String, HostClass) {
    let host = Host::parse(place.rsplit('@').next().unwrap_or_default());
    (host.name, host.class)
}
