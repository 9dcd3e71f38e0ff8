//! Prints what the shell text on standard input would run: `cargo run --example found [SHELL] < script`, with `bash`, `zsh`,
//! `posix` or `ksh`.

#[path = "../tests/found/dump.rs"]
mod dump;

use std::io::Read;

use castellan_shell::{Shell, Start};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let shell = match std::env::args().nth(1).as_deref() {
        Some("zsh") => Shell::Zsh,
        Some("posix") => Shell::Posix,
        Some("ksh") => Shell::Ksh,
        _ => Shell::Bash,
    };
    let start = Start { shells: vec![shell], ..dump::start() };
    dump::dump(&dump::commands(&text, &start)).iter().for_each(|line| println!("{line}"));
    Ok(())
}
