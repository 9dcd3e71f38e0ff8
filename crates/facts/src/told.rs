//! Effects that the words of a command name: `user delete`, `set-password`, `secret get`. For clients of services,
//! which have thousands of commands, and for programs without a model. Source: the naming rules of AWS, gcloud and az;
//! nearly all other clients follow them. This module knows words and no program; a rule decides how much they matter.

use castellan_event::{EffectKind, Operation};
use castellan_programs::lexicons::told::{
    CHANGES, DESTROYS, DESTROYS_TOGETHER, DISABLES, NO_RIGHTS, NO_SECRET, OFF, PROGRAM_ENDS, PROTECTIONS,
    RIGHTS, SECRETS, SHOWS, SHOWS_SECRETS,
};
use castellan_programs::{Arg, Invocation, base_name};
use castellan_shell::Stdin;

mod words;

pub(crate) use words::words;

use crate::limits::TOLD_WORDS_MAX;
use crate::sink::Sink;
use crate::sql;

/// The system in the effects of programs without a model.
const PROGRAM: &str = "program";

/// The subject of a command besides making, changing or deleting something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concern {
    /// Access rights.
    Rights,
    /// The value of a secret.
    Secret,
    /// Protection or record of data: backups, logs, versions, locks against deletion.
    Protection,
}

impl Concern {
    /// The verb of the effect.
    const fn verb(self) -> &'static str {
        match self {
            Concern::Rights => "change rights",
            Concern::Secret => "show secret",
            Concern::Protection => "unprotect",
        }
    }

    const fn kind(self) -> EffectKind {
        match self {
            Concern::Secret => EffectKind::Query,
            Concern::Rights | Concern::Protection => EffectKind::Mutate,
        }
    }
}

/// Adds the concerns of a client's command. `name` is the command's name in words.
pub(crate) fn concerns(
    system: &str,
    name: &str,
    kind: EffectKind,
    argv: &[Arg],
    sink: &mut Sink<'_, '_, '_, '_>,
) {
    let words = words(name);
    let is_about = |terms| has(&words, terms);
    let changes = !matches!(kind, EffectKind::Query | EffectKind::Elevate);
    let is_renewed = is_about(CHANGES) && !words.contains(" create ");
    if changes && !is_about(NO_RIGHTS) && (is_about(RIGHTS) || is_renewed && sets_password(argv)) {
        add(Concern::Rights, system, name, sink);
    }
    if kind != EffectKind::Destroy && (shows_secret(&words) || is_about(SHOWS_SECRETS)) {
        add(Concern::Secret, system, name, sink);
    }
    if changes && (is_about(DISABLES) || switches_off(argv)) {
        add(Concern::Protection, system, name, sink);
    }
}

/// Does the same as [`concerns`], for programs whose other effects come from a model.
pub(crate) fn concerns_beside_model(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let operands: Vec<&str> =
        read.operands.iter().take(TOLD_WORDS_MAX).map_while(|one| one.arg.as_str()).collect();
    let name = [read.subcommand.as_slice(), operands.as_slice()].concat().join(" ");
    let changes = has(&words(&name), CHANGES);
    let kind = if changes { EffectKind::Mutate } else { EffectKind::Query };
    let called = argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    concerns(called, &name, kind, argv, sink);
}

/// Adds the effects that the arguments of a program without a model name.
pub(crate) fn unmodelled(program: &str, args: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let said = args.iter().filter_map(Arg::as_str);
    // With other arguments `-h` is most often a host.
    let is_help = args.last().and_then(Arg::as_str) == Some("-h");
    if is_help || said.clone().any(|arg| matches!(arg, "--help" | "--version" | "--dry-run")) {
        return;
    }
    let input = match &sink.setup.stdin {
        Stdin::Text(text) => text.as_str().map(str::to_owned),
        Stdin::Inherited | Stdin::File(_) => None,
    };
    for text in said.clone().chain(input.as_deref()).filter(|text| text.contains(char::is_whitespace)) {
        statements(text, sink);
    }
    let has_arguments = said.clone().next().is_some();
    let name: Vec<&str> = said.filter(|arg| is_word(arg)).take(TOLD_WORDS_MAX).collect();
    let name = name.join(" ");
    let words = words(&name);
    let is_for_deleting = has_arguments && PROGRAM_ENDS.iter().any(|end| program.ends_with(end));
    if is_for_deleting || has(&words, DESTROYS) || has(&words, DESTROYS_TOGETHER) {
        sink.add(operation(EffectKind::Destroy, PROGRAM, &name, Some(program)));
    }
    if changes_rights(&words) {
        add(Concern::Rights, PROGRAM, &name, sink);
    }
    if shows_secret(&words) {
        add(Concern::Secret, PROGRAM, &name, sink);
    }
}

/// Adds a change of rights if the name of a server's tool means one: `assign_admin_role`.
pub(crate) fn tool(server: &str, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if changes_rights(&words(name)) {
        add(Concern::Rights, server, name, sink);
    }
}

/// Adds the destroying statements of a text. Other statements add nothing: the program's use of the text is unknown.
pub(crate) fn statements(text: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some((verb, target)) = sql::destroyed(text, sink) {
        sink.add(operation(EffectKind::Destroy, "sql", &verb, target.as_deref()));
    }
}

/// Reports whether the words of a name contain one of the terms.
pub(crate) fn is_about(name: &str, terms: &[&str]) -> bool {
    has(&words(name), terms)
}

fn changes_rights(words: &str) -> bool {
    has(words, CHANGES) && has(words, RIGHTS) && !has(words, NO_RIGHTS)
}

fn shows_secret(words: &str) -> bool {
    has(words, SECRETS) && has(words, SHOWS) && !has(words, NO_SECRET)
}

/// Returns true if words, as [`words`] returns them, contain one of the terms.
pub(crate) fn has(words: &str, terms: &[&str]) -> bool {
    let is_whole = |at: usize, term: &str| {
        let (before, after) = (words.get(..at), words.get(at + term.len()..));
        before.is_some_and(|text| text.ends_with(' ')) && after.is_some_and(|text| text.starts_with(' '))
    };
    terms.iter().any(|term| words.match_indices(term).any(|(at, _)| is_whole(at, term)))
}

fn add(concern: Concern, system: &str, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.add(operation(concern.kind(), system, concern.verb(), Some(name)));
}

fn operation(kind: EffectKind, system: &str, verb: &str, target: Option<&str>) -> Operation {
    Operation {
        kind,
        system: Some(system.to_owned()),
        verb: Some(verb.to_owned()),
        target: target.map(str::to_owned),
        ..Operation::default()
    }
}

/// True if an argument may be a word of a command, not an option, path, number or text. Java programs use `-word`.
fn is_word(arg: &str) -> bool {
    let arg = arg.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-')).unwrap_or(arg);
    arg.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && arg.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':'))
}

/// True if an option of the command sets a password.
fn sets_password(argv: &[Arg]) -> bool {
    let options = argv.iter().filter_map(|arg| arg.as_str()?.strip_prefix("--"));
    options
        .map(|option| words(option.split('=').next().unwrap_or_default()))
        .any(|words| words.contains(" password "))
}

/// True if an option of the command disables a protection: `--no-backup`, `--enable-logging=false`.
fn switches_off(argv: &[Arg]) -> bool {
    let is_off = |value: &str| {
        let last = value.rsplit('=').next().unwrap_or_default().to_ascii_lowercase();
        OFF.contains(&last.as_str())
    };
    argv.iter().enumerate().any(|(at, arg)| {
        let Some(option) = arg.as_str().and_then(|text| text.strip_prefix("--")) else { return false };
        let (name, inline) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let next = argv.get(at + 1).and_then(Arg::as_str);
        let words = words(name);
        if matches!(name, "disable" | "disabled") || (name == "http-tokens" && next == Some("optional")) {
            return true;
        }
        has(&words, PROTECTIONS)
            && (name.starts_with("no-")
                || name.starts_with("disable-")
                || inline.or(next).is_some_and(is_off))
    })
}
