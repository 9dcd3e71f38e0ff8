//! Prints the tree and the holes of the shell text on standard input: `cargo run --example tree [SHELL] < script`, with
//! `bash`, `zsh`, `posix` or `ksh` for the parser `syntax`.

#[path = "../tests/syntax/dump.rs"]
mod dump;

use std::io::Read;

use castellan_shell::syntax::{self, Shell};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let parsed = match std::env::args().nth(1).as_deref() {
        Some("bash") => syntax::parse(&text, Shell::Bash, usize::MAX).0,
        Some("zsh") => syntax::parse(&text, Shell::Zsh, usize::MAX).0,
        Some("posix") => syntax::parse(&text, Shell::Posix, usize::MAX).0,
        Some("ksh") => syntax::parse(&text, Shell::Ksh, usize::MAX).0,
        _ => syntax::parse(&text, Shell::Bash, usize::MAX).0,
    };
    println!("{}", dump::script(&parsed.script));
    for hole in &parsed.holes {
        let span = (hole.span.start, hole.span.end);
        println!(
            "{} {span:?} {:?}",
            hole.why,
            text.get(span.0 as usize..span.1 as usize).unwrap_or_default()
        );
    }
    Ok(())
}
