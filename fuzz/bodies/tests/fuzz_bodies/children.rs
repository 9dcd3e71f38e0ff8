//! Runs `castellan-fuzz-children` for a few seconds: no text of grammar tokens may end its process.

use std::process::Command;

#[test]
fn no_nesting_of_tokens_ends_the_process() {
    let run = Command::new(env!("CARGO_BIN_EXE_castellan-fuzz-children"))
        .args(["--seconds", "5", "--bytes", "4096"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}
