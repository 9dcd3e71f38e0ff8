//! The check that finds forgotten limits.

use castellan_corpus::limits::check;

const SOURCE: &str =
    "/// A const.\npub(crate) const A: u8 = 1;\npub const B: usize = 2;\nconst C: u64 = 3;\n";
const REASON: &str = "nothing is lost when it is reached";

#[test]
fn each_limit_is_driven_or_left_out_for_a_reason() {
    check(SOURCE, ["A", "A", "B"], &[("C", REASON)]);
}

#[test]
#[should_panic(expected = "\"C\"")]
fn a_limit_that_is_forgotten_is_found() {
    check(SOURCE, ["A", "B"], &[]);
}

#[test]
#[should_panic(expected = "\"D\"")]
fn a_limit_that_is_gone_is_found() {
    check(SOURCE, ["A", "B", "C", "D"], &[]);
}

#[test]
#[should_panic(expected = "no reason")]
fn a_reason_is_needed() {
    check(SOURCE, ["A", "B"], &[("C", "")]);
}
