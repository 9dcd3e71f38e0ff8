//! Secrets that a command sends although its model has no effect for it. A client may get the secret as its input. A
//! program without a model may get it beside a host or a word for sending.

use castellan_event::{Effect, EffectKind, HostClass, Remote};
use castellan_programs::Arg;
use castellan_programs::lexicons::told::{SENDS, STORES_SECRETS};
use castellan_shell::Run;
use castellan_shell::tree::RedirectKind;

use crate::limits::TOLD_WORDS_MAX;
use crate::secrets::keeps_to_itself;
use crate::sink::Sink;
use crate::told;
use crate::url::{Host, Url};

/// Systems on which a change publishes a text.
const FORGES: &[&str] = &["github", "gitlab"];

/// Options before the name of a host.
const HOST_OPTIONS: &[&str] =
    &["H", "address", "b", "broker", "endpoint", "h", "host", "hostname", "remote", "server", "to", "url"];

/// Adds an upload of each secret that is the input of a client, if the client sends something. Other programs show
/// what they read. `own`: the effects of the command.
pub(super) fn input(run: &Run, own: &[Effect], sink: &mut Sink<'_, '_, '_, '_>) {
    let is_forge = |effect: &Effect| effect.system().is_some_and(|system| FORGES.contains(&system));
    let sends = |effect: &Effect| {
        matches!(effect.kind(), EffectKind::Upload | EffectKind::Publish | EffectKind::Connect)
            || effect.kind() == EffectKind::Mutate && is_forge(effect)
    };
    if !keeps_to_itself(run) || !own.iter().any(sends) || told::is_about(&name(run), STORES_SECRETS) {
        return;
    }
    for redirect in run.redirects.iter().filter(|redirect| redirect.kind == RedirectKind::Read) {
        if sink.is_secret(&redirect.target) {
            sink.sent(Remote::default(), &redirect.target);
        }
    }
}

/// Reports whether the arguments of a program without a model mean that it sends something to another machine.
pub(super) fn is_told(run: &Run) -> bool {
    let name = name(run);
    let is_url = |arg: &Arg| {
        let text = arg.as_str().unwrap_or_default();
        text.contains("://") && is_foreign(Url::parse(text).class)
    };
    let pairs = run.argv.iter().zip(run.argv.iter().skip(1));
    !told::is_about(&name, STORES_SECRETS)
        && (told::is_about(&name, SENDS)
            || run.argv.iter().any(is_url)
            || pairs.clone().any(|(option, value)| is_host(option, value)))
}

/// `--host h.example`, `-b h.example:9092`, `--to user@h.example`
fn is_host(option: &Arg, value: &Arg) -> bool {
    let is_option =
        |option: &str| option.starts_with('-') && HOST_OPTIONS.contains(&option.trim_start_matches('-'));
    let is_away = |value: &str| {
        let host = value.rsplit('@').next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        host.contains('.') && is_foreign(Host::parse(host).class)
    };
    option.as_str().is_some_and(is_option) && value.as_str().is_some_and(is_away)
}

fn is_foreign(class: HostClass) -> bool {
    matches!(class, HostClass::Private | HostClass::Public)
}

/// Returns the words of a command: of its program, its subcommands and its options.
fn name(run: &Run) -> String {
    let words = run.argv.iter().filter_map(Arg::as_str).filter(|word| !word.contains(['/', '.', '=']));
    words.take(TOLD_WORDS_MAX).collect::<Vec<_>>().join(" ")
}
