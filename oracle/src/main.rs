//! `castellan-oracle`: what commands really do, against the effects that castellan predicts. `cargo xtask oracle effects` builds and
//! runs it. Every command of `commands.txt` is predicted and then run under strace, each in namespaces and a directory of its own.
//! `castellan-oracle one TEXT` shows a single command. It must not know how facts are found.

mod commands;
mod compare;
mod enclosure;
mod inside;
mod observed;
mod pattern;
mod predicted;
mod private;
mod server;
mod strace;
mod table;

use std::process::ExitCode;

use anyhow::bail;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["effects"] => table::print(),
        ["one", text] => table::print_one(text),
        [enclosure::INSIDE, enclosure::FIXTURE] => inside::make_fixture(),
        [enclosure::INSIDE, text] => inside::run(text),
        _ => bail_usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-oracle: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bail_usage() -> anyhow::Result<()> {
    bail!("castellan-oracle takes `effects`, or `one TEXT`")
}
