//! git's settings: what `git config` changes, which of them run programs, and what the files say.

use castellan_event::{Answer, EffectKind, FileKind, Operation, Query, Role, Why};
use castellan_programs::{Arg, Invocation, System};

use crate::loaded::repository;
use crate::owner::REMOTE;
use crate::settings::{git_starts, starts_when_read};
use crate::sink::Sink;

/// Settings whose value is a file or directory with code: hooks, or more settings. So is `includeIf.CONDITION.path`.
const CODE_PATHS: &[&str] = &["core.hookspath=", "include.path=", "init.templatedir="];

/// What `-c NAME=VALUE` and `--config-env` say besides the shell text that was found with the command.
pub(super) fn given(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    of_repository(sink);
    for value in read.values("-c") {
        if value.written().contains("ext::") {
            sink.opaque(Role::Code, Why::Unsupported, &value.written());
        }
        let Some((name, _)) = value.prefix().split_once('=') else { continue };
        given_remote(&name.to_ascii_lowercase(), value, sink);
        let name = format!("{name}=");
        let path = value.strip_prefix(&name).filter(|path| !matches!(path.as_str(), Some("" | "/dev/null")));
        if let Some(path) = path.filter(|_| is_code_path(&name.to_ascii_lowercase())) {
            sink.path(EffectKind::Execute, &path);
            code_at(&name.to_ascii_lowercase(), &path, sink);
        }
    }
    for directory in read.values("--exec-path") {
        sink.opaque(Role::Code, Why::Unsupported, &directory.written());
    }
    for value in read.values("--config-env") {
        let name = value.prefix().split('=').next().unwrap_or_default();
        if runs(name, &Arg::known("!")) {
            sink.opaque(Role::Code, Why::Variable, &value.written());
        }
    }
}

/// Stores the settings of the repository if they start programs that were not read. An earlier call or the project wrote
/// them, so they are no finding; but a call with them is not understood.
fn of_repository(sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(path) = repository::config_file(sink) else { return };
    let is_plain = match sink.scene.world.ask(Query::Contents { path: path.clone() }) {
        Some(Answer::Contents(Some(bytes))) => !starts_when_read(&String::from_utf8_lossy(&bytes)),
        _ => {
            let kind = sink.scene.world.ask(Query::FileKind { path: path.clone() });
            matches!(kind, Some(Answer::FileKind(FileKind::Missing)))
        }
    };
    sink.scene.unread.extend((!is_plain).then_some(path));
}

/// Reads what a setting that is given with the command has git run: hooks, or the settings of another file.
fn code_at(name: &str, path: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let located = sink.locate(path);
    match located.path {
        Some(path) if name == "core.hookspath=" => repository::hooks(&path, sink),
        Some(path) if name != "init.templatedir=" => repository::settings(&path, true, sink),
        Some(_) => {}
        None => sink.opaque(Role::Code, located.why.unwrap_or(Why::File), &path.written()),
    }
}

/// Whether the value of a setting, whose name ends in `=`, is a file or directory with code.
fn is_code_path(name: &str) -> bool {
    CODE_PATHS.contains(&name) || name.starts_with("includeif.") && name.ends_with(".path=")
}

/// Settings of other repositories that decide what a push overwrites, and the program that sends mail.
fn given_remote(name: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let of_remote = name.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
    if of_remote.is_some_and(|(_, key)| matches!(key, "mirror" | "push" | "prune")) {
        sink.opaque(Role::Target, Why::Unsupported, &value.written());
    }
    let program = value.prefix().split_once('=').map(|(_, program)| program);
    if name == "sendemail.smtpserver" && program.is_some_and(|program| program.starts_with('/')) {
        sink.path(EffectKind::Execute, &Arg::known(program.unwrap_or_default()));
    }
}

/// Whether git runs the value of a setting.
fn runs(name: &str, value: &Arg) -> bool {
    is_code_path(&format!("{}=", name.to_ascii_lowercase())) || git_starts(name, &value.written()).is_some()
}

/// The action of a `git config` call, in either of its grammars.
enum Action<'r> {
    Read,
    Write { name: Option<&'r Arg>, value: Option<&'r Arg> },
}

/// `git config`: a setting is read, or a file of settings is written.
pub(crate) fn config(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    given(read, sink);
    let file = file(read, sink);
    let Action::Write { name, value } = action(read) else {
        if let Some(file) = read.values("-f").next() {
            sink.path(EffectKind::Read, file);
        }
        sink.on(EffectKind::Query, "git", "config", read.operands.last().map(|operand| &operand.arg));
        return;
    };
    let nothing = Arg::known("");
    let is_code = name.is_some_and(|name| runs(&name.written(), value.unwrap_or(&nothing))) || is_any(read);
    let verb = if is_code { "config-command" } else { "config" };
    sink.on(EffectKind::Mutate, "git", verb, name);
    let is_plain = |name: &Arg| {
        System::find("git").is_some_and(|git| name.as_str().is_some_and(|name| git.settings.contains(&name)))
    };
    let is_of_repository = !["-f", "--global", "--system"].iter().any(|flag| read.given(flag));
    // Such a setting of the repository changes nothing that a later command runs or reaches.
    let changes_nothing = is_of_repository && !is_code && name.is_some_and(is_plain);
    if let Some(file) = file.filter(|_| !changes_nothing) {
        let of_git = |text: &str| Some(text.to_owned());
        let kind = EffectKind::Write;
        let verb = if !is_code && name.is_none_or(is_of_remote) { REMOTE } else { verb };
        let effect = Operation { kind, system: of_git("git"), verb: of_git(verb), ..Operation::default() };
        sink.path_effect(effect, &file);
    }
}

/// True if a setting, or one of its name, says where git fetches from or pushes to.
fn is_of_remote(name: &Arg) -> bool {
    const BEGIN: &[&str] = &["branch.", "remote.", "submodule.", "url."];
    let name = name.as_str().map(str::to_ascii_lowercase);
    name.is_none_or(|name| BEGIN.iter().any(|begin| name.starts_with(begin)))
}

/// `git remote add` and the like, whose effects are in the model: they write the repository's settings.
pub(crate) fn remotes(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    given(read, sink);
    if let Some(file) = repository::config_file(sink) {
        let of_git = |text: &str| Some(text.to_owned());
        let effect =
            Operation { system: of_git("git"), verb: of_git(REMOTE), ..Operation::of(EffectKind::Write) };
        sink.path_effect(effect, &Arg::known(file));
    }
}

/// Whether any setting may be made: by an editor, or of others by another name of their section.
fn is_any(read: &Invocation) -> bool {
    let word = read.operands.first().and_then(|operand| operand.arg.as_str());
    ["-e", "--rename-section"].iter().any(|flag| read.given(flag))
        || matches!(word, Some("edit" | "rename-section"))
}

fn action(read: &Invocation) -> Action<'_> {
    const LOOKS: &[&str] =
        &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--get-color", "--get-colorbool"];
    const CHANGES: &[&str] =
        &["--add", "--replace-all", "--unset", "--unset-all", "--rename-section", "--remove-section", "-e"];
    let operand = |number: usize| read.operands.get(number).map(|operand| &operand.arg);
    if LOOKS.iter().any(|flag| read.given(flag)) {
        return Action::Read;
    }
    match operand(0).and_then(Arg::as_str) {
        Some("get" | "list") => Action::Read,
        Some("set" | "unset" | "rename-section" | "remove-section" | "edit") => {
            Action::Write { name: operand(1), value: operand(2) }
        }
        _ if read.operands.len() >= 2 || CHANGES.iter().any(|flag| read.given(flag)) => {
            Action::Write { name: operand(0), value: operand(1) }
        }
        _ => Action::Read,
    }
}

/// The file that is written.
fn file(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) -> Option<Arg> {
    if read.given("--system") {
        return Some(Arg::known("/etc/gitconfig"));
    }
    if read.given("--global") {
        return Some(Arg::known(format!("{}/.gitconfig", sink.scene.session.places.home())));
    }
    if let Some(file) = read.values("-f").last() {
        return Some(file.clone());
    }
    let name = if read.given("--worktree") { "config.worktree" } else { "config" };
    repository(sink).map(|top| Arg::known(format!("{top}/.git/{name}")))
}

/// The top directory of the repository in which the command runs.
pub(super) fn repository(sink: &mut Sink<'_, '_, '_, '_>) -> Option<String> {
    let of = sink.cwd.clone()?;
    match sink.scene.world.ask(Query::Repository { of }) {
        Some(Answer::Repository(top)) => top,
        _ => None,
    }
}
