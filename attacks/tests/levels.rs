//! Each attack in castellan's sandbox on a machine that lacks Landlock, and on one that lacks namespaces.

use std::path::Path;

use castellan_attacks::harness::{Level, Sandbox, compare};

/// The program that tries an attack.
const ATTACK: &str = env!("CARGO_BIN_EXE_castellan-attack");

#[test]
fn with_landlock_only() {
    let sandbox = Sandbox::Castellan(Level::Landlock);
    assert_eq!(compare(&sandbox, Path::new(ATTACK)).unwrap(), Vec::<String>::new());
}

#[test]
fn with_namespaces_only() {
    let sandbox = Sandbox::Castellan(Level::Namespaces);
    assert_eq!(compare(&sandbox, Path::new(ATTACK)).unwrap(), Vec::<String>::new());
}
