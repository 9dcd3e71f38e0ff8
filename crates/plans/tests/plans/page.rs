//! The page `docs/plans.md` has the example, the kinds of departures and the limits as they are.

use castellan_plans::{DepartureKind, Outcome, ViolationRow, check, covers, render};

use crate::support::{facts, read, view};

const PAGE: &str = include_str!("../../../../docs/plans.md");

/// Returns the first block of a language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_is_a_plan() {
    let plan = read(block("yaml")).unwrap();
    assert_eq!(read(&render(&plan)).as_ref(), Ok(&plan));
    for (text, expected) in [
        ("cargo test --lib", true),
        ("cargo clippy --all-targets && ./gen.sh --out 'a *'", true),
        ("cargo publish", false),
        ("echo x > docs/notes.md", true),
        ("echo x > docs/other.md", false),
    ] {
        let facts = facts(text);
        assert_eq!(check(&plan, &view(&facts)).is_empty(), expected, "{text}");
        assert!(expected || !covers(&plan, &view(&facts)).is_covered(), "{text}");
    }
}

#[test]
fn the_page_has_every_kind() {
    let row = |kind: &&DepartureKind| format!("| `{}` | {} |\n", kind.as_str(), kind.meaning());
    let missing: Vec<String> =
        DepartureKind::ALL.iter().filter(|kind| !PAGE.contains(&row(kind))).map(|kind| row(&kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_row_of_the_page_is_one() {
    let plan = read("arms: [{arm_id: h-main, conditions: [{command: ./blis}]}]").unwrap();
    let departures = check(&plan, &view(&facts("rm -rf build")));
    let row = ViolationRow::of(&departures[0], "rm -rf build", Outcome::Block, 1_767_225_600_123);
    assert_eq!(format!("{}\n", row.line()), block("json"));
}
