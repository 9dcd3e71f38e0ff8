//! Plans in Markdown: `data/proposal.md` with its snippets and its scope in `data/proposal.txt`; rows of the log.

use std::fmt::Write as _;

use castellan_corpus::WORKSPACE;
use castellan_event::Facts;
use castellan_plans::{
    Analysed, Departure, DepartureKind, Outcome, Snippet, SnippetKind, ViolationRow, covers, describe,
    render, scope_of, snippets,
};

use crate::support::{check_file, facts, read, shown, view};

#[test]
fn a_plan_in_markdown_has_its_scope() {
    let snippets = snippets(include_str!("data/proposal.md"));
    let analyse = |snippet: &Snippet| match snippet.kind {
        SnippetKind::Block | SnippetKind::Inline => Some(facts(&snippet.text)),
        SnippetKind::Path | SnippetKind::Word | SnippetKind::Unread => None,
    };
    let facts: Vec<Option<Facts>> = snippets.iter().map(analyse).collect();
    let both = snippets.iter().zip(&facts);
    let analysed: Vec<Analysed<'_>> =
        both.map(|(snippet, facts)| Analysed { snippet, facts: facts.as_ref() }).collect();
    let proposal = scope_of(&analysed, WORKSPACE, Some("work"));

    let mut text = "Snippets of proposal.md:\n".to_owned();
    for Snippet { kind, text: snippet, line } in &snippets {
        writeln!(text, "{line} {kind:?} {snippet:?}").unwrap();
    }
    text.push_str("\nScope:\n");
    for (title, lines) in describe(&proposal.plan) {
        writeln!(text, "{title}\n  {}", lines.join("\n  ")).unwrap();
    }
    text.push_str("\nNot covered:\n");
    for one in &proposal.not_covered {
        writeln!(text, "{:?}\n{}", one.snippet.text, shown(&one.outside)).unwrap();
    }
    check_file("proposal.txt", include_str!("data/proposal.txt"), &text);

    assert_eq!(read(&render(&proposal.plan)).as_ref(), Ok(&proposal.plan));
    for Analysed { snippet, facts } in &analysed {
        let is_listed = proposal.not_covered.iter().any(|one| one.snippet == **snippet);
        let is_covered = facts.map(|facts| covers(&proposal.plan, &view(facts)).is_covered());
        assert!(is_listed || is_covered != Some(false), "{snippet:?}");
    }
}

#[test]
fn what_was_not_analysed_is_listed() {
    let check = |kind: SnippetKind, text: &str, is_listed: bool| {
        let snippet = Snippet { kind, text: text.to_owned(), line: 1 };
        let proposal = scope_of(&[Analysed { snippet: &snippet, facts: None }], "/w", None);
        assert_eq!(!proposal.not_covered.is_empty(), is_listed, "{snippet:?}");
    };
    check(SnippetKind::Block, "rm x", true);
    check(SnippetKind::Inline, "rm x", true);
    check(SnippetKind::Unread, "", true);
    check(SnippetKind::Word, "main", false);
    check(SnippetKind::Path, "src/a.rs", false);
    check(SnippetKind::Path, "/w/src", false);
    check(SnippetKind::Path, "/etc/passwd", true);
    check(SnippetKind::Path, "../x", true);
    check(SnippetKind::Path, "./", true);
    check(SnippetKind::Path, "~/x", true);
}

#[test]
fn rows_are_those_of_nous() {
    let departure = |kind, nearest: Option<&str>| Departure {
        kind,
        subject: "rm".to_owned(),
        nearest: nearest.map(str::to_owned),
    };
    let check = |row: ViolationRow, expected: &str| assert_eq!(row.line(), expected);
    check(
        ViolationRow::of(
            &departure(DepartureKind::Command, Some("h-main")),
            "rm \"x\"\n",
            Outcome::Warn,
            1_767_225_600_123,
        ),
        r#"{"timestamp":"2026-01-01T00:00:00.123000+00:00","kind":"unplanned","command":"rm \"x\"\n","arm":"h-main","decision":"warn"}"#,
    );
    check(
        ViolationRow::of(&departure(DepartureKind::Arguments, None), "rm", Outcome::Block, 0),
        r#"{"timestamp":"1970-01-01T00:00:00.000000+00:00","kind":"unplanned","command":"rm","arm":"","decision":"block"}"#,
    );
    check(
        ViolationRow::of(&departure(DepartureKind::Write, None), "rm", Outcome::Ask, -1),
        r#"{"timestamp":"1969-12-31T23:59:59.999000+00:00","kind":"write","command":"rm","arm":"","decision":"ask"}"#,
    );
    check(
        ViolationRow::ad_hoc(
            &[departure(DepartureKind::Write, None), departure(DepartureKind::Command, Some("a"))],
            "ls",
            Outcome::Allow,
            i64::MAX,
        ),
        r#"{"timestamp":"1970-01-01T00:00:00.000000+00:00","kind":"ad-hoc","command":"ls","arm":"a","decision":"allow"}"#,
    );
}
