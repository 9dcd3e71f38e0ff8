//! Plans: both formats, and Markdown.

use castellan_event::{Command, Effect, EffectKind, Facts, LocatedFile, Scope};
use castellan_plans::{
    CallView, PLAN_BYTES_MAX, Plan, check, covers, describe, read, render, snippets, widens,
};

/// Reads bytes as a plan and as Markdown. There must be no panic. An error has a place; a plan survives writing and
/// reading, does not widen itself, and covers no call that departs from it.
pub fn plan(bytes: &[u8]) {
    if let Ok(text) = str::from_utf8(bytes) {
        let lines = text.matches('\n').count() + 1;
        assert!(snippets(text).iter().all(|snippet| (1..=lines).contains(&snippet.line)));
    }
    let plan = match read(bytes, &words) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(error.line >= 1 && error.column >= 1 && !error.to_string().is_empty(), "{error:?}");
            return;
        }
    };
    let text = render(&plan);
    if text.len() <= PLAN_BYTES_MAX {
        assert_eq!(read(text.as_bytes(), &words).as_ref(), Ok(&plan), "{text}");
    }
    assert!(!widens(&plan, &plan) && !describe(&plan).is_empty());
    compare(&plan);
}

/// The first word of a text, as the caller's analysis would find it.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().next().map(str::to_owned).into_iter().collect()
}

/// Compares a call with the plan.
fn compare(plan: &Plan) {
    let file = LocatedFile {
        path: Some("/w/src/*/[a].rs".to_owned()),
        scope: Some(Scope::Workspace),
        place: Some(Scope::Workspace),
        ..LocatedFile::default()
    };
    let effect = Effect { command: Some(0), ..Effect::on_file(EffectKind::Write, file) };
    let command = Command {
        name: Some("cargo".to_owned()),
        args: vec!["test".to_owned(), "--lib".to_owned()],
        wrappers_are_neutral: true,
        ..Command::default()
    };
    let facts = Facts { commands: vec![command], effects: vec![effect], ..Facts::default() };
    let view = CallView {
        facts: &facts,
        root: "/w",
        branch: Some("main"),
        calls_so_far: 3,
        started_s: 0,
        now_s: 600,
    };
    assert!(!covers(plan, &view).is_covered() || check(plan, &view).is_empty());
}
