//! Finds e-mail addresses. The log omits them, unless a person has asked for them. It must not know records.

use std::cell::Cell;
use std::sync::LazyLock;

use regex::Regex;

use crate::span::Span;

/// The placeholder's word.
const LABEL: &str = "e-mail address";

/// An address, without the characters that also separate words of a command.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,24}").ok()
});

/// Last labels of names that look like an address: units of systemd (`user@1000.service`), and files (`icon@2x.png`).
const NO_DOMAINS: &[&str] = &[
    "service", "socket", "timer", "target", "slice", "scope", "mount", "path", "device", "png", "jpg",
    "jpeg", "gif", "svg", "webp", "css", "js", "mjs", "ts", "json", "md", "txt", "tgz", "gz", "zip", "lock",
    "local",
];

/// Programs whose user and host look like an address. The host is evidence.
const REMOTE: &[&str] = &["ssh", "sftp", "scp", "mosh", "rsync", "autossh", "ssh-copy-id", "ssh-keyscan"];

thread_local! {
    /// True while records are written whose addresses stay.
    static KEPT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `write`. Records that it writes keep their addresses if `kept`.
pub(crate) fn with_addresses<T>(kept: bool, write: impl FnOnce() -> T) -> T {
    let before = KEPT.replace(kept);
    let written = write();
    KEPT.set(before);
    written
}

/// Returns the addresses of a text, in order; none if they stay.
pub(crate) fn addresses(text: &str) -> Vec<Span> {
    if !text.contains('@') || KEPT.get() {
        return Vec::new();
    }
    let Some(pattern) = ADDRESS.as_ref() else {
        return vec![Span {
            start: 0,
            end: text.len(),
            label: "text, as the pattern for addresses is broken",
        }];
    };
    let found = pattern.find_iter(text).filter(|found| is_address(text, found.start(), found.end()));
    found.map(|found| Span { start: found.start(), end: found.end(), label: LABEL }).collect()
}

/// Reports whether a match is an address, and not the user and host of a URL, of a remote repository
/// (`git@example.org:a/b`), or the name of a file or unit.
fn is_address(text: &str, start: usize, end: usize) -> bool {
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
    let is_of_url = before.ends_with("://") || before.ends_with('/');
    let mut next = after.chars();
    let is_remote = next.next() == Some(':') && next.next().is_some_and(|c| !c.is_whitespace());
    let last = text.get(start..end).and_then(|whole| whole.rsplit('.').next()).unwrap_or_default();
    let is_name = NO_DOMAINS.iter().any(|name| name.eq_ignore_ascii_case(last));
    let command = before.rsplit([';', '|', '&', '\n', '(', '`']).next().unwrap_or_default();
    let program = command.split_whitespace().find(|word| !word.contains('=') && *word != "sudo");
    let program = program.and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    !is_of_url && !is_remote && !is_name && !REMOTE.contains(&program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        addresses(text).iter().filter_map(|span| text.get(span.start..span.end)).collect()
    }

    #[test]
    fn addresses_are_found_and_names_that_look_like_one_are_not() {
        for (text, expected) in [
            ("write to some.body+x@mail.example.org, please", vec!["some.body+x@mail.example.org"]),
            ("git commit --author='A B <a@example.org>'", vec!["a@example.org"]),
            ("mailto:a@example.org?x", vec!["a@example.org"]),
            (r#"{"user_email":"a@example.org"}"#, vec!["a@example.org"]),
            ("a@example.org: hello", vec!["a@example.org"]),
            ("a@b.org c@d.org", vec!["a@b.org", "c@d.org"]),
            ("git clone git@example.org:a/b.git", vec![]),
            ("cd x && A=1 sudo ssh -p 22 me@example.org uptime", vec![]),
            ("ssh x; mail me@example.org", vec!["me@example.org"]),
            ("ssh://git@example.org/a", vec![]),
            ("npm i left-pad@1.3.0 @scope/x@latest", vec![]),
            ("systemctl status user@1000.service", vec![]),
            ("cp icon@2x.png x", vec![]),
            ("no address", vec![]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(with_addresses(true, || found("a@example.org")), Vec::<&str>::new());
        assert_eq!(found("a@example.org"), ["a@example.org"]);
    }
}
