//! Effects that the words of a command name: `user delete`, `set-password`, `secret get`. For clients of services,
//! which have thousands of commands, and for programs without a model. Source: the naming rules of AWS, gcloud and az;
//! nearly all other clients follow them. This module knows words and no program; a rule decides how much they matter.

use castellan_event::{Effect, EffectKind};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use crate::limits::TOLD_WORDS_MAX;
use crate::sink::Sink;
use crate::sql;
use castellan_programs::base_name;

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

/// Words for permanent deletion, for programs without a model. Words that are also used for caches and rebuilt data
/// (`clean`, `clear`, `prune`, `reset`) are excluded.
const DESTROYS: &[&str] = &[
    " assassinate ",
    " decommission ",
    " del ",
    " delete ",
    " deleteall ",
    " deregister ",
    " destroy ",
    " drop ",
    " erase ",
    " expunge ",
    " forget ",
    " nuke ",
    " obliterate ",
    " purge ",
    " removenode ",
    " rm ",
    " rmr ",
    " teardown ",
    " terminate ",
    " truncate ",
    " unregister ",
    " wipe ",
];

/// Words for permanent deletion only in combination.
const DESTROYS_TOGETHER: &[&str] = &[
    " collection delete ",
    " database reset ",
    " migrate fresh ",
    " migrate refresh ",
    " migrate reset ",
    " db reset ",
    " namenode format ",
    " site empty ",
    " storage format ",
    " clearsnapshot ",
    " setup uninstall ",
    " pool remove ",
    " snapshot restore ",
    " trash empty ",
    " uninstall ",
];

/// Objects that give access rights.
const RIGHTS: &[&str] = &[
    " access add ",
    " access entry ",
    " access key ",
    " account assignment ",
    " account key ",
    " acl ",
    " add permission ",
    " api key ",
    " auth disable ",
    " auth enable ",
    " auth import ",
    " authorization ",
    " collaborator ",
    " credential ",
    " grant ",
    " iam ",
    " generate token ",
    " iamidentitymapping ",
    " invite ",
    " key create ",
    " key pair ",
    " login profile ",
    " member ",
    " mfa ",
    " password ",
    " permission ",
    " policy ",
    " protection ",
    " public key ",
    " regenerate key ",
    " revoke ",
    " role ",
    " role binding ",
    " resource share ",
    " service account ",
    " ssh key ",
    " token ",
    " transfer ",
    " user ",
];

/// Words that exclude a change of rights.
const NO_RIGHTS: &[&str] = &[
    " backup policy ",
    " iam tag ",
    " iam untag ",
    " lifecycle policy ",
    " login ",
    " logout ",
    " report ",
    " retention policy ",
    " scaling policy ",
    " simulate ",
    " snapshot policy ",
    " test ",
    " user data ",
];

/// Words for an actual change of rights, not only a mention; for programs without a model.
const CHANGES: &[&str] = &[
    " add ",
    " assign ",
    " attach ",
    " change ",
    " create ",
    " delete ",
    " disable ",
    " enable ",
    " generate token ",
    " grant ",
    " invite ",
    " issue ",
    " mod ",
    " modify ",
    " patch ",
    " promote ",
    " remove ",
    " reset ",
    " revoke ",
    " rotate ",
    " set ",
    " update ",
    " upsert ",
    " useradd ",
];

/// Objects with a secret value.
const SECRETS: &[&str] = &[
    " access key ",
    " api key ",
    " connection ",
    " connection string ",
    " credential ",
    " lockbox ",
    " password ",
    " private key ",
    " secret ",
    " token ",
    " variable ",
];

/// Words that output the value of such an object.
const SHOWS: &[&str] = &[
    " backup ",
    " cat ",
    " decrypt ",
    " dump ",
    " export ",
    " get ",
    " print ",
    " read ",
    " reveal ",
    " secret access ",
    " show ",
    " version access ",
];

/// Commands whose name alone means that they output secrets.
const SHOWS_SECRETS: &[&str] = &[
    " auth export ",
    " initial password ",
    " kms decrypt ",
    " list publishing ",
    " sm secret ",
    " var get ",
];

/// Words of commands that output no value, or that are the usual login.
const NO_SECRET: &[&str] = &[
    " describe ",
    " get credential ",
    " get variable ",
    " last used ",
    " list ",
    " login ",
    " policy ",
    " status ",
    " variable get ",
    " version list ",
];

/// Protections and records of data in option names.
const PROTECTIONS: &[&str] = &[
    " api termination ",
    " audit ",
    " backup ",
    " backup retention ",
    " deletion protection ",
    " delete retention ",
    " encryption ",
    " logging ",
    " point in time recovery ",
    " point in time recovery specification ",
    " protection ",
    " purge protection ",
    " soft delete ",
    " termination protection ",
    " versioning ",
];

/// Protections and records of data in command names.
const DISABLES: &[&str] = &[
    " alarm action ",
    " backup job ",
    " disable ",
    " disable protection ",
    " stop logging ",
    " transfer lock ",
    " versioning set off ",
];

/// Values that disable something.
const OFF: &[&str] = &["0", "disable", "disabled", "false", "no", "none", "off", "optional", "suspended"];

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
    let input = match &sink.stdin {
        Stdin::Text(text) => text.as_str().map(str::to_owned),
        Stdin::Inherited | Stdin::File(_) => None,
    };
    for text in said.clone().chain(input.as_deref()).filter(|text| text.contains(char::is_whitespace)) {
        statements(text, sink);
    }
    let name: Vec<&str> = said.filter(|arg| is_word(arg)).take(TOLD_WORDS_MAX).collect();
    let name = name.join(" ");
    let words = words(&name);
    if has(&words, DESTROYS) || has(&words, DESTROYS_TOGETHER) {
        sink.add(effect(EffectKind::Destroy, PROGRAM, &name, Some(program)));
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
        sink.add(effect(EffectKind::Destroy, "sql", &verb, target.as_deref()));
    }
}

fn changes_rights(words: &str) -> bool {
    has(words, CHANGES) && has(words, RIGHTS) && !has(words, NO_RIGHTS)
}

fn shows_secret(words: &str) -> bool {
    has(words, SECRETS) && has(words, SHOWS) && !has(words, NO_SECRET)
}

fn has(words: &str, terms: &[&str]) -> bool {
    terms.iter().any(|term| words.contains(term))
}

fn add(concern: Concern, system: &str, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.add(effect(concern.kind(), system, concern.verb(), Some(name)));
}

fn effect(kind: EffectKind, system: &str, verb: &str, target: Option<&str>) -> Effect {
    Effect {
        kind,
        system: Some(system.to_owned()),
        verb: Some(verb.to_owned()),
        target: target.map(str::to_owned),
        ..Effect::default()
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

/// Splits a name into lower-case singular words with blanks around: `CreateAccessKeys` → ` create access key `.
fn words(name: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !letter.is_ascii_alphanumeric() {
            close(&mut words);
        }
        if letter.is_ascii_alphanumeric() {
            words.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    close(&mut words);
    words
}

/// Ends a word and makes it singular.
fn close(words: &mut String) {
    if words.ends_with("policies") {
        words.truncate(words.len() - "ies".len());
        words.push('y');
    }
    let is_plural =
        words.ends_with('s') && !["ss", "us", "is", " as", " os"].iter().any(|end| words.ends_with(end));
    if is_plural {
        words.pop();
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_are_taken_apart() {
        let cases = [
            ("CreateAccessKey", " create access key "),
            ("secrets versions access", " secret version access "),
            ("put-role-policies", " put role policy "),
            ("pg:credentials:url", " pg credential url "),
            ("redis status", " redis status "),
            ("", " "),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
