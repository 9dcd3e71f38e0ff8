//! Prints the tree and the holes of the shell text on standard input: `cargo run --example tree < script`.

#[path = "../tests/parse/dump.rs"]
mod dump;

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let parsed = castellan_shell::parse(&text);
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
