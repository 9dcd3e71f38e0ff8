//! `castellan-witness`: a second parser (brush-parser) reads shell text and names the simple commands in it. Each input
//! line is a JSON string. Each output line is a list of names as written, or the reason of a rejected text.
//!
//! It runs in its own process, because this parser can overflow its stack or panic on a text; the caller restarts it.
//! Must not depend on castellan's results.

mod names;
mod words;

use std::io::{BufRead, Write};

use brush_parser::{Parser, ParserOptions};
use serde_json::{Value, json};

/// Enough for the nesting of real scripts. Deeper nesting ends the process.
const STACK_BYTES: usize = 256 << 20;

fn main() -> std::io::Result<()> {
    let answering = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(answer)?;
    answering.join().unwrap_or_else(|_| Err(std::io::Error::other("the parser panicked")))
}

fn answer() -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        writeln!(output, "{}", read(&text))?;
        output.flush()?;
    }
    Ok(())
}

/// Returns `{"names": [...], "unread": N}`, where N is the number of unreadable words, or `{"refused": WHY}`.
fn read(text: &str) -> Value {
    let options = ParserOptions::default();
    match Parser::new(text.as_bytes(), &options).parse_program() {
        Ok(program) => {
            let mut names = names::Names::new(options);
            program.complete_commands.iter().for_each(|list| names.list(list));
            json!({"names": names.names, "unread": names.unread})
        }
        Err(error) => json!({"refused": error.to_string()}),
    }
}
