//! `CASTELLAN_REGEX_ONE_LINE`: a `regex` with `.*` that cannot match a text of several lines. RE2 matches the whole
//! text and `.` excludes the newline. So a newline in a command hides the command from the rule.

use regex_syntax::hir::{Class, Dot, Hir, HirKind};

use crate::ast::{Op, Right};
use crate::lint::Linted;
use crate::lint::normal::{field_name, is_basename, words};
use crate::pattern;
use crate::problem::Fault;

/// Last words of fields whose values are always one line: names, ids, words of a fixed set, and compact JSON, which
/// escapes a newline as `\n`. Paths are not included: a directory's name may hold a newline.
const ONE_LINE: [&str; 20] = [
    "args",
    "host",
    "id",
    "input",
    "kind",
    "level",
    "mode",
    "model",
    "name",
    "op",
    "origin",
    "os",
    "remote",
    "role",
    "scope",
    "server",
    "sha256",
    "subcommand",
    "tool",
    "verb",
];

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for literal in rule.normal.literals() {
        let check = literal.check;
        let (Op::Regex, Right::Value(word)) = (check.op, &check.right) else { continue };
        let Some(field) = field_name(&check.left) else { continue };
        if is_one_line(field) || is_basename(&check.left) || !only_one_line(&word.text) {
            continue;
        }
        let message =
            format!("this pattern matches no `{field}` with several lines: `.` does not match a newline");
        let fault = Fault::new("CASTELLAN_REGEX_ONE_LINE", word.place, message);
        faults.push(fault.help("write `(.|\\n)*` instead of `.*`, or use `contains`"));
    }
    faults
}

fn is_one_line(field: &str) -> bool {
    let word = words(field).rfind(|word| *word != "raw");
    word.is_some_and(|word| ONE_LINE.contains(&word))
}

/// Reports whether a pattern has a repeated `.`, and no part that matches a newline.
fn only_one_line(pattern: &str) -> bool {
    pattern::hir(pattern).is_some_and(|hir| repeats_dot(&hir) && !takes_newline(&hir))
}

fn repeats_dot(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            let many = repetition.max.is_none_or(|max| max > 1);
            (many && is_dot(&repetition.sub)) || repeats_dot(&repetition.sub)
        }
        HirKind::Capture(capture) => repeats_dot(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => all.iter().any(repeats_dot),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

fn is_dot(hir: &Hir) -> bool {
    if let HirKind::Capture(capture) = hir.kind() {
        return is_dot(&capture.sub);
    }
    *hir == Hir::dot(Dot::AnyCharExceptLF)
}

fn takes_newline(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| range.start() <= '\n' && '\n' <= range.end())
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| range.start() <= b'\n' && b'\n' <= range.end())
        }
        HirKind::Repetition(repetition) => takes_newline(&repetition.sub),
        HirKind::Capture(capture) => takes_newline(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => all.iter().any(takes_newline),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_one_line, only_one_line};

    #[test]
    fn patterns_of_one_line() {
        for (pattern, expected) in [
            (".*rm.*", true),
            ("(.*)rm", true),
            ("(.)+", true),
            ("a.{2,9}", true),
            ("a.?b", false),
            ("rm [a-z]+", false),
            ("(.|\\n)*rm(.|\\n)*", false),
            (".*rm[^a]*", false),
            (".*[[:space:]]rm", false),
            (".*\\nrm", false),
            ("[a-z]*x", false),
            (".*(", false),
        ] {
            assert_eq!(only_one_line(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn fields_of_one_line() {
        for (field, expected) in [
            ("tool.name_raw", true),
            ("agent.session_id", true),
            ("tool.input", true),
            ("tool.input_command", false),
            ("cmd.line", false),
            ("tool.file_path", false),
            ("fx.path_raw", false),
        ] {
            assert_eq!(is_one_line(field), expected, "{field}");
        }
    }
}
