//! Finds secrets in text by their shape. The shapes are a table of linear-time patterns.
//!
//! A placeholder names the kind of secret (`[redacted github token]`). Text that only resembles a secret stays: a
//! record that hides the command is of no use. This module knows no records.

use std::sync::{LazyLock, OnceLock};

use regex::{Regex, RegexSet};

use crate::address::addresses;
use crate::span::Span;

/// The form of a kind of secret. The secret is the first group that matched, or the whole match if there are no groups.
struct Shape {
    label: &'static str,
    pattern: &'static str,
}

/// More specific shapes come first: the first of two overlapping shapes gives the label.
#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    Shape { label: "private key", pattern: r#"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[\sA-Za-z0-9+/=:,.\\-]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|[\sA-Za-z0-9+/=:,.\\-]{16,})"# },
    Shape { label: "private key", pattern: r"AGE-SECRET-KEY-1[A-Z0-9]{50,}" },
    Shape { label: "aws access key", pattern: r"(?-u:\b)(?:AKIA|ASIA)[A-Z0-9]{16}(?-u:\b)" },
    Shape { label: "github token", pattern: r"(?-u:\b)gh[pousr]_[A-Za-z0-9]{36,}" },
    Shape { label: "github token", pattern: r"(?-u:\b)github_pat_[A-Za-z0-9_]{22,}" },
    Shape { label: "gitlab token", pattern: r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}" },
    Shape { label: "slack token", pattern: r"(?-u:\b)xox[abeprs]-[A-Za-z0-9-]{10,}" },
    Shape { label: "slack webhook", pattern: r"hooks\.slack\.com/services/([A-Za-z0-9/]{20,})" },
    Shape { label: "anthropic key", pattern: r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{16,}" },
    Shape { label: "openai key", pattern: r"(?-u:\b)sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}" },
    Shape { label: "api key", pattern: r"(?-u:\b)sk-(?:or-v1-)?[A-Za-z0-9]{32,}" },
    Shape { label: "google key", pattern: r"(?-u:\b)AIza[A-Za-z0-9_-]{35}" },
    Shape { label: "google token", pattern: r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}" },
    Shape { label: "npm token", pattern: r"(?-u:\b)npm_[A-Za-z0-9]{36}" },
    Shape { label: "pypi token", pattern: r"(?-u:\b)pypi-[A-Za-z0-9_-]{50,}" },
    Shape { label: "stripe key", pattern: r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}" },
    Shape { label: "hugging face token", pattern: r"(?-u:\b)hf_[A-Za-z]{34}" },
    Shape { label: "sendgrid key", pattern: r"(?-u:\b)SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}" },
    Shape { label: "jwt", pattern: r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*" },
    Shape { label: "authorization", pattern: r#"(?i-u:authorization["']?[ \t]*[:=][ \t]*["']?(?:bearer|basic|token|digest|negotiate)[ \t]+)([A-Za-z0-9._~+/=-]+)"# },
    Shape { label: "api key", pattern: r#"(?i-u:(?:x-api-key|x-auth-token|private-token)[ \t]*:[ \t]*)([A-Za-z0-9._~+/=-]+)"# },
    Shape { label: "password", pattern: r#"(?i-u:\bcurl\b)[^\n|;&]*?[ \t](?:-u|--user)[ \t=]?["']?[^\s:"'$]+:([^\s"'$\[][^\s"']*)"# },
    Shape { label: "password", pattern: r#"(?i-u:\b[a-z][a-z0-9+.-]*)://[^\s/:@"'<>]*:([^\s/@"'<>${\[][^\s/@"'<>]*)@"# },
    // `name=value` without spaces, or a quoted value. A variable, a template or a comparison is no value.
    Shape { label: "password", pattern: r#"(?i-u:password|passwd|passphrase|mysql_pwd)(?:[ \t]*=[ \t]*(?:"([^"$\[{][^"]*)|'([^'\[][^']*))|=([^\s"'=$<>{(\[&;|%][^\s"'&;,|)]*))"# },
    Shape { label: "token", pattern: r#"(?i-u:token)(?:[ \t]*=[ \t]*(?:"([^"$\[{][^"]*)|'([^'\[][^']*))|=([^\s"'=$<>{(\[&;|%][^\s"'&;,|)]*))"# },
    Shape { label: "secret", pattern: r#"(?i-u:secret)(?:[ \t]*=[ \t]*(?:"([^"$\[{][^"]*)|'([^'\[][^']*))|=([^\s"'=$<>{(\[&;|%][^\s"'&;,|)]*))"# },
    Shape { label: "key", pattern: r#"(?i-u:(?:api|access|secret|private|account|encryption|signing)[_-]?key)(?:[ \t]*=[ \t]*(?:"([^"$\[{][^"]*)|'([^'\[][^']*))|=([^\s"'=$<>{(\[&;|%][^\s"'&;,|)]*))"# },
    // `"name": "value"`, also with escaped quotes, as in JSON inside of a command.
    Shape { label: "secret", pattern: r#"(?i-u:(?:password|passwd|passphrase|token|secret|(?:api|access|secret|private)[_-]?key)\\?["'][ \t]*:[ \t]*\\?["'])([^\s"'\\$\[{][^"'\\]*)"# },
    // `name: value` alone on a line, as in YAML. The value must contain a digit: the name of a type has none.
    Shape { label: "secret", pattern: r#"(?m)(?i-u:^[ \t-]*[a-z0-9_.-]*(?:password|passwd|passphrase|token|secret|(?:api|access|secret|private)[_-]?key):[ \t]+)["']?([^\s"'$<{\[]*[0-9][^\s"']*)["']?[ \t]*$"# },
    // `--name value`
    Shape { label: "secret", pattern: r#"(?i-u:--(?:[a-z0-9]+-)*(?:password|passwd|passphrase|token|secret-key|access-key|api-?key|client-secret)[ \t]+)(?:"([^"$\[][^"]*)|'([^'\[][^']*)|([^\s"'$<>{(\[&;|-][^\s"'&;|)]*))"# },
];

/// Suffixes of names whose values are secrets, without `_`, `-` and `.`, in lower case.
const NAMES: &[(&str, &str)] = &[
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("mysqlpwd", "password"),
    ("secret", "secret"),
    ("token", "token"),
    ("apikey", "api key"),
    ("accesskey", "access key"),
    ("secretkey", "secret key"),
    ("privatekey", "private key"),
    ("authorization", "authorization"),
    ("credential", "credentials"),
    ("credentials", "credentials"),
];

/// No secret of the table is shorter, but most strings of a record are.
const SHORTEST: usize = "token=x".len();

/// All shapes at once, compiled once. The patterns are constants.
static ALL: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(SHAPES.iter().map(|shape| shape.pattern)).ok());

/// Each shape by itself, compiled on its first match, because most shapes never match.
static EACH: [OnceLock<Option<Regex>>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];

/// Compiles all shapes now, so that no call waits for it. Any thread may call it, also repeatedly.
pub fn prepare() {
    LazyLock::force(&ALL);
}

/// Returns the start of the text, up to `cut`, with the spans replaced, and the end of the consumed text. A secret
/// across the cut is replaced whole, so that end may be after `cut`.
pub(crate) fn replace(text: &str, spans: &[Span], cut: usize) -> (String, usize) {
    let mut out = String::with_capacity(cut);
    let mut position = 0;
    for span in spans.iter().take_while(|span| span.start < cut) {
        out.push_str(text.get(position..span.start).unwrap_or_default());
        out.push_str(&placeholder(span.label));
        position = span.end;
    }
    out.push_str(text.get(position..cut).unwrap_or_default());
    (out, position.max(cut))
}

/// Returns the replacement for a secret.
pub(crate) fn placeholder(label: &str) -> String {
    format!("[redacted {label}]")
}

/// Finds the secrets and addresses of a text, in order and without overlap.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    find(text).unwrap_or_else(|| {
        let label = "text, as the patterns for secrets are broken";
        vec![Span { start: 0, end: text.len(), label }]
    })
}

/// Returns the secrets of a text, or `None` if a pattern is broken.
fn find(text: &str) -> Option<Vec<Span>> {
    let all = ALL.as_ref()?;
    let addresses = addresses(text).into_iter().map(|span| (span, SHAPES.len()));
    let mut found: Vec<(Span, usize)> = addresses.collect();
    if !all.is_match(text) {
        return Some(merge(found));
    }
    for rank in all.matches(text) {
        let (shape, regex) = (SHAPES.get(rank)?, EACH.get(rank)?);
        let regex = regex.get_or_init(|| Regex::new(shape.pattern).ok()).as_ref()?;
        for captures in regex.captures_iter(text) {
            let whole = captures.get(0);
            let secret = captures.iter().skip(1).flatten().next().or(whole);
            let label = shape.label;
            found.extend(secret.map(|m| (Span { start: m.start(), end: m.end(), label }, rank)));
        }
    }
    Some(merge(found))
}

/// Joins overlapping spans under the label of the most specific shape.
fn merge(mut found: Vec<(Span, usize)>) -> Vec<Span> {
    found.sort_by_key(|(span, rank)| (span.start, *rank));
    let mut merged: Vec<(Span, usize)> = Vec::new();
    for (span, rank) in found {
        match merged.last_mut() {
            Some((last, best)) if span.start < last.end => {
                last.end = last.end.max(span.end);
                if rank < *best {
                    (last.label, *best) = (span.label, rank);
                }
            }
            _ => merged.push((span, rank)),
        }
    }
    merged.into_iter().map(|(span, _)| span).collect()
}

/// Returns the kind of secret that a key of this name holds, if it holds one.
pub(crate) fn secret_name(name: &str) -> Option<&'static str> {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '_' | '-' | '.')).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.iter().find(|(suffix, _)| plain.ends_with(suffix)).map(|(_, label)| *label)
}

#[cfg(test)]
mod tests;
