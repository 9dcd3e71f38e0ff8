//! Each attack without a sandbox, where it must succeed, and at castellan's full level, where it must not.

use std::path::Path;

use castellan_attacks::harness::{Expected, Level, Sandbox, compare};

/// The program that tries an attack.
const ATTACK: &str = env!("CARGO_BIN_EXE_castellan-attack");

#[test]
fn the_expected_verdicts_name_known_attacks_and_reasons() {
    assert_eq!(Expected::read().unwrap().mistakes(), Vec::<String>::new());
}

#[test]
fn each_attack_succeeds_without_a_sandbox() {
    assert_eq!(compare(&Sandbox::None, Path::new(ATTACK)).unwrap(), Vec::<String>::new());
}

#[test]
fn each_attack_is_blocked_with_everything() {
    let sandbox = Sandbox::Castellan(Level::Full);
    assert_eq!(compare(&sandbox, Path::new(ATTACK)).unwrap(), Vec::<String>::new());
}
